/** Run: the button that opens the dialog. */
import { lazy, type ReactNode, Suspense, useEffect, useState } from 'react';
import { Button } from '../parts/button.tsx';
import { WORDS } from './words.ts';

const RunDialog = lazy(() => import('./dialog.tsx'));

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
      {isOpen && (
        <Suspense>
          <RunDialog onClose={() => setOpen(false)} />
        </Suspense>
      )}
    </>
  );
}
