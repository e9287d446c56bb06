/** The canvas as a tree, which can do everything that the canvas can. Both share one selection. */
import { type KeyboardEvent, type ReactNode, useMemo, useState } from 'react';
import { recordOf } from '../../core/elements/records.ts';
import { Empty } from '../parts/empty.tsx';
import { Icon, type IconName } from '../parts/icon.tsx';
import { Menu, type MenuItem } from '../parts/menu.tsx';
import { Tree } from '../parts/tree.tsx';
import { useDocument, useEditor, useEditorState } from '../store/context.tsx';
import type { Editor } from '../store/editor.ts';
import './outline.css';
import { type OutlineRow, outlineOf } from './rows.ts';
import { WORDS } from './words.ts';

export default function OutlineTab(): ReactNode {
  const editor = useEditor();
  const document = useDocument();
  const elements = useEditorState((state) => state.selection.elements);
  const [find, setFind] = useState('');
  const [closed, setClosed] = useState<ReadonlySet<string>>(new Set());
  const [menu, setMenu] = useState<{ readonly row: OutlineRow; readonly x: number; readonly y: number } | undefined>(undefined);
  const rows = useMemo(() => outlineOf(document, closed, find), [document, closed, find]);
  const selected = useMemo(() => new Set(elements), [elements]);
  const toggle = ({ key }: OutlineRow, isOpen: boolean): void =>
    setClosed((all) => new Set(isOpen ? [...all].filter((one) => one !== key) : [...all, key]));
  const select = ({ element }: OutlineRow, extend: boolean): void => {
    const others = elements.filter((id) => id !== element);
    if (!extend) editor.select({ elements: [element], fields: [] });
    else editor.select({ elements: others.length === elements.length ? [...elements, element] : others });
  };
  const press = (event: KeyboardEvent, row: OutlineRow): boolean => {
    const item = itemsOf(editor, row, elements).find(({ press: key }) => key?.(event));
    item?.onChoose();
    return item !== undefined;
  };
  return (
    <div className="outline">
      <div className="panel-bar">
        <input
          type="search"
          className="entry"
          aria-label={WORDS.find}
          placeholder={WORDS.find}
          value={find}
          onChange={(event) => setFind(event.target.value)}
        />
      </div>
      {rows.length === 0 ? (
        <Empty title={find === '' ? WORDS.empty : WORDS.noneFound(find)}>{find === '' ? WORDS.emptyHint : undefined}</Empty>
      ) : (
        <Tree
          label={WORDS.tree}
          rows={rows}
          selected={selected}
          onToggle={toggle}
          onSelect={select}
          onActivate={(row, at) => {
            select(row, false);
            setMenu({ row, ...at });
          }}
          onKey={press}
        >
          {({ kind, text, detail }) => (
            <span className="line" aria-hidden="true">
              <span className={`sign ${kind}`}>
                <Icon name={SIGNS[kind] ?? 'value'} />
              </span>
              <span className="name grow">{text}</span>
              <span className="small muted">{detail}</span>
            </span>
          )}
        </Tree>
      )}
      {menu !== undefined && (
        <Menu
          label={WORDS.menuOf(menu.row.text)}
          items={itemsOf(editor, menu.row, elements)}
          at={menu}
          onClose={() => setMenu(undefined)}
        />
      )}
    </div>
  );
}

const SIGNS: Partial<Record<OutlineRow['kind'], IconName>> = {
  entity: 'entity',
  attribute: 'attribute',
  edge: 'edge',
  graph: 'object',
  text: 'file',
};

interface Item extends MenuItem {
  readonly press?: (event: KeyboardEvent) => boolean;
}

const letter = (key: string) => (event: KeyboardEvent) => event.key.toLowerCase() === key && !event.ctrlKey && !event.metaKey;

/** What can be done with a row, and with everything that is selected beside it. */
function itemsOf(editor: Editor, { element, kind }: OutlineRow, selected: readonly string[]): readonly Item[] {
  const { document } = editor.get().session;
  const edge = recordOf(document, 'edge', element);
  const ids = selected.includes(element) ? selected : [element];
  // An attribute stands in the tree as the edge that leads to it.
  const block = edge !== undefined && kind === 'attribute' ? edge.to : element;
  const blocks = ids.map((id) => recordOf(document, 'edge', id)?.to ?? id);
  const items: (Item | undefined)[] = [
    kind === 'entity' || kind === 'attribute'
      ? { label: WORDS.connect, keys: 'C', press: letter('c'), onChoose: () => editor.connectFrom({ kind: 'element', id: block }) }
      : undefined,
    kind === 'attribute'
      ? { label: WORDS.makeEntity, keys: 'E', press: letter('e'), onChoose: () => void editor.dispatch('add-entity', { attribute: block }) }
      : undefined,
    kind === 'entity'
      ? { label: WORDS.rename, keys: 'F2', press: ({ key }) => key === 'F2', onChoose: () => editor.rename(element) }
      : undefined,
    edge !== undefined && kind === 'edge'
      ? { label: WORDS.reverse, keys: 'R', press: letter('r'), onChoose: () => void editor.dispatch('reverse', { edge: element }) }
      : undefined,
    kind === 'entity' || kind === 'attribute'
      ? {
          label: WORDS.duplicate,
          keys: 'Ctrl+D',
          press: ({ key, ctrlKey, metaKey }) => key.toLowerCase() === 'd' && (ctrlKey || metaKey),
          onChoose: () => void editor.dispatch('duplicate', { ids: blocks }),
        }
      : undefined,
    {
      label: WORDS.remove,
      keys: 'Del',
      press: ({ key }) => key === 'Delete' || key === 'Backspace',
      onChoose: () => void editor.dispatch('remove', { ids: kind === 'attribute' ? blocks : ids }),
    },
  ];
  return items.filter((item) => item !== undefined);
}
