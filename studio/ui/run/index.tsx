/** Run: the dialog in which a saved model is run on everything, and what its runs came to. */
import { type ReactNode, useEffect, useState } from 'react';
import { Button } from '../parts/button.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { useEditorState } from '../store/context.tsx';
import { useVisit } from '../store/visit.ts';
import { FilesForm } from './files-form.tsx';
import { RunProgress } from './progress.tsx';
import './run.css';
import { RunList } from './run-list.tsx';
import type { Shown } from './shown.ts';
import { SqlForm } from './sql-form.tsx';
import { WORDS } from './words.ts';
import { WriteOutput } from './write.tsx';

/** The button of the toolbar, with its key. */
export function RunButton(): ReactNode {
  const [isOpen, setOpen] = useState(false);
  useEffect(() => {
    const press = (event: KeyboardEvent): void => {
      if (!(event.ctrlKey || event.metaKey) || !event.shiftKey || event.altKey || event.key !== 'Enter') return;
      if (document.querySelector('dialog[open]') !== null) return;
      event.preventDefault();
      setOpen(true);
    };
    window.addEventListener('keydown', press);
    return () => window.removeEventListener('keydown', press);
  }, []);
  return (
    <>
      <Button kind="quiet" icon="run" aria-keyshortcuts="Control+Shift+Enter" title={WORDS.keys} onClick={() => setOpen(true)}>
        {WORDS.run}
      </Button>
      {isOpen && <RunDialog onClose={() => setOpen(false)} />}
    </>
  );
}

/** Closing it ends no run: the list of runs shows it again. */
function RunDialog({ onClose }: { readonly onClose: () => void }): ReactNode {
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
            after={user.services.includes('graph-writer') ? (files) => <WriteOutput files={files} /> : undefined}
          />
          <div className="run-buttons">
            <Button onClick={() => setShown(undefined)}>{WORDS.back}</Button>
          </div>
        </>
      )}
    </Dialog>
  );
}
