/** The tab of inputs: files, tables and queries with their fields, each with its switch of grouping beside its name (rule R5). */
import { type ReactNode, useMemo, useState } from 'react';
import { saidOf } from '../../client/service.ts';
import type { Id, Input } from '../../core/document.ts';
import { itemsUsed } from '../../core/elements/items.ts';
import { recordsOf } from '../../core/elements/records.ts';
import { holds, valuesOf } from '../../core/elements/schema.ts';
import { pathKey } from '../../core/levels.ts';
import { Button } from '../parts/button.tsx';
import { Empty } from '../parts/empty.tsx';
import { FieldLine } from '../parts/fields/line.tsx';
import { type FieldRow, hasSwitch, type InputRow, type Lists, listsOf, type MoreRow, type Row, rowsOf } from '../parts/fields/rows.ts';
import { WORDS as FIELD_WORDS } from '../parts/fields/words.ts';
import { Icon } from '../parts/icon.tsx';
import { Menu, type MenuItem } from '../parts/menu.tsx';
import { Switch } from '../parts/switch.tsx';
import { Tree } from '../parts/tree.tsx';
import { useDocument, useEditor, useEditorState, useSamples } from '../store/context.tsx';
import { FEW_RECORDS } from '../store/editor.ts';
import { droppedFields, FIELD_TYPE } from '../store/page/drag.ts';
import { samplesRead } from '../store/samples.ts';
import { useStore } from '../store/store.ts';
import { AddInput } from './add-input.tsx';
import { type UploadList, Uploads } from './uploads.tsx';
import './inputs.css';
import { LookUp } from './look-up.tsx';
import { InputNotes } from './notes.tsx';
import { WORDS } from './words.ts';

export default function InputsTab({ uploads }: { readonly uploads: UploadList }): ReactNode {
  const editor = useEditor();
  const document = useDocument();
  const schema = useEditorState((state) => state.schema);
  const selection = useEditorState((state) => state.selection);
  const role = useEditorState((state) => state.role);
  const [find, setFind] = useState('');
  const [closed, setClosed] = useState<ReadonlySet<Id>>(new Set());
  const [opened, setOpened] = useState<ReadonlySet<string>>(new Set());
  const [isAdding, setAdding] = useState(false);
  const [menu, setMenu] = useState<{ readonly row: InputRow | FieldRow; readonly x: number; readonly y: number } | undefined>(undefined);
  const [more, setMore] = useState<MoreRow | undefined>(undefined);
  const inputs = recordsOf(document, 'input');
  // Inputs are open until they are closed, levels below them closed until they are opened.
  const open = useMemo(() => new Set([...opened, ...inputs.map(({ id }) => id).filter((id) => !closed.has(id))]), [opened, closed, inputs]);
  const samples = useStore(useSamples(), (all) => all);
  const lists = useMemo(() => {
    const read = samplesRead(samples);
    const single = inputs.filter(({ grouped }) => !grouped);
    return new Map<Id, Lists>([...read, ...single.map(({ id }) => [id, listsOf(read.get(id), itemsUsed(document, id))] as const)]);
  }, [samples, document, inputs]);
  const rows = useMemo(() => rowsOf(inputs, schema, lists, open, find), [inputs, schema, lists, open, find]);
  const selected = useMemo(
    () => new Set([...selection.elements, ...selection.fields.map(({ input, path }) => `${input}:${pathKey(path)}`)]),
    [selection],
  );
  const toggle = (row: Row, isOpen: boolean): void => {
    if (row.kind === 'input') setClosed((all) => changed(all, row.key, !isOpen));
    else setOpened((all) => changed(all, row.key, isOpen));
  };
  const select = (row: Row, extend: boolean): void => {
    if (row.kind === 'more') {
      setMore(row);
      return;
    }
    const now = extend ? selection : { elements: [], fields: [] };
    if (row.kind === 'input') editor.select({ ...now, elements: toggled(now.elements, row.input.id, (a, b) => a === b) });
    else
      editor.select({ ...now, fields: toggled(now.fields, row.ref, (a, b) => a.input === b.input && pathKey(a.path) === pathKey(b.path)) });
  };
  return (
    <div className="inputs">
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
      <InputNotes inputs={inputs} />
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
          onActivate={(row, at) => (row.kind === 'more' ? setMore(row) : setMenu({ row, ...at }))}
          onKey={({ key }, row) => row.kind !== 'more' && act(editor, row, key)}
          droppable={{
            type: FIELD_TYPE,
            onto: (row) => row.kind === 'field' && row.field.holds === 'value',
            drop: (row, data) => row.kind === 'field' && joinByKeys(editor, droppedFields(data), row.ref),
          }}
          draggable={(row) =>
            row.kind === 'field' ? { type: FIELD_TYPE, data: JSON.stringify(draggedWith(row, selection.fields)) } : undefined
          }
        >
          {(row) =>
            row.kind === 'input' ? (
              <InputLine row={row} />
            ) : row.kind === 'more' ? (
              <span className="line muted" aria-hidden="true">
                {row.name}
              </span>
            ) : (
              <FieldLine field={row.field} text={row.text} />
            )
          }
        </Tree>
      )}
      {menu !== undefined && <RowMenu {...menu} onClose={() => setMenu(undefined)} />}
      {more !== undefined && <LookUp row={more} onClose={() => setMore(undefined)} />}
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

/** A field that is dropped on a field of another input: the entities of both are joined by them. Within one input it says nothing. */
function joinByKeys(editor: ReturnType<typeof useEditor>, [child, ...others]: readonly FieldRow['ref'][], parent: FieldRow['ref']): void {
  if (child === undefined || others.length > 0 || child.input === parent.input) return;
  const { schema } = editor.get();
  editor.dispatch('connect', { schema, from: { kind: 'field', ref: child }, to: { kind: 'field', ref: parent } });
}

/** E, A, J and G on a row. @returns whether the key is one of them */
function act(editor: ReturnType<typeof useEditor>, row: InputRow | FieldRow, key: string): boolean {
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
  readonly row: InputRow | FieldRow;
  readonly x: number;
  readonly y: number;
  readonly onClose: () => void;
}): ReactNode {
  const editor = useEditor();
  const schema = useEditorState((state) => state.schema);
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
          ...(holds(schema, valuesOf(schema, row.ref)) === 'value'
            ? [{ label: WORDS.attribute, keys: 'A', onChoose: () => void act(editor, row, 'a') }]
            : []),
          ...(row.field.holds === 'value' ? [{ label: WORDS.connect, keys: 'C', onChoose: () => void act(editor, row, 'c') }] : []),
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
      <LateInput input={input} />
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

/** Beside an input of which the preview has only what came in time: fewer records come sooner. */
function LateInput({ input }: { readonly input: Input }): ReactNode {
  const editor = useEditor();
  const { records, late, turn } = useEditorState(({ previewed }) => previewed);
  if (!late.some((name) => isNamed(input, name))) return null;
  const isFewest = records <= FEW_RECORDS;
  return (
    <Button
      className="trouble"
      title={WORDS.lateWhy(records)}
      onClick={() => editor.setPreviewed({ records: FEW_RECORDS, turn: turn + 1 })}
    >
      {isFewest ? WORDS.lateAgain : WORDS.lateFewer(FEW_RECORDS)}
    </Button>
  );
}

/** Whether an input is what the service calls so: an address, or the place of a file. */
function isNamed({ location }: Input, name: string): boolean {
  if (location.kind === 'table' || location.kind === 'query') return false;
  const own = (location.kind === 'file' ? location.path : location.url).replace(/#.*$/, '');
  return name === own || name.endsWith(`/${own}`);
}

function InputState({ input: { id, name, format, dialect } }: { readonly input: Input }): ReactNode {
  const editor = useEditor();
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
  if (state?.kind === 'read' && format === 'csv' && dialect?.delimiter === undefined) {
    const { delimiter } = state.sample;
    if (delimiter === undefined) return null;
    return (
      <Button
        className="trouble"
        title={WORDS.otherDelimiterWhy(delimiter, ',')}
        onClick={() => editor.dispatch('set-dialect', { id, dialect: { ...dialect, delimiter } })}
      >
        {WORDS.otherDelimiter(delimiter)}
      </Button>
    );
  }
  if (state?.kind !== 'failed') return null;
  return (
    <>
      <span className="trouble" title={saidOf(state.trouble)} role="img" aria-label={WORDS.failed}>
        <Icon name="warning" />
      </span>
      <Button kind="quiet" icon="redo" label={WORDS.tryAgain} onClick={() => samples.read(id)} />
    </>
  );
}
