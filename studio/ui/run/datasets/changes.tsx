/** What a version has changed: statements by subject, in pages. */
import { type ReactNode, useEffect, useMemo, useState } from 'react';
import type { DatasetManifest } from '../../../../client/types.ts';
import { type Trouble, troubleOf } from '../../../client/service.ts';
import { Button } from '../../parts/button.tsx';
import { Empty } from '../../parts/empty.tsx';
import { Choice, Field } from '../../parts/field.tsx';
import { type Prefixes, prefixesOf, RDF_TYPE } from '../../parts/statements/terms.ts';
import { prefixesOf as namesOf } from '../../store/iris.ts';
import { useVisit } from '../../store/visit.ts';
import { TroubleNote } from '../trouble-note.tsx';
import { Answered } from './answered.tsx';
import { useAnswer } from './asking.ts';
import { ChangeDetail } from './detail.tsx';
import { bySubject, type ChangedStatement, subjectPart, type Which } from './group.ts';
import { modelOf, NO_MODEL, type VersionModel } from './model.ts';
import { WORDS } from './words.ts';

const WHICH: readonly Which[] = ['added', 'removed'];
/** Of a page. */
const STATEMENTS = 100;
/** A person who types is not interrupted. */
const PAUSE_MS = 250;

interface ChangesProps {
  readonly name: string;
  readonly version: number;
}

export function Changes({ name, version }: ChangesProps): ReactNode {
  const { user } = useVisit();
  const asked = useAnswer(`${name} ${version}`, async (service, signal) => {
    const manifest = await service.datasets.version(name, version, { signal });
    return { manifest, model: await modelOf(manifest, user.services, service, signal) };
  });
  if (user.role === 'viewer') return <Empty title={WORDS.needsOperator} />;
  return <Answered asked={asked}>{(answer) => <VersionChanges name={name} {...answer} />}</Answered>;
}

interface VersionChangesProps {
  readonly name: string;
  readonly manifest: DatasetManifest;
  readonly model: VersionModel | undefined;
}

function VersionChanges({ name, manifest, model }: VersionChangesProps): ReactNode {
  const [which, setWhich] = useState<Which>(manifest.added === 0 && manifest.removed > 0 ? 'removed' : 'added');
  const [target, setTarget] = useState('');
  const [typed, setTyped] = useState('');
  const [chosen, setChosen] = useState<string | undefined>(undefined);
  const { targets = {} } = manifest;
  const counts = targets[target] ?? manifest;
  const document = model?.document ?? NO_MODEL;
  const prefixes = useMemo(() => prefixesOf(document), [document]);
  const subject = usePaused(
    useMemo(() => subjectPart(typed, namesOf(document)), [typed, document]),
    PAUSE_MS,
  );
  return (
    <section aria-label={WORDS.versionOf(name, manifest.version)}>
      <div className="datasets-bar">
        <fieldset className="modes">
          <legend className="hidden">{WORDS.which}</legend>
          {WHICH.map((one) => (
            <Button
              key={one}
              kind="quiet"
              aria-pressed={which === one}
              onClick={() => {
                setWhich(one);
                setChosen(undefined);
              }}
            >
              {WORDS[one](counts[one])}
            </Button>
          ))}
        </fieldset>
        {Object.keys(targets).length > 0 && (
          <Choice
            label={WORDS.target}
            value={target}
            options={[['', WORDS.mainTarget], ...Object.keys(targets).map((path) => [path, path] as const)]}
            onChoose={(path) => {
              setTarget(path);
              setChosen(undefined);
            }}
          />
        )}
        <Field type="search" label={WORDS.find} hint={WORDS.findHint} value={typed} onChange={({ target }) => setTyped(target.value)} />
      </div>
      <div className="datasets-columns">
        <Statements
          key={JSON.stringify([which, target, subject])}
          place={{ name, version: manifest.version, which, subject, target: target === '' ? undefined : target }}
          total={counts[which]}
          prefixes={prefixes}
          chosen={chosen}
          onChoose={setChosen}
        />
        {chosen !== undefined && (
          <ChangeDetail
            key={chosen}
            name={name}
            manifest={manifest}
            which={which}
            statement={chosen}
            model={model}
            onClose={() => setChosen(undefined)}
          />
        )}
      </div>
    </section>
  );
}

/** The value, once it has been the same for so long. */
function usePaused<T>(value: T, pauseMs: number): T {
  const [paused, setPaused] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setPaused(value), pauseMs);
    return () => clearTimeout(timer);
  }, [value, pauseMs]);
  return paused;
}

interface StatementsProps {
  readonly place: {
    readonly name: string;
    readonly version: number;
    readonly which: Which;
    readonly subject: string | undefined;
    readonly target: string | undefined;
  };
  readonly total: number;
  readonly prefixes: Prefixes;
  readonly chosen: string | undefined;
  readonly onChoose: (statement: string) => void;
}

function Statements({ place: { name, version, which, subject, target }, total, prefixes, chosen, onChoose }: StatementsProps): ReactNode {
  const { service } = useVisit();
  /** `next`: where the page behind them begins; undefined: it is asked for; null: there is none. */
  const [shown, setShown] = useState<{ readonly texts: readonly string[]; readonly next: number | null }>({ texts: [], next: 0 });
  const [offset, setOffset] = useState(0);
  const [trouble, setTrouble] = useState<Trouble | undefined>(undefined);
  const [attempt, setAttempt] = useState(0);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another attempt asks again
  useEffect(() => {
    const controller = new AbortController();
    const { signal } = controller;
    setTrouble(undefined);
    const page = { which, offset, limit: STATEMENTS, subject, target, blankNodes: 'keep', signal } as const;
    service.datasets.changesPage(name, version, page).then(
      ({ statements, next }) => !signal.aborted && setShown(({ texts }) => ({ texts: [...texts.slice(0, offset), ...statements], next })),
      (error: unknown) => {
        const found = troubleOf(error);
        if (!signal.aborted) setTrouble(found);
      },
    );
    return () => controller.abort();
  }, [service, name, version, which, subject, target, offset, attempt]);
  const groups = useMemo(() => bySubject(shown.texts), [shown.texts]);
  const isLoading = trouble === undefined && shown.next === offset;
  return (
    <div className="datasets-statements" aria-busy={isLoading}>
      <p role="status" className="muted">
        {isLoading
          ? WORDS.loading
          : shown.texts.length > 0
            ? WORDS.shown(shown.texts.length)
            : trouble === undefined && (total === 0 || subject === undefined ? WORDS.noChange[which] : WORDS.noneFound(subject))}
      </p>
      {groups.map(({ subject: one, statements }) => (
        <section key={one} aria-label={WORDS.statementsOf(prefixes.compact(one))}>
          <h2>
            <code title={one}>{prefixes.compact(one)}</code>
          </h2>
          <ul>
            {statements.map((statement) => (
              <li key={statement.text}>
                <button
                  type="button"
                  className={which}
                  title={statement.text}
                  aria-pressed={statement.text === chosen}
                  onClick={() => onChoose(statement.text)}
                >
                  {shortText(statement, prefixes)}
                </button>
              </li>
            ))}
          </ul>
        </section>
      ))}
      {trouble !== undefined && (
        <>
          <TroubleNote trouble={trouble} />
          <Button onClick={() => setAttempt(attempt + 1)}>{WORDS.tryAgain}</Button>
        </>
      )}
      {trouble === undefined && !isLoading && shown.next !== null && (
        <Button onClick={() => setOffset(shown.next ?? 0)}>{WORDS.more}</Button>
      )}
    </div>
  );
}

/** Without the subject. */
function shortText({ predicate, object, graph }: ChangedStatement, { compact }: Prefixes): string {
  const verb = predicate === RDF_TYPE ? 'a' : compact(predicate);
  return `${verb} ${compact(object)}${graph === '' ? '' : ` ${WORDS.inGraph(compact(graph))}`}`;
}
