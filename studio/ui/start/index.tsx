/** The start page: the models of the service, drafts of this browser, and ways to a new model. */
import { type ReactNode, useCallback, useEffect, useRef, useState } from 'react';
import { formatOfPath } from '../../../src/core/input/formats.ts';
import type { DraftHead } from '../../client/drafts.ts';
import { type Trouble, troubleOf } from '../../client/service.ts';
import { Button } from '../parts/button.tsx';
import { Empty } from '../parts/empty.tsx';
import { ago } from '../parts/times.ts';
import { goTo, hashOf, type TransformerName } from '../store/address.ts';
import { announce } from '../store/announcements.ts';
import { leaveFiles, useDroppedFiles } from '../store/page/dropped-files.ts';
import { guide } from '../store/page/guide.ts';
import { chooseScheme, nextScheme, SCHEME } from '../store/page/scheme.ts';
import { useStore } from '../store/store.ts';
import { useVisit } from '../store/visit.ts';
import { NewModel } from './new-model.tsx';
import { beginModel, draftAddress, freeModelName, type Model, openFile, transformerOf } from './opening.ts';
import './start.css';
import { WORDS } from './words.ts';

export default function StartPage(): ReactNode {
  const { user, drafts, signOut } = useVisit();
  const { models, trouble, again } = useModels();
  const scheme = useStore(SCHEME, (state) => state);
  const [isMaking, setMaking] = useState(false);
  const [find, setFind] = useState('');
  const [fault, setFault] = useState<string | undefined>(undefined);
  const chooser = useRef<HTMLInputElement>(null);
  const found = models?.filter(({ name }) => name.toLowerCase().includes(find.trim().toLowerCase()));
  const open = async (file: File | undefined): Promise<void> => {
    if (file === undefined) return;
    try {
      goTo(await openFile(file, user.services, drafts));
    } catch {
      setFault(WORDS.notReadable(file.name));
    }
  };
  /** A mapping is opened; data become the inputs of a new model. */
  const dropped = async (files: readonly File[]): Promise<void> => {
    const data = files.filter(({ name }) => formatOfPath(name) !== undefined);
    const [first] = data;
    if (first === undefined) return open(files[0]);
    if (user.role === 'viewer') return setFault(WORDS.dropNeeds);
    const name = freeModelName(first.name.replace(/\..*$/s, '') || first.name, models ?? [], await drafts?.list());
    leaveFiles(data);
    goTo(await beginModel(name, transformerOf(user.services), 'rml', drafts));
  };
  useDroppedFiles((files) => void dropped(files));
  const beginGuide = async (): Promise<void> => {
    const name = freeModelName(WORDS.guidedModel, models ?? [], await drafts?.list());
    guide(name);
    goTo(await beginModel(name, 'semi-structured-transformer', 'rml', drafts));
  };
  return (
    <div className="start">
      <header>
        <h1>{WORDS.product}</h1>
        <a className="button quiet" href={hashOf({ kind: 'datasets' })}>
          {WORDS.datasets}
        </a>
        <span className="muted">{user.actor === 'anonymous' ? user.role : `${user.actor} · ${user.role}`}</span>
        <Button kind="quiet" icon="moon" label={WORDS.schemes[scheme]} onClick={() => chooseScheme(nextScheme(scheme))} />
        {user.actor !== 'anonymous' && (
          <Button kind="quiet" onClick={signOut}>
            {WORDS.signOut}
          </Button>
        )}
      </header>
      <main>
        <div className="ways">
          <Button kind="primary" icon="add" onClick={() => setMaking(true)}>
            {WORDS.newModel}
          </Button>
          <Button icon="file" onClick={() => chooser.current?.click()}>
            {WORDS.openFile}
          </Button>
          {user.services.includes('semi-structured-transformer') && user.role !== 'viewer' && (
            <Button onClick={() => void beginGuide()}>{WORDS.guided}</Button>
          )}
          <input
            ref={chooser}
            type="file"
            hidden
            accept=".ttl,.rml,.yml,.yaml,.yarrrml"
            aria-label={WORDS.openFile}
            onChange={(event) => void open(event.target.files?.[0])}
          />
          <input
            type="search"
            className="entry find"
            aria-label={WORDS.find}
            placeholder={WORDS.find}
            value={find}
            onChange={(event) => setFind(event.target.value)}
          />
        </div>
        {fault !== undefined && (
          <p className="trouble" role="alert">
            {fault}
          </p>
        )}
        <DraftList />
        <section aria-labelledby="models">
          <h2 id="models">{WORDS.models}</h2>
          {trouble !== undefined ? (
            <Empty title={trouble.sentence} actions={<Button onClick={again}>{WORDS.tryAgain}</Button>}>
              {trouble.hint}
            </Empty>
          ) : found === undefined ? (
            <p className="muted">{WORDS.loading}</p>
          ) : found.length === 0 ? (
            <Empty title={find === '' ? WORDS.none : WORDS.noneFound(find)}>{find === '' ? WORDS.noneHint : undefined}</Empty>
          ) : (
            <ModelTable models={found} />
          )}
        </section>
      </main>
      {isMaking && <NewModel models={models ?? []} onClose={() => setMaking(false)} />}
    </div>
  );
}

const ModelTable = ({ models }: { readonly models: readonly Model[] }): ReactNode => (
  <table>
    <thead>
      <tr>
        <th scope="col">{WORDS.name}</th>
        <th scope="col">{WORDS.language}</th>
        <th scope="col">{WORDS.changed}</th>
        <th scope="col">{WORDS.state}</th>
      </tr>
    </thead>
    <tbody>
      {models.map(({ name, service, language, at, by, etag, draft }) => (
        <tr key={`${service}/${name}`}>
          <th scope="row">
            <a href={hashOf({ kind: 'model', service, name, isNew: false })}>{name}</a>
            {service === 'sql-transformer' && <span className="tag">{WORDS.services[service]}</span>}
          </th>
          <td>{WORDS.languages[language]}</td>
          <td title={at ?? undefined}>{at === null ? WORDS.never : WORDS.by(ago(Date.parse(at)), by)}</td>
          <td>{[etag === null ? undefined : WORDS.saved, draft ? WORDS.draftKept : undefined].filter(Boolean).join(', ')}</td>
        </tr>
      ))}
    </tbody>
  </table>
);

function DraftList(): ReactNode {
  const { drafts } = useVisit();
  const [heads, setHeads] = useState<readonly DraftHead[]>([]);
  const look = useCallback(async () => setHeads((await drafts?.list()) ?? []), [drafts]);
  useEffect(() => void look(), [look]);
  if (heads.length === 0) return null;
  return (
    <section aria-labelledby="drafts">
      <h2 id="drafts">{WORDS.drafts}</h2>
      <ul className="drafts">
        {heads.map(({ id, name, isNew, changes, at }) => (
          <li key={id}>
            <strong>{name}</strong>
            <span className="muted">
              {WORDS.changes(changes)}, {ago(at)}
            </span>
            <a className="button" href={hashOf(draftAddress(id, name, isNew))} aria-label={`${WORDS.continue} ${name}`}>
              {WORDS.continue}
            </a>
            <Button
              kind="danger"
              aria-label={`${WORDS.discard} ${name}`}
              onClick={async () => {
                await drafts?.remove(id);
                announce(WORDS.discarded(name));
                await look();
              }}
            >
              {WORDS.discard}
            </Button>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** The models of all transformers of the process, by name. A mapping directory that is not there yet has none. */
function useModels(): { readonly models: readonly Model[] | undefined; readonly trouble: Trouble | undefined; readonly again: () => void } {
  const { service, user } = useVisit();
  const [state, setState] = useState<{ readonly models?: readonly Model[]; readonly trouble?: Trouble | undefined }>({});
  const [attempt, setAttempt] = useState(0);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new attempt asks again
  useEffect(() => {
    const stop = new AbortController();
    const transformers = user.services.filter((one): one is TransformerName => one !== 'graph-writer');
    Promise.all(
      transformers.map(async (one) =>
        (await service.studio.listMappings({ service: one, signal: stop.signal })).map((entry): Model => ({ ...entry, service: one })),
      ),
    ).then(
      (all) => setState({ models: all.flat().sort((a, b) => (a.name < b.name ? -1 : 1)) }),
      (error) => setState({ trouble: troubleOf(error) }),
    );
    return () => stop.abort();
  }, [service, user, attempt]);
  return { models: state.models, trouble: state.trouble, again: () => setAttempt((number) => number + 1) };
}
