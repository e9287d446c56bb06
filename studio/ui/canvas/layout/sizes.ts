/** Sizes of blocks, as the style sheet makes them: the layout needs them before they are drawn. */

import type { Box } from '../../parts/layout/layout.ts';
import type { Block } from '../scene.ts';
import { WIDTH } from './courses.ts';

export const FIELD_ROW = 24;
/** More rows than these are scrolled. */
export const MOST_ROWS = 24;
const HEADER = 34;
const LINE = 24;
const PADDING = 10;

export function boxOf(block: Block): Box {
  return { id: block.id, isInput: block.kind === 'input', width: WIDTH, height: heightOf(block) };
}

function heightOf(block: Block): number {
  switch (block.kind) {
    case 'input':
      return HEADER + Math.min(block.rows.length, MOST_ROWS) * FIELD_ROW + LINE + PADDING;
    case 'entity': {
      const lines = 1 + (block.example === undefined ? 0 : 1) + (block.classes === '' ? 0 : 1) + (block.kept > 0 ? 1 : 0);
      return HEADER + (lines + block.rows.filter(({ attribute }) => attribute !== undefined).length) * LINE + PADDING;
    }
    case 'attribute':
      return HEADER + (block.type === '' ? 0 : LINE);
    case 'text':
      return HEADER + 2 * LINE;
  }
}
