/** The list of everything that can be connected to an element or field, each with its verdict: the way of keys and clicks to draw an edge. */
import { type KeyboardEvent, type ReactNode, useId, useMemo, useState } from 'react';
import type { Sample } from '../../client/samples.ts';
import { mayConnect } from '../../core/connect/may-connect.ts';
import type { Id, Path, StudioDocument } from '../../core/document.ts';
import { itemsUsed } from '../../core/elements/items.ts';
import { nameOf } from '../../core/elements/names.ts';
import { fieldName } from '../../core/elements/path-text.ts';
import { recordsOf } from '../../core/elements/records.ts';
import type { Schema, SchemaField } from '../../core/elements/schema.ts';
import { writtenName } from '../../core/elements/written.ts';
import { inObjectOf, pathKey, viewOf } from '../../core/levels.ts';
import { sideOf } from '../../core/rules/ends.ts';
import { type End, isRefusal, type Verdict } from '../../core/rules/verdict.ts';
import { Button } from '../parts/button.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { Field } from '../parts/field.tsx';
import { matchingOf } from '../parts/fields/options.ts';
import { listsOf, pathsIn } from '../parts/fields/rows.ts';
import { useEditor, useEditorState, useSamples } from '../store/context.tsx';
import { writtenIri } from '../store/iris.ts';
import { samplesRead } from '../store/samples.ts';
import { useStore } from '../store/store.ts';
import { useTermOptions } from '../store/terms.ts';
import { WORDS } from './words.ts';

interface Candidate {
  readonly key: string;
  readonly name: string;
  readonly end: End;
}

interface Target extends Candidate {
  readonly verdict: Verdict;
}

/** More are found by typing. */
const MOST_SHOWN = 200;

export function ConnectDialog({ from }: { readonly from: End }): ReactNode {
  const editor = useEditor();
  const id = useId();
  const document = useEditorState((state) => state.session.document);
  const schema = useEditorState((state) => state.schema);
  const [find, setFind] = useState('');
  const [chosen, setChosen] = useState(0);
  const [predicate, setPredicate] = useState('');
  const options = useTermOptions('property');
  const [error, setError] = useState<string | undefined>(undefined);
  const samples = useStore(useSamples(), (states) => states);
  const all = useMemo(() => candidatesOf(document, schema, samplesRead(samples), from), [document, schema, samples, from]);
  const shown = useMemo(() => {
    const found = all.filter(({ name }) => name.toLowerCase().includes(find.trim().toLowerCase())).slice(0, MOST_SHOWN);
    const targets = found.map((one): Target => ({ ...one, verdict: mayConnect(document, schema, from, one.end) }));
    return targets.sort((a, b) => Number(b.verdict.ok) - Number(a.verdict.ok));
  }, [all, document, schema, from, find]);
  const close = (): void => editor.connectFrom(undefined);
  const target = shown[chosen];
  const connect = (): void => {
    const iri = writtenIri(document, predicate);
    if (target === undefined) setError(WORDS.chooseTarget);
    else if (predicate.trim() !== '' && iri === undefined) setError(WORDS.wrongPredicate);
    else {
      const options = iri === undefined ? {} : { options: { predicates: [iri] } };
      const refusal = editor.dispatch('connect', { schema, from, to: target.end, ...options });
      if (refusal === undefined) close();
      else setError(refusal.sentence);
    }
  };
  const move = (event: KeyboardEvent): void => {
    if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return;
    event.preventDefault();
    setChosen((now) => Math.max(0, Math.min(shown.length - 1, now + (event.key === 'ArrowDown' ? 1 : -1))));
  };
  return (
    <Dialog
      title={WORDS.connectTitle(endName(document, from))}
      onClose={close}
      onSubmit={connect}
      footer={
        <>
          <Button onClick={close}>{WORDS.cancel}</Button>
          <Button kind="primary" submits>
            {WORDS.connectButton}
          </Button>
        </>
      }
    >
      <Field
        label={WORDS.target}
        value={find}
        error={error}
        role="combobox"
        aria-expanded="true"
        aria-controls={id}
        aria-activedescendant={target === undefined ? undefined : `${id}-${chosen}`}
        onKeyDown={move}
        onChange={(event) => {
          setFind(event.target.value);
          setChosen(0);
        }}
      />
      <div id={id} className="targets" role="listbox" aria-label={WORDS.targets}>
        {shown.map(({ key, name, verdict }, i) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: keys go to the field above
          <div
            key={key}
            id={`${id}-${i}`}
            role="option"
            tabIndex={-1}
            aria-selected={i === chosen}
            className={verdict.ok ? undefined : 'refused'}
            onClick={() => setChosen(i)}
          >
            <span className="name">{name}</span>
            <span className="small">{verdict.ok ? (verdict.note ?? WORDS.makes[verdict.makes]) : verdict.sentence}</span>
          </div>
        ))}
      </div>
      <Field
        label={WORDS.predicate}
        hint={WORDS.predicateHint}
        value={predicate}
        options={matchingOf(options(), predicate)}
        onChange={(event) => setPredicate(event.target.value)}
      />
    </Dialog>
  );
}

/**
 * Elements, then fields: of the input where the line begins, those of the single object that it begins in. A single object is linked within
 * itself alone (rule R6): other fields are not offered.
 */
function candidatesOf(document: StudioDocument, schema: Schema, samples: ReadonlyMap<Id, Sample>, from: End): readonly Candidate[] {
  const side = sideOf(document, schema, from);
  const begin = side === undefined || isRefusal(side) ? undefined : side;
  const pathIn = (input: string, path: Path): Path => (begin?.input?.id === input ? inObjectOf(begin.base, path) : path);
  const canvas: Candidate = { key: 'canvas', name: WORDS.canvas, end: { kind: 'canvas' } };
  const elements = [...recordsOf(document, 'entity'), ...recordsOf(document, 'attribute')].map(({ id }): Candidate => {
    const end: End = { kind: 'element', id };
    return { key: id, name: endName(document, end), end };
  });
  const { input, base = [] } = begin ?? {};
  if (input !== undefined && viewOf(base) === 'ungrouped') {
    const object = base.slice(0, base.findIndex((step) => 'index' in step) + 1);
    const lists = listsOf(samples.get(input.id), itemsUsed(document, input.id));
    const own = pathsIn(schema.get(input.id) ?? new Map(), lists, object).map((path): Candidate => {
      const name = `${input.name} › ${writtenName(path.slice(object.length), input.format)}`;
      return { key: `${input.id}:${pathKey(path)}`, name, end: { kind: 'field', ref: { input: input.id, path } } };
    });
    return [...elements, ...own, canvas];
  }
  const fields = recordsOf(document, 'input').flatMap(({ id }) =>
    [...(schema.get(id)?.values() ?? [])].filter(isNamed).map((field): Candidate => {
      const path = pathIn(id, field.path);
      const end: End = { kind: 'field', ref: { input: id, path } };
      return { key: `${id}:${pathKey(path)}`, name: endName(document, end), end };
    }),
  );
  return [...elements, ...fields, canvas];
}

/** The root of a document and items without a name stand for the list or input that they are in. */
const isNamed = ({ path, holds }: SchemaField): boolean => {
  const last = path.at(-1);
  return holds === 'value' || (last !== undefined && !('each' in last));
};

function endName(document: StudioDocument, end: End): string {
  switch (end.kind) {
    case 'canvas':
      return WORDS.canvas;
    case 'field':
      return `${nameOf(document, end.ref.input)} › ${fieldName(end.ref.path)}`;
    case 'element':
    case 'input':
      return nameOf(document, end.id);
  }
}
