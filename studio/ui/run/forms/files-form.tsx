/** A model of files: where each input is, whether it can be read, and Start. */
import { type ReactNode, useEffect, useMemo, useState } from 'react';
import { saidOf, type Trouble, troubleOf } from '../../../client/service.ts';
import { Button } from '../../parts/button.tsx';
import { Field } from '../../parts/field.tsx';
import { bytesText } from '../../parts/times.ts';
import { useDocument, useEditorState } from '../../store/context.tsx';
import { hasChanges } from '../../store/editor.ts';
import { useVisit } from '../../store/visit.ts';
import { type Shown, whyNotRunnable } from '../shown.ts';
import { TroubleNote } from '../trouble-note.tsx';
import { WORDS } from '../words.ts';
import { processRequest, type RunInput, runInputs } from './bindings.ts';
import { useDatasetChoice } from './dataset.tsx';

type Check =
  | { readonly kind: 'reading' }
  | { readonly kind: 'read'; readonly format: string; readonly ofBytes: number | undefined }
  | { readonly kind: 'failed'; readonly sentence: string };

type BySource<T> = Readonly<Record<string, T>>;

export function FilesForm({ show }: { readonly show: (shown: Shown) => void }): ReactNode {
  const { service } = useVisit();
  const document = useDocument();
  const { name, service: transformer, etag } = useEditorState(({ origin }) => origin);
  const reason = useEditorState(whyNotRunnable);
  const isChanged = useEditorState(hasChanges);
  const [mapping, setMapping] = useState<string | undefined>(undefined);
  const [locations, setLocations] = useState<BySource<string>>({});
  const [checks, setChecks] = useState<BySource<Check>>({});
  const [trouble, setTrouble] = useState<Trouble | undefined>(undefined);
  const [isStarting, setStarting] = useState(false);
  const dataset = useDatasetChoice();
  useEffect(() => {
    if (etag === undefined) return;
    const controller = new AbortController();
    service.studio.getMapping(name, { service: transformer, signal: controller.signal }).then(
      ({ location }) => setMapping(location),
      (error: unknown) => setTrouble(troubleOf(error)),
    );
    return () => controller.abort();
  }, [service, name, transformer, etag]);
  const inputs = useMemo(() => runInputs(document, mapping ?? ''), [document, mapping]);
  const locationOf = ({ source, location }: RunInput): string => locations[source] ?? location;
  const isMissing = inputs.some((input) => locationOf(input).trim() === '');

  const check = async (input: RunInput): Promise<void> => {
    const location = locationOf(input).trim();
    const put = (next: Check): void => setChecks((all) => ({ ...all, [input.source]: next }));
    put({ kind: 'reading' });
    try {
      const { format, ofBytes } = await service.studio.sample({ location });
      put({ kind: 'read', format, ofBytes });
    } catch (error) {
      const found = troubleOf(error);
      if (found !== undefined) put({ kind: 'failed', sentence: saidOf(found) });
    }
  };
  const start = async (at: string): Promise<void> => {
    setStarting(true);
    setTrouble(undefined);
    try {
      const view = await service.semiStructuredTransformer.start(processRequest(inputs, locations, at, dataset.name));
      show({ view, ofBytes: sizeOf(inputs.map(({ source }) => checks[source])) });
    } catch (error) {
      setTrouble(troubleOf(error));
      setStarting(false);
    }
  };
  const why =
    reason ??
    (inputs.length === 0
      ? WORDS.noInputs
      : isMissing
        ? WORDS.missing
        : mapping === undefined
          ? WORDS.loading
          : isStarting
            ? WORDS.starting
            : dataset.why);
  return (
    <div className="run-form">
      {inputs.map((input) => (
        <Field
          key={input.source}
          label={WORDS.location(input.name)}
          value={locationOf(input)}
          // Where the mapping is says what stands here.
          readOnly={etag !== undefined && mapping === undefined && trouble === undefined}
          hint={hintOf(checks[input.source])}
          error={locationOf(input).trim() === '' ? WORDS.missing : errorOf(checks[input.source])}
          onChange={({ target }) => {
            setLocations({ ...locations, [input.source]: target.value });
            // What was checked is another file.
            setChecks(({ [input.source]: _, ...rest }) => rest);
          }}
        />
      ))}
      {dataset.field}
      {why !== undefined && why !== WORDS.loading && why !== dataset.why && <p className="muted">{why}</p>}
      {reason === undefined && isChanged && <p className="muted">{WORDS.unsaved}</p>}
      {trouble !== undefined && <TroubleNote trouble={trouble} />}
      <div className="run-buttons">
        <Button disabled={why} onClick={() => void Promise.all(inputs.map(check))}>
          {WORDS.check}
        </Button>
        <Button kind="primary" icon="run" disabled={why} onClick={() => mapping !== undefined && void start(mapping)}>
          {WORDS.start}
        </Button>
      </div>
    </div>
  );
}

const hintOf = (check: Check | undefined): string | undefined => {
  if (check?.kind === 'reading') return WORDS.checking;
  return check?.kind === 'read'
    ? WORDS.checked(check.format, check.ofBytes === undefined ? undefined : bytesText(check.ofBytes))
    : undefined;
};

const errorOf = (check: Check | undefined): string | undefined => (check?.kind === 'failed' ? check.sentence : undefined);

/** undefined: the size of one of them is not known. */
function sizeOf(checks: readonly (Check | undefined)[]): number | undefined {
  let sum = 0;
  for (const check of checks) {
    if (check?.kind !== 'read' || check.ofBytes === undefined) return undefined;
    sum += check.ofBytes;
  }
  return sum;
}
