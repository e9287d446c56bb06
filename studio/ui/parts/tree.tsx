/** A tree of which only the visible rows are in the page. Rows are flat and in order; the caller leaves out those below closed ones. */
import { type KeyboardEvent, type MouseEvent, type ReactNode, useEffect, useId, useLayoutEffect, useRef, useState } from 'react';
import type { TreeRow } from './fields/tree-row.ts';
import { Icon } from './icon.tsx';

export interface TreeProps<R extends TreeRow> {
  readonly label: string;
  readonly rows: readonly R[];
  readonly selected: ReadonlySet<string>;
  readonly onToggle: (row: R, open: boolean) => void;
  /** `extend`: beside those that are selected already. */
  readonly onSelect: (row: R, extend: boolean) => void;
  /** Enter, a double click, or the menu key. `at`: where a menu may open. */
  readonly onActivate: (row: R, at: { readonly x: number; readonly y: number }) => void;
  /** Keys that the tree does not use itself. @returns whether it was used */
  readonly onKey?: (event: KeyboardEvent, row: R) => boolean;
  /** What is seen of a row: what its name says already is hidden from screen readers. */
  readonly children: (row: R) => ReactNode;
  readonly draggable?: (row: R) => { readonly type: string; readonly data: string } | undefined;
  /** What may be dropped on rows. What is dragged is known when it is dropped. */
  readonly droppable?: { readonly type: string; readonly onto: (row: R) => boolean; readonly drop: (row: R, data: DataTransfer) => void };
}

export const ROW_HEIGHT = 28;
/** Rows above and below the visible ones. */
const MARGIN = 8;
/** Letters that follow each other within this time are one search. */
const TYPING_MS = 700;

export function Tree<R extends TreeRow>(props: TreeProps<R>): ReactNode {
  const { label, rows, selected, onSelect, onToggle, onActivate, children, draggable, droppable } = props;
  const id = useId();
  const ref = useRef<HTMLDivElement>(null);
  const [active, setActive] = useState<string | undefined>(undefined);
  const [over, setOver] = useState<string | undefined>(undefined);
  const [view, setView] = useState({ top: 0, height: 600 });
  const typed = useRef({ text: '', at: 0 });
  const found = rows.findIndex(({ key }) => key === active);
  const activeIndex = found < 0 ? 0 : found;

  useLayoutEffect(() => {
    const tree = ref.current;
    if (tree === null) return;
    const measure = (): void => setView({ top: tree.scrollTop, height: tree.clientHeight });
    const observer = new ResizeObserver(measure);
    observer.observe(tree);
    tree.addEventListener('scroll', measure, { passive: true });
    return () => {
      observer.disconnect();
      tree.removeEventListener('scroll', measure);
    };
  }, []);
  useEffect(() => {
    const tree = ref.current;
    if (tree === null || active === undefined) return;
    const [top, bottom] = [activeIndex * ROW_HEIGHT, (activeIndex + 1) * ROW_HEIGHT];
    if (top < tree.scrollTop) tree.scrollTop = top;
    else if (bottom > tree.scrollTop + tree.clientHeight) tree.scrollTop = bottom - tree.clientHeight;
  }, [active, activeIndex]);

  const goTo = (index: number): void => setActive(rows[Math.max(0, Math.min(index, rows.length - 1))]?.key);
  const parentOf = (index: number): number => rows.findLastIndex(({ level }, i) => i < index && level < (rows[index]?.level ?? 0));
  const press = (event: KeyboardEvent): void => {
    const row = rows[activeIndex];
    if (row === undefined || event.target !== ref.current) return;
    if (used(event, row)) {
      event.preventDefault();
      event.stopPropagation();
    }
  };
  const used = (event: KeyboardEvent, row: R): boolean => {
    const { key, shiftKey } = event;
    const isPlain = !event.ctrlKey && !event.metaKey && !event.altKey;
    if (key.length !== 1) typed.current.text = '';
    if (!isPlain) return props.onKey?.(event, row) ?? false;
    switch (key) {
      case 'ArrowDown':
      case 'ArrowUp': {
        const index = Math.max(0, Math.min(activeIndex + (key === 'ArrowDown' ? 1 : -1), rows.length - 1));
        goTo(index);
        const next = rows[index];
        if (shiftKey && next !== undefined) onSelect(next, true);
        return true;
      }
      case 'Home':
        goTo(0);
        return true;
      case 'End':
        goTo(rows.length - 1);
        return true;
      case 'ArrowRight':
        if (row.isOpen === false) onToggle(row, true);
        else if (row.isOpen) goTo(activeIndex + 1);
        return true;
      case 'ArrowLeft':
        if (row.isOpen) onToggle(row, false);
        else if (parentOf(activeIndex) >= 0) goTo(parentOf(activeIndex));
        return true;
      case '*':
        for (const one of neighboursOf(rows, activeIndex)) if (one.isOpen === false) onToggle(one, true);
        return true;
      case ' ':
        onSelect(row, true);
        return true;
      case 'Enter': {
        const box = ref.current?.querySelector('.active')?.getBoundingClientRect();
        onActivate(row, { x: (box?.left ?? 0) + 40, y: box?.bottom ?? 0 });
        return true;
      }
      default:
        // A letter that goes on with a name is no command.
        if (key.length === 1 && typed.current.text !== '' && performance.now() - typed.current.at < TYPING_MS) return find(key);
        return (props.onKey?.(event, row) ?? false) || (key.length === 1 && find(key));
    }
  };
  const find = (letter: string): boolean => {
    const now = performance.now();
    const text = (now - typed.current.at < TYPING_MS ? typed.current.text : '') + letter.toLowerCase();
    typed.current = { text, at: now };
    const order = rows.map((_, i) => (activeIndex + (text.length === 1 ? 1 : 0) + i) % rows.length);
    const hit = order.find((i) => rows[i]?.name.toLowerCase().startsWith(text));
    if (hit !== undefined) goTo(hit);
    return true;
  };
  const first = Math.max(0, Math.floor(view.top / ROW_HEIGHT) - MARGIN);
  const last = Math.min(rows.length, Math.ceil((view.top + view.height) / ROW_HEIGHT) + MARGIN);
  const shown = rows.slice(first, last);
  const activeRow = rows[activeIndex];
  const isShown = activeIndex >= first && activeIndex < last;

  return (
    <div
      ref={ref}
      className="tree"
      role="tree"
      aria-label={label}
      aria-multiselectable="true"
      tabIndex={0}
      aria-activedescendant={activeRow !== undefined && isShown ? `${id}-${activeIndex}` : undefined}
      onKeyDown={press}
    >
      <div className="rows" role="presentation" style={{ height: rows.length * ROW_HEIGHT }}>
        {shown.map((row, i) => {
          const index = first + i;
          const drag = draggable?.(row);
          const takes = (data: DataTransfer): boolean => droppable?.onto(row) === true && data.types.includes(droppable.type);
          return (
            // biome-ignore lint/a11y/useFocusableInteractive: the tree has the focus, and names its active row
            // biome-ignore lint/a11y/useKeyWithClickEvents: keys go to the tree
            <div
              key={row.key}
              id={`${id}-${index}`}
              role="treeitem"
              aria-level={row.level}
              aria-posinset={row.position}
              aria-setsize={row.size}
              aria-expanded={row.isOpen}
              aria-selected={selected.has(row.key)}
              className={[index === activeIndex && 'active', row.key === over && 'over'].filter(Boolean).join(' ') || undefined}
              style={{ top: index * ROW_HEIGHT, '--depth': row.level - 1 } as React.CSSProperties}
              draggable={drag !== undefined}
              onDragStart={(event) => {
                if (drag === undefined) return;
                event.dataTransfer.setData(drag.type, drag.data);
                event.dataTransfer.effectAllowed = 'copyLink';
              }}
              onDragOver={(event) => {
                if (!takes(event.dataTransfer)) return;
                event.preventDefault();
                setOver(row.key);
              }}
              onDragLeave={() => setOver(undefined)}
              onDragEnd={() => setOver(undefined)}
              onDrop={(event) => {
                if (!takes(event.dataTransfer)) return;
                event.preventDefault();
                setOver(undefined);
                droppable?.drop(row, event.dataTransfer);
              }}
              onClick={(event: MouseEvent) => {
                setActive(row.key);
                onSelect(row, event.shiftKey || event.ctrlKey || event.metaKey);
              }}
              onDoubleClick={(event) => onActivate(row, { x: event.clientX, y: event.clientY })}
              onContextMenu={(event) => {
                event.preventDefault();
                setActive(row.key);
                onActivate(row, { x: event.clientX, y: event.clientY });
              }}
            >
              {/* biome-ignore lint/a11y/noStaticElementInteractions: a pointer's way to what the arrows do */}
              {/* biome-ignore lint/a11y/useKeyWithClickEvents: arrows open and close */}
              <span
                className="twist"
                onClick={(event) => {
                  if (row.isOpen === undefined) return;
                  event.stopPropagation();
                  setActive(row.key);
                  onToggle(row, !row.isOpen);
                }}
              >
                {row.isOpen !== undefined && <Icon name="open" />}
              </span>
              <span className="hidden">{row.name}</span>
              {children(row)}
            </div>
          );
        })}
      </div>
    </div>
  );
}

/** The rows with the same parent, itself included. */
function neighboursOf<R extends TreeRow>(rows: readonly R[], index: number): readonly R[] {
  const level = rows[index]?.level ?? 1;
  const from = rows.findLastIndex((row, i) => i < index && row.level < level) + 1;
  const end = rows.findIndex((row, i) => i > index && row.level < level);
  return rows.slice(from, end < 0 ? rows.length : end).filter((row) => row.level === level);
}
