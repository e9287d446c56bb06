import { type ReactNode, useEffect, useRef, useState } from 'react';
import { withFound } from '../../client/samples.ts';
import { troubleOf } from '../../client/service.ts';
import type { NewInput } from '../../core/commands/elements/inputs.ts';
import type { Format, Location } from '../../core/document.ts';
import { recordsOf } from '../../core/elements/records.ts';
import { Button } from '../parts/button.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { Choice, Field } from '../parts/field.tsx';
import { matchingOf, type Option } from '../parts/fields/options.ts';
import { useEditor } from '../store/context.tsx';
import { contextOf } from '../store/samples.ts';
import { useVisit } from '../store/visit.ts';
import { FORMATS, freeName, nameOfAddress, nameOfQuery, readAs } from './formats.ts';
import type { UploadList } from './uploads.tsx';
import { WORDS } from './words.ts';

const { dialog } = WORDS;
type Way = keyof typeof dialog.ways;

/** Adds a file by upload or address, or a table or query of the SQL transformer. */
export function AddInput({ uploads, onClose }: { readonly uploads: UploadList; readonly onClose: () => void }): ReactNode {
  const editor = useEditor();
  const { user } = useVisit();
  const hasSql = user.services.includes('sql-transformer');
  const [way, setWay] = useState<Way>('upload');
  const [where, setWhere] = useState('');
  const [format, setFormat] = useState<Format | 'found'>('found');
  const [error, setError] = useState<string | undefined>(undefined);
  const [isLooking, setLooking] = useState(false);
  const gone = useRef(new AbortController());
  useEffect(() => () => gone.current.abort(), []);
  const chooser = useRef<HTMLInputElement>(null);
  const tables = useTables(way === 'table');
  const ways = (Object.keys(dialog.ways) as Way[]).filter((one) => hasSql || (one !== 'table' && one !== 'query'));
  /** The input that the fields describe, or what is missing. */
  const described = (from: Exclude<Way, 'upload'>, text: string): NewInput | string => {
    if (text === '') return dialog.missing;
    const found = from === 'url' ? readAs(text) : undefined;
    const chosen = from !== 'url' ? 'sql' : format === 'found' ? found?.format : format;
    if (chosen === undefined) return dialog.unknownFormat;
    const taken = new Set(recordsOf(editor.get().session.document, 'input').map(({ name }) => name));
    const name = freeName(from === 'url' ? nameOfAddress(text) : from === 'table' ? text : nameOfQuery(text), taken);
    const dialect = found?.delimiter === undefined || chosen !== 'csv' ? {} : { dialect: { delimiter: found.delimiter } };
    return { name, location: locationOf(from, text), format: chosen, ...dialect };
  };
  const add = async (): Promise<void> => {
    if (way === 'upload') return chooser.current?.click();
    const input = described(way, where.trim());
    if (typeof input === 'string') return setError(input);
    const { signal } = gone.current;
    setLooking(true);
    try {
      const wrong = editor.dispatch('add-input', await withFound(input, contextOf(editor.get()), signal))?.sentence;
      if (wrong === undefined) onClose();
      else setError(wrong);
    } catch (reason) {
      // The dialog was closed meanwhile.
      if (!signal.aborted) throw reason;
    } finally {
      setLooking(false);
    }
  };
  return (
    <Dialog
      title={dialog.title}
      onClose={onClose}
      onSubmit={() => void (isLooking || add())}
      footer={
        <>
          <Button onClick={onClose}>{dialog.cancel}</Button>
          <Button kind="primary" submits disabled={isLooking && dialog.looking}>
            {way === 'upload' ? dialog.file : dialog.add}
          </Button>
        </>
      }
    >
      <Choice label={dialog.from} value={way} options={ways.map((one) => [one, dialog.ways[one]] as const)} onChoose={setWay} />
      {way === 'upload' ? (
        <input
          ref={chooser}
          type="file"
          multiple
          hidden
          aria-label={dialog.file}
          onChange={(event) => {
            uploads.add([...(event.target.files ?? [])]);
            onClose();
          }}
        />
      ) : (
        <Field
          label={way === 'url' ? dialog.url : dialog[way]}
          hint={way === 'url' ? dialog.urlHint : way === 'query' ? dialog.queryHint : hintOf(tables)}
          error={error}
          value={where}
          options={way === 'table' && tables !== undefined ? matchingOf(tables.options, where) : undefined}
          onChange={(event) => setWhere(event.target.value)}
        />
      )}
      {way === 'url' && (
        <Choice label={dialog.format} value={format} options={[['found', dialog.choose] as const, ...FORMATS]} onChoose={setFormat} />
      )}
    </Dialog>
  );
}

interface Tables {
  readonly options: readonly Option[];
  readonly hint: string;
}

/** The tables of the database, asked for when they are wanted. undefined: not answered yet. */
function useTables(isWanted: boolean): Tables | undefined {
  const { service } = useVisit();
  const [found, setFound] = useState<Tables | undefined>(undefined);
  useEffect(() => {
    if (!isWanted) return undefined;
    const controller = new AbortController();
    service.studio.tables({ signal: controller.signal }).then(
      ({ database, tables }) =>
        setFound({
          options: tables.map(({ name, columns }) => ({ value: name, detail: dialog.columns(columns.map((column) => column.name)) })),
          hint: dialog.tableHint(database, tables.length),
        }),
      (error) => {
        const trouble = troubleOf(error);
        if (trouble !== undefined) setFound({ options: [], hint: dialog.noTables(trouble.sentence) });
      },
    );
    return () => controller.abort();
  }, [isWanted, service]);
  return found;
}

const hintOf = (tables: Tables | undefined): string => tables?.hint ?? dialog.readingTables;

function locationOf(way: Exclude<Way, 'upload'>, text: string): Location {
  if (way === 'table') return { kind: 'table', table: text };
  if (way === 'query') return { kind: 'query', query: text };
  return /^[a-z][a-z\d+.-]*:/i.test(text) ? { kind: 'url', url: text } : { kind: 'file', path: text };
}
