/** The version of a dataset that the store of the graph writer has, and writing those that it lacks. */
import { type ReactNode, useEffect, useRef, useState } from 'react';
import type { RunView } from '../../../../client/types.ts';
import { type Trouble, troubleOf } from '../../../client/service.ts';
import { Button } from '../../parts/button.tsx';
import { useVisit } from '../../store/visit.ts';
import { RunProgress } from '../progress.tsx';
import '../run.css';
import { TroubleNote } from '../trouble-note.tsx';
import { WORDS as RUN_WORDS } from '../words.ts';
import { useAnswer } from './asking.ts';
import { WORDS } from './words.ts';

const { store: words } = WORDS;
const PAUSE_MS = 2_000;
const MOST_ASKS = 30;

export function WriteDataset({ name }: { readonly name: string }): ReactNode {
  const { service, user } = useVisit();
  const { answer: position, trouble, again } = useAnswer(name, ({ datasets }, signal) => datasets.position(name, { signal }));
  const [started, setStarted] = useState<RunView | undefined>(undefined);
  const [refused, setRefused] = useState<Trouble | undefined>(undefined);
  const [isBusy, setBusy] = useState(false);
  const write = async (resync: boolean): Promise<void> => {
    setBusy(true);
    setRefused(undefined);
    setStarted(undefined);
    try {
      setStarted(await service.graphWriter.start({ dataset: name, ...(resync && { resync }) }));
    } catch (error) {
      setRefused(troubleOf(error));
    } finally {
      setBusy(false);
    }
  };
  const reason = user.role === 'viewer' ? words.needsOperator : isBusy ? words.busy : undefined;
  const hasAll = position?.complete && position.version === position.currentVersion;
  const asks = useRef(0);
  // The graph writer may take the version by itself, when it hears of the run.
  useEffect(() => {
    if (position === undefined || hasAll || asks.current >= MOST_ASKS) return undefined;
    asks.current++;
    const timer = setTimeout(again, PAUSE_MS);
    return () => clearTimeout(timer);
  }, [position, hasAll, again]);
  return (
    <section className="run-write" aria-labelledby="store">
      <h2 id="store">{words.title}</h2>
      <p>{RUN_WORDS.write.target(user.target.type, user.target.location)}</p>
      <p role="status">
        {position === undefined
          ? trouble === undefined && words.asking
          : position.version === 0
            ? words.nothing
            : position.complete
              ? words.has(position.version, position.currentVersion)
              : words.part(position.version)}
      </p>
      {trouble !== undefined && (
        <>
          <TroubleNote trouble={trouble} />
          <Button onClick={again}>{WORDS.tryAgain}</Button>
        </>
      )}
      {refused !== undefined && <TroubleNote trouble={refused} />}
      <p className="muted">
        {words.writeHint} {words.compareHint}
      </p>
      <div className="run-buttons">
        <Button kind="primary" disabled={reason ?? (hasAll && words.nothingToWrite)} onClick={() => void write(false)}>
          {words.write}
        </Button>
        <Button disabled={reason} onClick={() => void write(true)}>
          {words.compare}
        </Button>
      </div>
      {started !== undefined && (
        <RunProgress key={started.id} place={{ service: 'graph-writer', id: started.id }} started={started} onCompleted={again} />
      )}
    </section>
  );
}
