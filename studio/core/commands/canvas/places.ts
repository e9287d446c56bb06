/** Where blocks stand on the canvas. */
import type { BlockPlace, Id, StudioDocument } from '../../document.ts';
import { nameOf, placeId } from '../../elements/names.ts';
import { recordsOf, withRecords } from '../../elements/records.ts';
import { type Refusal, refuse } from '../../rules/verdict.ts';
import { always, type Command, selected } from '../command.ts';

/** The position of a block, in pixels of the canvas at 100 %. */
export interface Position {
  readonly of: Id;
  readonly x: number;
  readonly y: number;
}

const BLOCKS = ['input', 'entity', 'attribute', 'text', 'graph'] as const;

const blocks = selected('Select blocks first.', BLOCKS);

/** Moves blocks to positions. */
export const move: Command<{ readonly positions: readonly Position[] }> = {
  name: 'move',
  label: (document, { positions }) => `Move ${positions.map(({ of }) => nameOf(document, of)).join(', ')}`,
  role: 'operator',
  enabled: blocks,
  perform: (document, { positions }) => positioned(document, positions, { pinned: true }),
  said: () => 'Moved',
  merges: (last, next) => blocksOf(last) === blocksOf(next),
  recorded: true,
};

const blocksOf = ({ positions }: { readonly positions: readonly Position[] }): string =>
  positions
    .map(({ of }) => of)
    .sort()
    .join(' ');

/** Puts blocks on one line at their left, right or upper side. */
export const align: Command<{ readonly blocks: readonly Id[]; readonly side: 'left' | 'right' | 'top' }> = {
  name: 'align',
  label: (_, { side }) => `Align at the ${side}`,
  role: 'operator',
  enabled: blocks,
  perform(document, { blocks: ids, side }) {
    const places = recordsOf(document, 'place').filter(({ of }) => ids.includes(of));
    if (places.length < 2) return refuse('I1', 'Select two blocks or more to align them.', []);
    const widthOf = ({ width = 0 }: BlockPlace): number => width;
    const left = Math.min(...places.map(({ x }) => x));
    const right = Math.max(...places.map((place) => place.x + widthOf(place)));
    const top = Math.min(...places.map(({ y }) => y));
    const positions = places.map((place): Position => {
      if (side === 'top') return { of: place.of, x: place.x, y: top };
      return { of: place.of, x: side === 'left' ? left : right - widthOf(place), y: place.y };
    });
    return positioned(document, positions, { pinned: true });
  },
  said: () => 'Aligned',
  recorded: true,
};

/** Takes the positions of a layout, also of blocks that were moved by hand. */
export const layOut: Command<{ readonly positions: readonly Position[] }> = {
  name: 'lay-out',
  label: () => 'Lay out',
  keys: 'L',
  role: 'operator',
  enabled: always,
  perform: (document, { positions }) => positioned(document, positions, { pinned: false }),
  said: () => 'Laid out',
  recorded: true,
};

/** Shows the levels of a block that are unfolded, by the texts of their paths, and no others. */
export const fold: Command<{ readonly of: Id; readonly open: readonly string[] }> = {
  name: 'fold',
  label: (document, { of }) => `Fold ${nameOf(document, of)}`,
  keys: 'F',
  role: 'viewer',
  enabled: blocks,
  perform: (document, { of, open }) => {
    const place = recordsOf(document, 'place').find((one) => one.of === of);
    return positioned(document, [{ of, x: place?.x ?? 0, y: place?.y ?? 0 }], { open: [...new Set(open)] });
  },
  said: () => 'Folded',
  recorded: false,
};

function positioned(
  document: StudioDocument,
  positions: readonly Position[],
  more: Partial<Pick<BlockPlace, 'pinned' | 'open'>>,
): StudioDocument | Refusal {
  const places = new Map(recordsOf(document, 'place').map((place) => [place.of, place]));
  const changed: BlockPlace[] = [];
  for (const { of, x, y } of new Map(positions.map((position) => [position.of, position])).values()) {
    const kind = document.records.get(of)?.kind;
    if (!BLOCKS.some((one) => one === kind)) return refuse('I1', 'Only blocks of the canvas have a place.', []);
    if (!Number.isFinite(x) || !Number.isFinite(y)) return refuse('I1', 'A position has two numbers.', []);
    const found = places.get(of);
    const before: BlockPlace = found ?? { kind: 'place', id: placeId(of), of, x, y, open: [], pinned: false };
    const after: BlockPlace = { ...before, x, y, ...more };
    if (found === undefined || JSON.stringify(after) !== JSON.stringify(found)) changed.push(after);
  }
  return changed.length === 0 ? document : withRecords(document, changed);
}
