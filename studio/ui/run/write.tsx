/** Writes the output of a run to the target of the graph writer. */
import { type ReactNode, useState } from 'react';
import type { ConnectionCheck, RunView } from '../../../client/types.ts';
import { type Trouble, troubleOf } from '../../client/service.ts';
import { Button } from '../parts/button.tsx';
import { useVisit } from '../store/visit.ts';
import { RunProgress } from './progress.tsx';
import { TroubleNote } from './trouble-note.tsx';
import { WORDS } from './words.ts';

const { write: words } = WORDS;

export function WriteOutput({ files }: { readonly files: readonly string[] }): ReactNode {
  const { service, user } = useVisit();
  const [checked, setChecked] = useState<ConnectionCheck | undefined>(undefined);
  const [started, setStarted] = useState<RunView | undefined>(undefined);
  const [trouble, setTrouble] = useState<Trouble | undefined>(undefined);
  const [isBusy, setBusy] = useState(false);
  const [mode, setMode] = useState(user.writeMode);
  const ask = async <T,>(request: () => Promise<T>, show: (answer: T) => void): Promise<void> => {
    setBusy(true);
    setTrouble(undefined);
    try {
      show(await request());
    } catch (error) {
      setTrouble(troubleOf(error));
    } finally {
      setBusy(false);
    }
  };
  const reason = user.role === 'viewer' ? WORDS.needsOperator : isBusy ? WORDS.loading : undefined;
  return (
    <section className="run-write" aria-label={words.title}>
      <h4>{words.title}</h4>
      <p>{words.target(user.target.type, user.target.location)}</p>
      {started === undefined && (
        <fieldset className="run-mode">
          <legend>{words.mode}</legend>
          {user.writeModes.map((one) => (
            <label key={one}>
              <input type="radio" name="write-mode" value={one} checked={mode === one} onChange={() => setMode(one)} /> {words.modes[one]}
            </label>
          ))}
        </fieldset>
      )}
      {started === undefined && (
        <div className="run-buttons">
          <Button disabled={reason} onClick={() => void ask(() => service.graphWriter.checkConnection(), setChecked)}>
            {words.check}
          </Button>
          <Button
            kind="primary"
            disabled={reason}
            onClick={() => void ask(() => service.graphWriter.start({ inputFileURL: files, mode }), setStarted)}
          >
            {words.write}
          </Button>
        </div>
      )}
      {checked !== undefined && <p>{words.checked(checked.product, checked.milliseconds)}</p>}
      {trouble !== undefined && <TroubleNote trouble={trouble} />}
      {started !== undefined && <RunProgress place={{ service: 'graph-writer', id: started.id }} started={started} />}
    </section>
  );
}
