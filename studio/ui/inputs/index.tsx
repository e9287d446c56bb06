/** The tab of inputs: files, tables and queries with their fields, each with its switch of grouping beside its name (rule R5). */
import { type DragEvent, type ReactNode, useMemo, useState } from 'react';
import type { Id, Input } from '../../core/document.ts';
import { recordsOf } from '../../core/elements/records.ts';
import { pathKey } from '../../core/levels.ts';
import { Button } from '../parts/button.tsx';
import { Empty } from '../parts/empty.tsx';
import { FieldLine } from '../parts/fields/line.tsx';
import { type FieldRow, hasSwitch, type InputRow, type Row, rowsOf } from '../parts/fields/rows.ts';
import { WORDS as FIELD_WORDS } from '../parts/fields/words.ts';
import { Icon } from '../parts/icon.tsx';
import { Menu, type MenuItem } from '../parts/menu.tsx';
import { Switch } from '../parts/switch.tsx';
import { Tree } from '../parts/tree.tsx';
import { useDocument, useEditor, useEditorState, useSamples } from '../store/context.tsx';
import { FIELD_TYPE } from '../store/page/drag.ts';
import { useStore } from '../store/store.ts';
import { AddInput } from './add-input.tsx';
import { Uploads, useUploads } from './uploads.tsx';
import './inputs.css';
import { WORDS } from './words.ts';

export default function InputsTab(): ReactNode {
  const editor = useEditor();
  const document = useDocument();
  const schema = useEditorState((state) => state.schema);
  const selection = useEditorState((state) => state.selection);
  const role = useEditorState((state) => state.role);
  const [find, setFind] = useState('');
  const [closed, setClosed] = useState<ReadonlySet<Id>>(new Set());
  const [opened, setOpened] = useState<ReadonlySet<string>>(new Set());
  const [isAdding, setAdding] = useState(false);
  const [menu, setMenu] = useState<{ readonly row: Row; readonly x: number; readonly y: number } | undefined>(undefined);
  const uploads = useUploads();
  const inputs = recordsOf(document, 'input');
  // Inputs are open until they are closed, levels below them closed until they are opened.
  const open = useMemo(() => new Set([...opened, ...inputs.map(({ id }) => id).filter((id) => !closed.has(id))]), [opened, closed, inputs]);
  const samples = useStore(useSamples(), (all) => all);
  const lengths = useMemo(
    () => new Map([...samples].flatMap(([id, state]) => (state.kind === 'read' ? [[id, state.sample.longest] as const] : []))),
    [samples],
  );
  const rows = useMemo(() => rowsOf(inputs, schema, lengths, open, find), [inputs, schema, lengths, open, find]);
  const selected = useMemo(
    () => new Set([...selection.elements, ...selection.fields.map(({ input, path }) => `${input}:${pathKey(path)}`)]),
    [selection],
  );
  const toggle = (row: Row, isOpen: boolean): void => {
    if (row.kind === 'input') setClosed((all) => changed(all, row.key, !isOpen));
    else setOpened((all) => changed(all, row.key, isOpen));
  };
  const select = (row: Row, extend: boolean): void => {
    const now = extend ? selection : { elements: [], fields: [] };
    if (row.kind === 'input') editor.select({ ...now, elements: toggled(now.elements, row.input.id, (a, b) => a === b) });
    else
      editor.select({ ...now, fields: toggled(now.fields, row.ref, (a, b) => a.input === b.input && pathKey(a.path) === pathKey(b.path)) });
  };
  const drop = (event: DragEvent): void => {
    if (event.dataTransfer.files.length === 0) return;
    event.preventDefault();
    uploads.add([...event.dataTransfer.files]);
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: dropping a file is one of the ways; the button is the other one
    <div className="inputs" onDrop={drop} onDragOver={(event) => event.dataTransfer.types.includes('Files') && event.preventDefault()}>
      <div className="panel-bar">
        <Button icon="add" disabled={role === 'viewer' && WORDS.samplesNeed} onClick={() => setAdding(true)}>
          {WORDS.add}
        </Button>
        <input
          type="search"
          className="entry"
          aria-label={WORDS.find}
          placeholder={WORDS.find}
          value={find}
          onChange={(event) => setFind(event.target.value)}
        />
      </div>
      {role === 'viewer' && <p className="muted pad">{WORDS.samplesNeed}</p>}
      <Uploads uploads={uploads} />
      {inputs.length === 0 ? (
        <Empty title={WORDS.empty}>{WORDS.emptyHint}</Empty>
      ) : rows.length === 0 ? (
        <Empty title={WORDS.noneFound(find)} />
      ) : (
        <Tree
          label={WORDS.tree}
          rows={rows}
          selected={selected}
          onToggle={toggle}
          onSelect={select}
          onActivate={(row, at) => setMenu({ row, ...at })}
          onKey={({ key }, row) => act(editor, row, key)}
          draggable={(row) =>
            row.kind === 'field' ? { type: FIELD_TYPE, data: JSON.stringify(draggedWith(row, selection.fields)) } : undefined
          }
        >
          {(row) => (row.kind === 'input' ? <InputLine row={row} /> : <FieldLine field={row.field} text={row.text} />)}
        </Tree>
      )}
      {menu !== undefined && <RowMenu {...menu} onClose={() => setMenu(undefined)} />}
      {isAdding && <AddInput uploads={uploads} onClose={() => setAdding(false)} />}
    </div>
  );
}

function changed(all: ReadonlySet<string>, key: string, isIn: boolean): ReadonlySet<string> {
  const next = new Set(all);
  if (isIn) next.add(key);
  else next.delete(key);
  return next;
}

const toggled = <T,>(all: readonly T[], one: T, same: (a: T, b: T) => boolean): readonly T[] =>
  all.some((other) => same(other, one)) ? all.filter((other) => !same(other, one)) : [...all, one];

/** Dragging a field that is selected drags all that are. */
function draggedWith({ ref }: FieldRow, selected: readonly FieldRow['ref'][]): readonly FieldRow['ref'][] {
  const isSelected = selected.some((one) => one.input === ref.input && pathKey(one.path) === pathKey(ref.path));
  return isSelected ? selected : [ref];
}

/** E, A, J and G on a row. @returns whether the key is one of them */
function act(editor: ReturnType<typeof useEditor>, row: Row, key: string): boolean {
  const { schema } = editor.get();
  if (key.toLowerCase() === 'g') {
    if (hasSwitch(row.input)) editor.dispatch('set-grouping', { id: row.input.id, grouped: !row.input.grouped });
    return true;
  }
  if (row.kind === 'input') return false;
  switch (key.toLowerCase()) {
    case 'e':
      editor.dispatch('add-entity', { schema, at: row.ref });
      return true;
    case 'a':
      editor.dispatch('add-attribute', { schema, at: row.ref });
      return true;
    case 'j':
    case 'c':
      editor.connectFrom({ kind: 'field', ref: row.ref });
      return true;
    default:
      return false;
  }
}

function RowMenu({
  row,
  x,
  y,
  onClose,
}: {
  readonly row: Row;
  readonly x: number;
  readonly y: number;
  readonly onClose: () => void;
}): ReactNode {
  const editor = useEditor();
  const samples = useSamples();
  const items: readonly MenuItem[] =
    row.kind === 'input'
      ? [
          ...(hasSwitch(row.input) ? [{ label: WORDS.grouped, keys: 'G', onChoose: () => void act(editor, row, 'g') }] : []),
          { label: WORDS.deeper, onChoose: () => samples.read(row.input.id, true) },
          { label: WORDS.remove, onChoose: () => void editor.dispatch('remove-input', { id: row.input.id }) },
        ]
      : [
          { label: row.field.holds === 'value' ? WORDS.entity : WORDS.entityOfEach, keys: 'E', onChoose: () => void act(editor, row, 'e') },
          ...(row.field.holds === 'value'
            ? [
                { label: WORDS.attribute, keys: 'A', onChoose: () => void act(editor, row, 'a') },
                { label: WORDS.connect, keys: 'C', onChoose: () => void act(editor, row, 'c') },
              ]
            : []),
        ];
  return <Menu label={WORDS.menuOf(row.name)} items={items} at={{ x, y }} onClose={onClose} />;
}

function InputLine({ row: { input } }: { readonly row: InputRow }): ReactNode {
  const editor = useEditor();
  const samples = useSamples();
  const state = useStore(samples, (all) => all.get(input.id));
  return (
    <>
      <Icon name={input.format === 'sql' ? 'table' : 'file'} />
      <strong
        className="grow name"
        title={state?.kind === 'read' ? WORDS.records(state.sample.records, state.sample.complete) : input.name}
      >
        {input.name}
      </strong>
      <InputState input={input} />
      {hasSwitch(input) ? (
        <Switch
          name={WORDS.groupingOf(input.name)}
          label={WORDS.grouped}
          on={input.grouped}
          onSwitch={(grouped) => editor.dispatch('set-grouping', { id: input.id, grouped })}
        />
      ) : (
        <span className="muted small" aria-hidden="true" title={WORDS.flatHint}>
          {FIELD_WORDS.flat}
        </span>
      )}
    </>
  );
}

function InputState({ input: { id, name } }: { readonly input: Input }): ReactNode {
  const samples = useSamples();
  const state = useStore(samples, (all) => all.get(id));
  if (state?.kind === 'reading') {
    return (
      <>
        <span className="muted small" role="img" aria-label={WORDS.readingOf(name)}>
          {WORDS.reading}
        </span>
        <Button kind="quiet" icon="close" label={WORDS.stop} onClick={() => samples.stop(id)} />
      </>
    );
  }
  if (state?.kind !== 'failed') return null;
  const { sentence, hint } = state.trouble;
  return (
    <>
      <span className="trouble" title={[sentence, hint].filter(Boolean).join(' ')}>
        {WORDS.failed}
      </span>
      <Button kind="quiet" icon="redo" label={WORDS.tryAgain} onClick={() => samples.read(id)} />
    </>
  );
}
