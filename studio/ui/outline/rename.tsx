import { type ReactNode, useState } from 'react';
import type { Id } from '../../core/document.ts';
import { nameOf } from '../../core/elements/names.ts';
import { Button } from '../parts/button.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { Field } from '../parts/field.tsx';
import { useEditor } from '../store/context.tsx';
import { WORDS } from './words.ts';

/** Gives an entity another name. */
export function Rename({ id, onClose }: { readonly id: Id; readonly onClose: () => void }): ReactNode {
  const editor = useEditor();
  const [name, setName] = useState(() => nameOf(editor.get().session.document, id));
  const [error, setError] = useState<string | undefined>(undefined);
  const apply = (): void => {
    const refusal = editor.dispatch('rename', { id, name: name.trim() });
    if (refusal === undefined) onClose();
    else setError(refusal.sentence);
  };
  return (
    <Dialog
      title={WORDS.renameTitle}
      onClose={onClose}
      onSubmit={apply}
      footer={
        <>
          <Button onClick={onClose}>{WORDS.cancel}</Button>
          <Button kind="primary" submits>
            {WORDS.apply}
          </Button>
        </>
      }
    >
      <Field label={WORDS.newName} value={name} error={error} onChange={(event) => setName(event.target.value)} />
    </Dialog>
  );
}
