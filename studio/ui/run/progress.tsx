/** A run that goes on or has ended: progress, cancel, report, failure. */
import { type ReactNode, useEffect, useRef, useState } from 'react';
import type { RunView } from '../../../client/types.ts';
import { type Trouble, troubleOf } from '../../client/service.ts';
import { Button } from '../parts/button.tsx';
import { bytesText } from '../parts/times.ts';
import { announce } from '../store/announcements.ts';
import { runCompleted } from '../store/page/guide.ts';
import { useVisit } from '../store/visit.ts';
import { type RunPlace, runsOf, useRun } from './follow.ts';
import { type AfterRun, Report } from './report.tsx';
import { TroubleNote } from './trouble-note.tsx';
import { WORDS } from './words.ts';

interface RunProgressProps {
  readonly place: RunPlace;
  readonly started?: RunView | undefined;
  /** Bytes of all inputs, where they are known. */
  readonly ofBytes?: number | undefined;
  readonly after?: AfterRun | undefined;
  /** Called when the run has completed. */
  readonly onCompleted?: (() => void) | undefined;
}

export function RunProgress({ place, started, ofBytes, after, onCompleted }: RunProgressProps): ReactNode {
  const { service, user } = useVisit();
  const { view, trouble } = useRun(service, place, started);
  const [cancelled, setCancelled] = useState<'asked' | Trouble | undefined>(undefined);
  const state = view?.state;
  const completed = useRef(onCompleted);
  completed.current = onCompleted;
  useEffect(() => {
    if (state !== undefined) announce(WORDS.states[state]);
    if (state !== 'completed') return;
    runCompleted();
    completed.current?.();
  }, [state]);
  const cancel = (): void => {
    setCancelled('asked');
    runsOf(service, place.service)
      .cancel(place.id)
      .catch((error: unknown) => setCancelled(troubleOf(error)));
  };
  const shown = trouble ?? (cancelled === 'asked' ? undefined : cancelled);
  return (
    <section className="run-progress" aria-label={WORDS.progress}>
      {view !== undefined && <Counts view={view} ofBytes={ofBytes} />}
      {view?.reason !== undefined && <p className="muted">{view.reason}</p>}
      {shown !== undefined && <TroubleNote trouble={shown} />}
      {view !== undefined && view.outcome === undefined && (
        <Button
          kind="danger"
          disabled={user.role === 'viewer' ? WORDS.needsOperator : cancelled === 'asked' && WORDS.cancelling}
          onClick={cancel}
        >
          {WORDS.cancel}
        </Button>
      )}
      {view?.outcome !== undefined && <Report place={place} outcome={view.outcome} after={after} />}
    </section>
  );
}

function Counts({ view, ofBytes }: { readonly view: RunView; readonly ofBytes: number | undefined }): ReactNode {
  const { state, progress, startedAt, endedAt, outcome } = view;
  const seconds = startedAt === undefined ? 0 : (Date.parse(endedAt ?? new Date().toISOString()) - Date.parse(startedAt)) / 1_000;
  const rate = progress === undefined || seconds < 1 ? undefined : WORDS.rate(progress.quads / seconds);
  return (
    <>
      <h3>{WORDS.states[state]}</h3>
      {outcome === undefined && (
        <progress
          aria-label={WORDS.progress}
          max={ofBytes ?? 1}
          // Without a value it says that something goes on.
          {...(ofBytes !== undefined && progress !== undefined && { value: Math.min(progress.bytesRead, ofBytes) })}
        />
      )}
      {progress !== undefined && (
        <p>
          {WORDS.counts(progress.records, progress.quads)} · {WORDS.read(bytesText(progress.bytesRead), rate)}
        </p>
      )}
    </>
  );
}
