import { type ReactNode, useRef, useState } from 'react';
import { Button } from '../parts/button.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { Choice, Field } from '../parts/field.tsx';
import { WORDS } from './words.ts';

const { dialog } = WORDS;
type Way = keyof typeof dialog.ways;
const WAYS = Object.entries(dialog.ways) as readonly (readonly [Way, string])[];

interface AddOntologyProps {
  readonly onAdd: (from: readonly (File | string)[]) => void;
  readonly onClose: () => void;
}

/** Asks for files, or an address. */
export function AddOntology({ onAdd, onClose }: AddOntologyProps): ReactNode {
  const [way, setWay] = useState<Way>('upload');
  const [where, setWhere] = useState('');
  const [error, setError] = useState<string | undefined>(undefined);
  const chooser = useRef<HTMLInputElement>(null);
  const give = (from: readonly (File | string)[]): void => {
    onAdd(from);
    onClose();
  };
  const add = (): void => {
    if (way === 'upload') chooser.current?.click();
    else if (where.trim() === '') setError(dialog.missing);
    else give([where.trim()]);
  };
  return (
    <Dialog
      title={dialog.title}
      onClose={onClose}
      onSubmit={add}
      footer={
        <>
          <Button onClick={onClose}>{dialog.cancel}</Button>
          <Button kind="primary" submits>
            {way === 'upload' ? dialog.file : dialog.add}
          </Button>
        </>
      }
    >
      <Choice label={dialog.from} value={way} options={WAYS} onChoose={setWay} />
      {way === 'upload' ? (
        <input
          ref={chooser}
          type="file"
          multiple
          hidden
          aria-label={dialog.file}
          onChange={({ target }) => give([...(target.files ?? [])])}
        />
      ) : (
        <Field label={dialog.url} hint={dialog.urlHint} error={error} value={where} onChange={({ target }) => setWhere(target.value)} />
      )}
    </Dialog>
  );
}
