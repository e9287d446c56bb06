/** The page: who is there, then the start page or a model. */
import { lazy, type ReactNode, Suspense, useCallback, useEffect, useState } from 'react';
import { type Drafts, openDrafts } from '../../client/drafts.ts';
import { openService, type Trouble, troubleOf } from '../../client/service.ts';
import { keepToken } from '../../client/token.ts';
import { Button } from '../parts/button.tsx';
import { Empty } from '../parts/empty.tsx';
import StartPage from '../start/index.tsx';
import { ADDRESS, addressOf } from '../store/address.ts';
import { useStore } from '../store/store.ts';
import { type Visit, VisitContext } from '../store/visit.ts';
import { Live } from './live.tsx';
import { SignIn } from './sign-in.tsx';
import { SigningAgain } from './signing-again.tsx';
import { WORDS } from './words.ts';

const DatasetsPage = lazy(() => import('../run/datasets/index.tsx'));
const ModelPage = lazy(() => import('./model-page.tsx').then((one) => ({ default: one.ModelPage })));

type Arrival =
  | { readonly kind: 'coming' }
  | { readonly kind: 'stopped'; readonly trouble: Trouble }
  | { readonly kind: 'there'; readonly visit: Visit };

export function App(): ReactNode {
  const [arrival, arrive] = useArrival();
  return (
    <>
      <Live />
      {arrival.kind === 'there' ? (
        <VisitContext value={arrival.visit}>
          <Page />
          <SigningAgain />
        </VisitContext>
      ) : (
        <main className="alone">
          <h1>{WORDS.product}</h1>
          {arrival.kind === 'coming' ? <p>{WORDS.loading}</p> : <Stopped trouble={arrival.trouble} again={arrive} />}
        </main>
      )}
    </>
  );
}

function Stopped({ trouble: { kind, sentence, hint }, again }: { readonly trouble: Trouble; readonly again: () => void }): ReactNode {
  if (kind === 'sign-in') return <SignIn onSigned={again} />;
  return (
    <Empty title={sentence} actions={<Button onClick={again}>{WORDS.tryAgain}</Button>}>
      {hint}
    </Empty>
  );
}

function Page(): ReactNode {
  const hash = useStore(ADDRESS, (state) => state);
  const address = addressOf(hash);
  switch (address.kind) {
    case 'start':
      return <StartPage />;
    case 'datasets':
      return (
        <Suspense fallback={<p className="alone">{WORDS.loading}</p>}>
          <DatasetsPage address={address} />
        </Suspense>
      );
    case 'model':
      return (
        <Suspense fallback={<p className="alone">{WORDS.loading}</p>}>
          <ModelPage key={hash.replace('#/new/', '#/')} address={address} />
        </Suspense>
      );
  }
}

/** Asks the service who the user is. */
function useArrival(): readonly [Arrival, () => void] {
  const [arrival, setArrival] = useState<Arrival>({ kind: 'coming' });
  const [attempt, setAttempt] = useState(0);
  const again = useCallback(() => setAttempt((number) => number + 1), []);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new attempt asks again
  useEffect(() => {
    const stop = new AbortController();
    const signOut = (): void => {
      keepToken(undefined);
      again();
    };
    Promise.all([openService().studio.me({ signal: stop.signal }), openedDrafts()]).then(
      ([user, drafts]) => setArrival({ kind: 'there', visit: { user, service: openService(user.services), drafts, signOut } }),
      (error) => {
        const trouble = troubleOf(error);
        if (trouble !== undefined) setArrival({ kind: 'stopped', trouble });
      },
    );
    return () => stop.abort();
  }, [attempt, again]);
  return [arrival, again];
}

/** undefined: a private window or a full disk; the editor says that nothing is kept. */
const openedDrafts = (): Promise<Drafts | undefined> => openDrafts().catch(() => undefined);
