/** Where each block stands: where it was put, or where the layout has put it. */
import { useEffect, useMemo, useState } from 'react';
import type { Id, StudioDocument } from '../../../core/document.ts';
import { recordsOf } from '../../../core/elements/records.ts';
import { arrange } from '../../parts/layout/arranging.ts';
import { type Arrangement, apart, column, type Point, spotFor } from '../../parts/layout/layout.ts';
import { announce } from '../../store/announcements.ts';
import { useEditor } from '../../store/context.tsx';
import type { Scene } from '../scene.ts';
import { WORDS } from '../words.ts';
import { boxOf } from './sizes.ts';

type Points = ReadonlyMap<Id, Point>;

export const arrangementOf = ({ blocks, lines }: Scene): Arrangement => ({
  boxes: blocks.map(boxOf),
  lines,
});

/** @returns undefined while the first layout is being made */
export function usePositions(document: StudioDocument, scene: Scene): Points | undefined {
  const editor = useEditor();
  // Where they stood when the canvas was shown last.
  const [found, setFound] = useState<Points>(() => editor.get().shown.points);
  const places = recordsOf(document, 'place');
  const put = useMemo(() => new Map(places.map(({ of, x, y }) => [of, { x, y }])), [places]);
  // What the layout has placed stays there when there is more.
  const points = useMemo(() => {
    const inputs = scene.blocks.filter(({ id, kind }) => kind === 'input' && !put.has(id));
    const all = new Map([...found, ...column(inputs.map(boxOf)), ...put]);
    return apart(scene.blocks.map(boxOf), all);
  }, [found, put, scene]);
  const missing = scene.blocks.filter(({ id }) => !points.has(id));
  const isFirst = missing.length > 1 && missing.length === scene.blocks.filter(({ kind }) => kind !== 'input').length;
  useEffect(() => {
    if (missing.length === 0) editor.setShown({ points });
  }, [editor, missing.length, points]);
  useEffect(() => {
    if (missing.length === 0) return;
    const arrangement = arrangementOf(scene);
    const beside = (): void => setFound(besides(arrangement, points));
    if (!isFirst) return beside();
    let isGone = false;
    arrange(arrangement).then(
      (all) => !isGone && setFound(all),
      (error: unknown) => {
        if (isGone) return;
        announce(WORDS.notLaidOut(error instanceof Error ? error.message : String(error)), 'assertive');
        beside();
      },
    );
    return () => {
      isGone = true;
    };
  }, [missing.length, isFirst, scene, points]);
  return isFirst ? undefined : points;
}

function besides(arrangement: Arrangement, points: Points): Points {
  const all = new Map(points);
  for (const box of arrangement.boxes) if (!all.has(box.id)) all.set(box.id, spotFor(box, arrangement, all));
  return all;
}
