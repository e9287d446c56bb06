/** Drawing a line: where it begins, what the rules say of where the pointer is, and what comes of letting go. */
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { addedIn } from '../../core/commands/command.ts';
import { mayConnect } from '../../core/connect/may-connect.ts';
import type { FieldRef, Id } from '../../core/document.ts';
import type { End, Verdict } from '../../core/rules/verdict.ts';
import type { Point } from '../parts/layout/layout.ts';
import { useEditor } from '../store/context.tsx';
import { makeStore, type Store, useStore } from '../store/store.ts';
import { type Under, underPoint } from './blocks.tsx';
import { placingNew } from './drop.ts';
import { OUT } from './flow.tsx';
import type { Scene } from './scene.ts';
import { WORDS } from './words.ts';

/** What the rules say of what is under the pointer, and where that is. */
interface Said {
  readonly verdict: Verdict;
  readonly at: Point;
}

export interface Drawing {
  begin(block: Id, port: string): void;
  end(at: Point): void;
  /** It changes with the pointer: only the note looks at it. */
  readonly said: Store<Said | undefined>;
}

interface Hooks {
  /** An edge between entities was drawn that has no predicate yet. */
  readonly drawn: (edge: Id) => void;
  /** A field was dragged to an empty place. */
  readonly dropped: (field: FieldRef, at: Point) => void;
  readonly pointAt: (at: Point) => Point;
}

/** What a place of the page stands for. @returns undefined: nothing can be connected to it */
export function endOf({ blocks }: Scene, { block: id, field, element }: Under): End | undefined {
  const block = blocks.find((one) => one.id === id);
  if (block === undefined || block.kind === 'text') return undefined;
  if (block.kind !== 'input') return { kind: 'element', id: element ?? id };
  const row = block.rows.find(({ key }) => key === field);
  return row === undefined ? { kind: 'input', id } : { kind: 'field', ref: row.ref };
}

export function useDrawing(scene: Scene, { drawn, dropped, pointAt }: Hooks): Drawing {
  const editor = useEditor();
  const [from, setFrom] = useState<End | undefined>(undefined);
  const [said] = useState(() => makeStore<Said | undefined>(undefined));
  const isGivenUp = useRef(false);
  useEffect(() => {
    if (from === undefined) return;
    const look = ({ clientX: x, clientY: y }: PointerEvent): void => {
      const to = isGivenUp.current ? undefined : endAt(scene, { x, y });
      const { session, schema } = editor.get();
      said.set(
        to === undefined || isSame(from, to) ? undefined : { verdict: mayConnect(session.document, schema, from, to), at: { x, y } },
      );
    };
    const press = (event: KeyboardEvent): void => {
      if (event.key !== 'Escape') return;
      isGivenUp.current = true;
      said.set(undefined);
    };
    window.addEventListener('pointermove', look);
    window.addEventListener('keydown', press, true);
    return () => {
      window.removeEventListener('pointermove', look);
      window.removeEventListener('keydown', press, true);
    };
  }, [from, scene, editor, said]);
  return {
    said,
    begin(block, port) {
      isGivenUp.current = false;
      setFrom(endOf(scene, { block, ...(port !== OUT && { field: port }) }));
    },
    end(at) {
      setFrom(undefined);
      said.set(undefined);
      const to = endAt(scene, at);
      if (from === undefined || to === undefined || isGivenUp.current) return;
      if (from.kind === 'field' && to.kind === 'canvas') return dropped(from.ref, at);
      const before = editor.get().session.document;
      const { schema } = editor.get();
      if (editor.perform(placingNew(pointAt(at)), { schema, from, to }) !== undefined) return;
      const { document } = editor.get().session;
      const edge = addedIn(before, document).find(
        (record) => record.kind === 'edge' && record.predicates.length === 0 && document.records.get(record.to)?.kind === 'entity',
      );
      if (edge !== undefined) drawn(edge.id);
    },
  };
}

function endAt(scene: Scene, { x, y }: Point): End | undefined {
  const under = underPoint(x, y);
  return under === 'canvas' ? { kind: 'canvas' } : under && endOf(scene, under);
}

const isSame = (a: End, b: End): boolean => JSON.stringify(a) === JSON.stringify(b);

export function VerdictNote({ drawing }: { readonly drawing: Drawing }): ReactNode {
  const said = useStore(drawing.said, (all) => all);
  if (said === undefined) return null;
  const { verdict, at } = said;
  return (
    <p className={verdict.ok ? 'verdict' : 'verdict refused'} style={{ left: at.x + 14, top: at.y + 14 }}>
      {verdict.ok ? (verdict.note ?? WORDS.makes[verdict.makes]) : verdict.sentence}
    </p>
  );
}
