/** Files on their way to the service; each becomes an input when it is there. */
import { type ReactNode, useCallback, useRef, useState } from 'react';
import { withFound } from '../../client/samples.ts';
import { saidOf, troubleOf } from '../../client/service.ts';
import { upload } from '../../client/upload.ts';
import { recordsOf } from '../../core/elements/records.ts';
import { Button } from '../parts/button.tsx';
import { bytesText } from '../parts/times.ts';
import { announce } from '../store/announcements.ts';
import { useEditor } from '../store/context.tsx';
import { contextOf } from '../store/samples.ts';
import { useVisit } from '../store/visit.ts';
import { freeName, readAs } from './formats.ts';
import { WORDS } from './words.ts';

interface Upload {
  readonly id: number;
  readonly name: string;
  readonly size: number;
  readonly sent: number;
  /** undefined: it is still sent. */
  readonly fault?: string | undefined;
  /** Where another file has its name: the next one. */
  readonly other?: { readonly name: string; readonly send: () => void };
}

export interface UploadList {
  readonly all: readonly Upload[];
  readonly add: (files: readonly File[]) => void;
  /** Stops it, or closes its fault. */
  readonly end: (id: number) => void;
}

export function useUploads(): UploadList {
  const editor = useEditor();
  const { user } = useVisit();
  const [all, setAll] = useState<readonly Upload[]>([]);
  const running = useRef(new Map<number, AbortController>());
  const number = useRef(0);
  const change = useCallback(
    (id: number, changes: Partial<Upload>) => setAll((list) => list.map((one) => (one.id === id ? { ...one, ...changes } : one))),
    [],
  );
  const drop = useCallback((id: number) => setAll((list) => list.filter((one) => one.id !== id)), []);
  /** @param copies how many files of this name the service has, as far as it has said so */
  const send = async (file: File, copies = 0): Promise<void> => {
    const id = ++number.current;
    const controller = new AbortController();
    running.current.set(id, controller);
    setAll((list) => [...list, { id, name: file.name, size: file.size, sent: 0 }]);
    const kind = readAs(file.name);
    const limit = user.limits.maxUploadBytes;
    if (kind === undefined) return change(id, { fault: WORDS.unreadable(file.name) });
    if (file.size > limit) return change(id, { fault: WORDS.tooLarge(file.name, bytesText(limit)) });
    try {
      const { url } = await upload(file, nameOfCopy(file.name, copies), (sent) => change(id, { sent }), controller.signal);
      const { format, delimiter } = kind;
      const location = { kind: 'upload' as const, url };
      const input = { location, format, ...(delimiter !== undefined && { dialect: { delimiter } }) };
      const found = await withFound(input, contextOf(editor.get()), controller.signal);
      const taken = new Set(recordsOf(editor.get().session.document, 'input').map(({ name }) => name));
      editor.dispatch('add-input', { name: freeName(file.name, taken), ...found });
      announce(WORDS.uploaded(file.name));
      drop(id);
    } catch (error) {
      const trouble = troubleOf(error);
      if (trouble === undefined) drop(id);
      else if (trouble.kind !== 'conflict') change(id, { fault: saidOf(trouble) });
      else {
        const again = (): void => {
          drop(id);
          void send(file, copies + 1);
        };
        change(id, {
          fault: WORDS.conflict(nameOfCopy(file.name, copies)),
          other: { name: nameOfCopy(file.name, copies + 1), send: again },
        });
      }
    } finally {
      running.current.delete(id);
    }
  };
  return {
    all,
    add: (files) => {
      for (const file of files) void send(file);
    },
    end: (id) => {
      running.current.get(id)?.abort();
      drop(id);
    },
  };
}

/** `orders.json` → `orders-2.json` where the service has one file of that name. */
const nameOfCopy = (name: string, copies: number): string =>
  copies === 0 ? name : name.replace(/^(.+?)((?:\.[^.]+)*)$/, (_, stem: string, endings: string) => `${stem}-${copies + 1}${endings}`);

export function Uploads({ uploads: { all, end } }: { readonly uploads: UploadList }): ReactNode {
  if (all.length === 0) return null;
  return (
    <ul className="uploads">
      {all.map(({ id, name, size, sent, fault, other }) => (
        <li key={id}>
          <span className="name grow">{name}</span>
          {fault === undefined ? (
            <>
              <progress max={size} value={sent} aria-label={WORDS.uploading(name)} />
              <span className="small muted">{WORDS.percent(bytesText(sent), bytesText(size))}</span>
            </>
          ) : (
            <span className="trouble" role="alert">
              {fault}
            </span>
          )}
          {other !== undefined && <Button onClick={other.send}>{WORDS.uploadAs(other.name)}</Button>}
          <Button kind="quiet" icon="close" label={fault === undefined ? WORDS.stop : WORDS.dismiss} onClick={() => end(id)} />
        </li>
      ))}
    </ul>
  );
}
