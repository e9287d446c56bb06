/** A model of the SQL transformer: it runs as the master mapping, on the database of the configuration. */
import { type ReactNode, useEffect, useState } from 'react';
import { type Trouble, troubleOf } from '../../../client/service.ts';
import { Button } from '../../parts/button.tsx';
import { useEditorState } from '../../store/context.tsx';
import { hasChanges } from '../../store/editor.ts';
import { useVisit } from '../../store/visit.ts';
import { type Shown, whyNotRunnable } from '../shown.ts';
import { TroubleNote } from '../trouble-note.tsx';
import { WORDS } from '../words.ts';
import { useDatasetChoice } from './dataset.tsx';

const MASTER = 'masterMappingFile';

export function SqlForm({ show }: { readonly show: (shown: Shown) => void }): ReactNode {
  const { service, user } = useVisit();
  const { name } = useEditorState(({ origin }) => origin);
  const reason = useEditorState(whyNotRunnable);
  const isChanged = useEditorState(hasChanges);
  const [master, setMaster] = useState<string | undefined>(undefined);
  const [trouble, setTrouble] = useState<Trouble | undefined>(undefined);
  const [isStarting, setStarting] = useState(false);
  const dataset = useDatasetChoice();
  useEffect(() => {
    const controller = new AbortController();
    service.sqlTransformer.config({ paths: [MASTER], signal: controller.signal }).then(
      (config) => setMaster(String(config[MASTER])),
      (error: unknown) => setTrouble(troubleOf(error)),
    );
    return () => controller.abort();
  }, [service]);
  const start = (): void => {
    setStarting(true);
    setTrouble(undefined);
    service.sqlTransformer
      .start({ dataset: dataset.name })
      .then((view) => show({ view }))
      .catch((error: unknown) => setTrouble(troubleOf(error)))
      .finally(() => setStarting(false));
  };
  const makeMaster = (): void => {
    service.sqlTransformer
      .updateConfig(MASTER, name)
      .then(() => setMaster(name))
      .catch((error: unknown) => setTrouble(troubleOf(error)));
  };
  if (master === undefined) return trouble === undefined ? <p className="muted">{WORDS.loading}</p> : <TroubleNote trouble={trouble} />;
  const isOther = master !== name;
  return (
    <div className="run-form">
      <p>{WORDS.master(master)}</p>
      {dataset.field}
      {isChanged && <p className="muted">{WORDS.unsaved}</p>}
      {trouble !== undefined && <TroubleNote trouble={trouble} />}
      <div className="run-buttons">
        {isOther && (
          <Button disabled={user.role !== 'admin' ? WORDS.makeMasterNeeds : reason} onClick={makeMaster}>
            {WORDS.makeMaster(name)}
          </Button>
        )}
        <Button
          kind="primary"
          icon="run"
          disabled={reason ?? (isOther ? WORDS.notMaster(name, master) : isStarting ? WORDS.starting : dataset.why)}
          onClick={start}
        >
          {WORDS.start}
        </Button>
      </div>
    </div>
  );
}
