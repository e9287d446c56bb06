/** Keys of the canvas. The focus is on the canvas, on a block, or on a row of a block. */
import type { KeyboardEvent } from 'react';
import type { Id } from '../../core/document.ts';
import { recordOf } from '../../core/elements/records.ts';
import type { End } from '../../core/rules/verdict.ts';
import type { Point } from '../parts/layout/layout.ts';
import { DIRECTIONS, nearest } from '../parts/layout/nearest.ts';
import { announce } from '../store/announcements.ts';
import type { Editor } from '../store/editor.ts';
import { endOf } from './drawing.tsx';
import type { FlowControls } from './flow.tsx';
import type { Scene } from './scene.ts';
import type { Views } from './views.ts';
import { WORDS } from './words.ts';

export interface Here {
  readonly editor: Editor;
  readonly flow: FlowControls;
  readonly scene: Scene;
  readonly points: ReadonlyMap<Id, Point>;
  readonly layOut: () => void;
  readonly toggleMap: () => void;
  readonly views: Views;
}

/** What has the focus. */
interface Focus {
  readonly canvas: HTMLElement;
  readonly block: HTMLElement | undefined;
  /** A field, an attribute or an edge. */
  readonly row: HTMLElement | undefined;
}

const STEP = 8;
const FAR_STEP = 64;
const ZOOM = 1.25;

/** A key that the canvas uses does nothing else. */
export function pressed(event: KeyboardEvent<HTMLElement>, here: Here): void {
  const target = event.target as HTMLElement;
  if (target.closest('button, input, select, textarea') !== null || event.altKey) return;
  const focus: Focus = {
    canvas: event.currentTarget,
    block: target.closest<HTMLElement>('[data-block]') ?? undefined,
    row: target.closest<HTMLElement>('li') ?? undefined,
  };
  const isCommand = event.ctrlKey || event.metaKey;
  const isUsed = isCommand ? commandPressed(event, focus, here) : focus.row ? rowPressed(event, focus, here) : false;
  if (isUsed || (!isCommand && plainPressed(event, focus, here))) {
    event.preventDefault();
    event.stopPropagation();
  }
}

function commandPressed({ key, shiftKey }: KeyboardEvent, { block }: Focus, here: Here): boolean {
  const { editor, scene, points } = here;
  const direction = DIRECTIONS[key];
  const { elements } = editor.get().selection;
  if (direction !== undefined) {
    const ids = scene.blocks.map(({ id }) => id).filter((id) => elements.includes(id) || id === block?.dataset.block);
    const step = shiftKey ? FAR_STEP : STEP;
    const positions = ids.flatMap((of) => {
      const point = points.get(of);
      return point === undefined ? [] : [{ of, x: point.x + direction.x * step, y: point.y + direction.y * step }];
    });
    if (positions.length > 0) editor.dispatch('move', { positions });
    return true;
  }
  switch (key.toLowerCase()) {
    case 'a':
      editor.select({ elements: scene.blocks.map(({ id }) => id), fields: [] });
      return true;
    case 'd':
      editor.dispatch('duplicate', { ids: elements });
      return true;
    default:
      return false;
  }
}

function plainPressed({ key, shiftKey }: KeyboardEvent, focus: Focus, here: Here): boolean {
  const { editor, flow, scene, points } = here;
  const { elements, fields } = editor.get().selection;
  const id = focus.block?.dataset.block;
  const direction = DIRECTIONS[key];
  if (direction !== undefined) {
    const next = id === undefined ? scene.blocks[0]?.id : nearest(id, direction, points);
    if (next !== undefined) goTo(focus.canvas, next, here, shiftKey);
    return true;
  }
  switch (key) {
    case 'Home':
    case 'End': {
      const next = scene.blocks.at(key === 'Home' ? 0 : -1)?.id;
      if (next !== undefined) goTo(focus.canvas, next, here, false);
      return true;
    }
    case 'Enter':
      rowsIn(focus.block)[0]?.focus();
      return true;
    case 'Escape':
      if (id === undefined) return false;
      focus.canvas.focus();
      return true;
    case ' ':
      if (id !== undefined) editor.select({ elements: elements.includes(id) ? elements.filter((one) => one !== id) : [...elements, id] });
      return true;
    case 'F2':
      if (id !== undefined) editor.rename(id);
      return true;
    case 'Delete':
    case 'Backspace':
      if (elements.length > 0) editor.dispatch('remove', { ids: elements });
      return true;
    case '+':
    case '-':
      flow.zoomBy(key === '+' ? ZOOM : 1 / ZOOM);
      return true;
    case '0':
      flow.zoomTo(1);
      return true;
    case '1':
      flow.fit(elements);
      return true;
  }
  switch (key.toLowerCase()) {
    case 'c':
      connect(id === undefined ? undefined : endOf(scene, { block: id }), editor);
      return true;
    case 'r':
      for (const one of elements) if (recordOf(editor.get().session.document, 'edge', one)) editor.dispatch('reverse', { edge: one });
      return true;
    case 'n': {
      const [at] = fields;
      if (at === undefined) announce(WORDS.selectFirst, 'assertive');
      else editor.dispatch('add-entity', { schema: editor.get().schema, at });
      return true;
    }
    case 'm':
      here.toggleMap();
      return true;
    case 'l':
      here.layOut();
      return true;
    case 'f': {
      const block = scene.blocks.find((one) => one.id === id);
      if (block?.kind === 'input') here.views.showAll(block.id, !block.showsAll);
      return true;
    }
    default:
      return false;
  }
}

function rowPressed({ key }: KeyboardEvent, { block, row }: Focus, { editor, scene, views }: Here): boolean {
  const rows = rowsIn(block);
  const at = rows.indexOf(row as HTMLElement);
  const { row: edge, field } = (row as HTMLElement).dataset;
  const id = block?.dataset.block ?? '';
  switch (key) {
    case 'ArrowUp':
    case 'ArrowDown':
      rows[at + (key === 'ArrowUp' ? -1 : 1)]?.focus();
      return true;
    case 'ArrowLeft':
    case 'ArrowRight':
      if (field !== undefined) views.open(field, key === 'ArrowRight');
      return true;
    case 'Escape':
      block?.focus();
      return true;
    case 'Enter':
    case ' ':
      (row as HTMLElement).click();
      return true;
    case 'Delete':
    case 'Backspace':
      if (edge !== undefined) editor.dispatch('remove', { ids: [(row as HTMLElement).dataset.element ?? edge] });
      block?.focus();
      return true;
  }
  switch (key.toLowerCase()) {
    case 'c':
      connect(endOf(scene, { block: id, ...(field !== undefined && { field }) }), editor);
      return true;
    case 'r':
      if (edge !== undefined) editor.dispatch('reverse', { edge });
      return true;
    case 'e':
    case 'a': {
      const end = field === undefined ? undefined : endOf(scene, { block: id, field });
      if (end?.kind !== 'field') return false;
      editor.dispatch(key.toLowerCase() === 'e' ? 'add-entity' : 'add-attribute', { schema: editor.get().schema, at: end.ref });
      return true;
    }
    default:
      return false;
  }
}

function connect(from: End | undefined, editor: Editor): void {
  if (from !== undefined && from.kind !== 'input') editor.connectFrom(from);
}

const rowsIn = (block: HTMLElement | undefined): readonly HTMLElement[] => [...(block?.querySelectorAll<HTMLElement>('li') ?? [])];

function goTo(canvas: HTMLElement, id: Id, { editor, flow }: Here, extend: boolean): void {
  const { elements } = editor.get().selection;
  editor.select({ elements: extend ? [...elements.filter((one) => one !== id), id] : [id], fields: [] });
  const find = (): HTMLElement | null => canvas.querySelector(`[data-block="${CSS.escape(id)}"]`);
  const block = find();
  const view = canvas.getBoundingClientRect();
  const box = block?.getBoundingClientRect();
  const isSeen = box !== undefined && box.left >= view.left && box.right <= view.right && box.top >= view.top && box.bottom <= view.bottom;
  if (!isSeen) flow.fit([id]);
  block?.focus({ preventScroll: true });
  // One that was not drawn is drawn now.
  if (block === null) requestAnimationFrame(() => find()?.focus({ preventScroll: true }));
}
