import { type ReactNode, useEffect, useId, useRef } from 'react';
import { Button } from './button.tsx';

export interface DialogProps {
  readonly title: string;
  readonly onClose: () => void;
  /** Enter in a field does it. */
  readonly onSubmit?: () => void;
  readonly children: ReactNode;
  readonly footer?: ReactNode;
  readonly wide?: boolean;
}

/** A modal dialog: the browser keeps the focus in it and gives it back. Esc closes it. It is open as long as it is rendered. */
export function Dialog({ title, onClose, onSubmit, children, footer, wide }: DialogProps): ReactNode {
  const ref = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    const dialog = ref.current;
    const before = document.activeElement;
    dialog?.showModal();
    // The button that closes stands first in the dialog, but what it asks for is what a person wants.
    dialog?.querySelector<HTMLElement>('input:not([hidden]), select, textarea')?.focus();
    return () => {
      dialog?.close();
      if (before instanceof HTMLElement) before.focus();
    };
  }, []);
  const content = (
    <>
      <header>
        <h2 id={id}>{title}</h2>
        <Button kind="quiet" icon="close" label="Close" onClick={onClose} />
      </header>
      {children}
      {footer !== undefined && <footer>{footer}</footer>}
    </>
  );
  return (
    <dialog
      ref={ref}
      className={wide ? 'dialog wide' : 'dialog'}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      // Chromium closes a dialog without asking when Escape is pressed again and again.
      onClose={onClose}
    >
      {onSubmit === undefined ? (
        <div className="content">{content}</div>
      ) : (
        <form
          method="dialog"
          noValidate
          onSubmit={(event) => {
            event.preventDefault();
            onSubmit();
          }}
        >
          {content}
        </form>
      )}
    </dialog>
  );
}
