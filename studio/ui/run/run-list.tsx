/** The newest runs of a transformer. */
import { type ReactNode, useEffect, useState } from 'react';
import type { RunView } from '../../../client/types.ts';
import { type Trouble, troubleOf } from '../../client/service.ts';
import { Button } from '../parts/button.tsx';
import { ago } from '../parts/times.ts';
import { useVisit } from '../store/visit.ts';
import { runsOf, type ServiceName } from './follow.ts';
import type { Shown } from './shown.ts';
import { TroubleNote } from './trouble-note.tsx';
import { WORDS } from './words.ts';

const SHOWN = 10;

export function RunList({ service: name, show }: { readonly service: ServiceName; readonly show: (shown: Shown) => void }): ReactNode {
  const { service } = useVisit();
  const [runs, setRuns] = useState<readonly RunView[] | undefined>(undefined);
  const [trouble, setTrouble] = useState<Trouble | undefined>(undefined);
  const [attempt, setAttempt] = useState(0);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another attempt asks again
  useEffect(() => {
    const controller = new AbortController();
    const { signal } = controller;
    setTrouble(undefined);
    runsOf(service, name)
      .listRuns({ limit: SHOWN, signal })
      .then(setRuns, (error: unknown) => setTrouble(troubleOf(error)));
    return () => controller.abort();
  }, [service, name, attempt]);
  return (
    <section className="run-list" aria-label={WORDS.runs}>
      <h3>{WORDS.runs}</h3>
      {trouble !== undefined && (
        <>
          <TroubleNote trouble={trouble} />
          <Button onClick={() => setAttempt(attempt + 1)}>{WORDS.tryAgain}</Button>
        </>
      )}
      {runs === undefined && trouble === undefined && <p className="muted">{WORDS.loading}</p>}
      {runs?.length === 0 && <p className="muted">{WORDS.noRuns}</p>}
      <ul>
        {runs?.map((view) => (
          <li key={view.id}>
            <span className={`run-state ${view.state}`}>{WORDS.states[view.state]}</span>
            <span className="run-inputs">{view.input.join(', ')}</span>
            <span className="muted">{ago(Date.parse(view.submittedAt))}</span>
            <Button kind="quiet" aria-label={`${WORDS.show} ${view.id}`} onClick={() => show({ view })}>
              {WORDS.show}
            </Button>
          </li>
        ))}
      </ul>
    </section>
  );
}
