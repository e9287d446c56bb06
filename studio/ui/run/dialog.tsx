/** The dialog in which a saved model is run on everything, and what its runs came to. */
import { type ReactNode, useState } from 'react';
import { Button } from '../parts/button.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { useEditorState } from '../store/context.tsx';
import { useVisit } from '../store/visit.ts';
import { WriteDataset } from './datasets/write.tsx';
import { FilesForm } from './forms/files-form.tsx';
import { SqlForm } from './forms/sql-form.tsx';
import { RunProgress } from './progress.tsx';
import type { AfterRun } from './report.tsx';
import './run.css';
import { RunList } from './run-list.tsx';
import type { Shown } from './shown.ts';
import { WORDS } from './words.ts';
import { WriteOutput } from './write.tsx';

const afterRun: AfterRun = ({ dataset, outputFileLocations }) =>
  dataset === undefined ? <WriteOutput files={outputFileLocations} /> : <WriteDataset name={dataset} />;

/** Closing it ends no run: the list of runs shows it again. */
export default function RunDialog({ onClose }: { readonly onClose: () => void }): ReactNode {
  const { user } = useVisit();
  const { name, service } = useEditorState(({ origin }) => origin);
  const [shown, setShown] = useState<Shown | undefined>(undefined);
  const Form = service === 'sql-transformer' ? SqlForm : FilesForm;
  return (
    <Dialog title={WORDS.title(name)} onClose={onClose} wide>
      {shown === undefined ? (
        <>
          <Form show={setShown} />
          <RunList service={service} show={setShown} />
        </>
      ) : (
        <>
          <RunProgress
            key={shown.view.id}
            place={{ service, id: shown.view.id }}
            started={shown.view}
            ofBytes={shown.ofBytes}
            after={user.services.includes('graph-writer') ? afterRun : undefined}
          />
          <div className="run-buttons">
            <Button onClick={() => setShown(undefined)}>{WORDS.back}</Button>
          </div>
        </>
      )}
    </Dialog>
  );
}
