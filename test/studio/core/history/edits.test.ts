/** Edits of the text, and the ranges that move with it. */
import { describe, expect, test } from '@jest/globals';
import type { MappingText } from '../../../../studio/core/document.ts';
import { difference, edited, inverted, type TextEdit } from '../../../../studio/core/history/edits.ts';
import { Random, seeds } from '../../../support/random.ts';

const TEXT = 'abcdefghij';
const mark = (from: number, to: number): MappingText => ({ text: TEXT, anchors: new Map([['x', [{ from, to }]]]) });

/** What the range of `x` holds after the edits. */
function held(text: MappingText): string | undefined {
  const range = text.anchors.get('x')?.[0];
  return range && text.text.slice(range.from, range.to);
}

describe('ranges', () => {
  test.each<[string, readonly TextEdit[], string | undefined]>([
    ['move behind what grows before them', [{ from: 0, to: 1, text: 'AAA' }], 'defg'],
    ['stay before what changes behind them', [{ from: 8, to: 9, text: '' }], 'defg'],
    ['grow with what is written within them', [{ from: 4, to: 5, text: 'XYZ' }], 'dXYZfg'],
    ['stay as they are where something is put before them', [{ from: 3, to: 3, text: 'X' }], 'defg'],
    ['stay as they are where something is put behind them', [{ from: 7, to: 7, text: 'X' }], 'defg'],
    ['lose what an edit takes at their beginning', [{ from: 2, to: 4, text: 'X' }], 'efg'],
    ['lose what an edit takes at their end', [{ from: 6, to: 9, text: 'X' }], 'def'],
    ['go with what they hold', [{ from: 2, to: 8, text: 'X' }], undefined],
    [
      'move by several edits',
      [
        { from: 9, to: 10, text: '' },
        { from: 5, to: 5, text: '!' },
        { from: 1, to: 2, text: '' },
      ],
      'de!fg',
    ],
    ['are new where an edit is of their element', [{ from: 3, to: 7, text: 'new', of: 'x' }], 'new'],
  ])('%s', (_, edits, expected) => expect(held(edited(mark(3, 7), edits))).toBe(expected));
});

describe('random edits', () => {
  test.each(seeds(1, 50))('are taken back to the byte: seed %i', (seed) => {
    const random = new Random(seed);
    const cuts = Array.from({ length: 6 }, () => random.between(0, TEXT.length)).sort((a, b) => a - b);
    const edits = [0, 2, 4].map((i) => ({ from: cuts[i] as number, to: cuts[i + 1] as number, text: random.pick(['', 'X', 'YYY']) }));
    const after = edited({ text: TEXT, anchors: new Map() }, edits);
    expect(edited(after, inverted(TEXT, edits)).text).toBe(TEXT);
    expect(edited({ text: TEXT, anchors: new Map() }, difference(TEXT, after.text)).text).toBe(after.text);
  });
});

test('the difference of two texts is what is between their common ends', () => {
  expect(difference('a b c', 'a X c')).toEqual([{ from: 2, to: 3, text: 'X' }]);
  expect(difference('aa', 'aaa')).toEqual([{ from: 2, to: 2, text: 'a' }]);
  expect(difference('same', 'same')).toEqual([]);
});
