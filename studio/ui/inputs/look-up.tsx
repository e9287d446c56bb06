/** Looks for items of a list behind the first ones, by number or value, and shows one in the tree. */
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { type FoundItems, type ListItem, readItems } from '../../client/items.ts';
import { saidOf, troubleOf } from '../../client/service.ts';
import { Button } from '../parts/button.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { Field } from '../parts/field.tsx';
import type { MoreRow } from '../parts/fields/rows.ts';
import { useEditor, useEditorState, useSamples } from '../store/context.tsx';
import { WORDS } from './words.ts';

const { lookUp } = WORDS;

type Wanted = { readonly from: number } | { readonly find: string; readonly from: number };
type State =
  | { readonly kind: 'reading' }
  | { readonly kind: 'found'; readonly found: FoundItems }
  | { readonly kind: 'failed'; readonly sentence: string };

export function LookUp({ row: { input, list, shown }, onClose }: { readonly row: MoreRow; readonly onClose: () => void }): ReactNode {
  const editor = useEditor();
  const samples = useSamples();
  const schema = useEditorState((state) => state.schema);
  const [entry, setEntry] = useState('');
  const [wanted, setWanted] = useState<Wanted>({ from: shown });
  const [state, setState] = useState<State>({ kind: 'reading' });
  // Values that are shown meanwhile change the schema, and not its fields.
  const fields = useRef([...(schema.get(input.id)?.values() ?? [])]);
  useEffect(() => {
    const { namespaces, origin } = editor.get();
    const named = { ...input, namespaces: { ...namespaces.get(input.id), ...input.namespaces } };
    const controller = new AbortController();
    const { signal } = controller;
    setState({ kind: 'reading' });
    lookFor(wanted, (next) => readItems(named, list, fields.current, next, origin.service, signal)).then(
      (found) => setState({ kind: 'found', found }),
      (error) => {
        const trouble = signal.aborted ? undefined : troubleOf(error);
        if (trouble !== undefined) setState({ kind: 'failed', sentence: saidOf(trouble) });
      },
    );
    return () => controller.abort();
  }, [wanted, input, list, editor]);
  const look = (): void => {
    const find = entry.trim();
    setWanted(find === '' ? { from: shown } : { find, from: 0 });
  };
  const choose = (item: ListItem): void => {
    samples.show(input.id, { list, item });
    editor.select({ elements: [], fields: [{ input: input.id, path: [...list.slice(0, -1), { index: item.position }] }] });
    onClose();
  };
  return (
    <Dialog
      title={lookUp.title}
      onClose={onClose}
      onSubmit={look}
      footer={
        <>
          <Button onClick={onClose}>{lookUp.close}</Button>
          {state.kind === 'found' && !state.found.complete && !state.found.cut && (
            <Button onClick={() => setWanted({ ...wanted, from: state.found.next })}>{lookUp.next}</Button>
          )}
          <Button kind="primary" submits>
            {lookUp.find}
          </Button>
        </>
      }
    >
      <Field label={lookUp.entry} hint={lookUp.hint} value={entry} onChange={(event) => setEntry(event.target.value)} />
      <div role="status" aria-live="polite">
        {state.kind === 'reading' ? lookUp.reading : state.kind === 'failed' ? state.sentence : foundText(state.found)}
      </div>
      {state.kind === 'found' && state.found.items.length > 0 && (
        <ul className="looked-up" aria-label={lookUp.list}>
          {state.found.items.map((item) => (
            <li key={item.position}>
              <Button kind="quiet" onClick={() => choose(item)}>
                {lookUp.item(
                  item.position + 1,
                  item.values.map(({ value }) => value),
                )}
              </Button>
            </li>
          ))}
        </ul>
      )}
    </Dialog>
  );
}

/** A number means the item with this number, and then items with this value. */
async function lookFor(wanted: Wanted, read: (next: Wanted) => Promise<FoundItems>): Promise<FoundItems> {
  const number = 'find' in wanted && wanted.from === 0 && /^[1-9]\d{0,14}$/.test(wanted.find) ? Number(wanted.find) : undefined;
  if (number === undefined) return read(wanted);
  const [own, others] = await Promise.all([read({ from: number - 1 }), read(wanted)]);
  const numbered = own.items.filter(({ position }) => position === number - 1);
  return { ...others, items: [...numbered, ...others.items.filter(({ position }) => position !== number - 1)] };
}

function foundText({ items, next, complete, cut }: FoundItems): string {
  if (cut) return lookUp.cut(next);
  if (items.length === 0) return complete && next === 0 ? lookUp.end(0) : lookUp.none(next);
  return complete ? lookUp.end(next) : '';
}
