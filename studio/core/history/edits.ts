/** Edits of the text of a mapping, and what they do to the ranges of elements. */
import type { Anchor, Id, MappingText } from '../document.ts';

/** Replaces a range of the text, in UTF-16 units. Edits of one change are apart, and all count in the text before it. */
export interface TextEdit {
  readonly from: number;
  readonly to: number;
  readonly text: string;
  /** The element whose text it is: the range of what is written becomes an anchor of it, in place of those that it had. */
  readonly of?: Id;
}

const inOrder = (edits: readonly TextEdit[]): readonly TextEdit[] => [...edits].sort((a, b) => a.from - b.from || a.to - b.to);

/** The text after the edits. Ranges move with it; what an edit overlaps shrinks to what is left, and goes when nothing is. */
export function edited({ text, anchors }: MappingText, edits: readonly TextEdit[]): MappingText {
  const ordered = inOrder(edits);
  const pieces: string[] = [];
  const written = new Map<Id, Anchor[]>();
  let at = 0;
  let length = 0;
  for (const edit of ordered) {
    pieces.push(text.slice(at, edit.from), edit.text);
    length += edit.from - at;
    if (edit.of !== undefined) written.set(edit.of, [...(written.get(edit.of) ?? []), { from: length, to: length + edit.text.length }]);
    length += edit.text.length;
    at = edit.to;
  }
  pieces.push(text.slice(at));
  const moved = new Map<Id, readonly Anchor[]>();
  for (const [id, ranges] of anchors) {
    const left = ranges.map((range) => movedRange(range, ordered)).filter((range) => range !== undefined);
    if (left.length > 0) moved.set(id, left);
  }
  return { text: pieces.join(''), anchors: new Map([...moved, ...written]) };
}

function movedRange({ from, to }: Anchor, ordered: readonly TextEdit[]): Anchor | undefined {
  let [start, end] = [from, to];
  for (const edit of ordered) {
    const grown = edit.text.length - (edit.to - edit.from);
    if (edit.to <= from) start += grown;
    if (edit.to <= from) end += grown;
    else if (edit.from >= to) break;
    else if (edit.from >= from && edit.to <= to) end += grown;
    else if (edit.from <= from && edit.to >= to) return undefined;
    else if (edit.from < from) {
      start += edit.to - from + grown;
      end += grown;
    } else end -= to - edit.from;
  }
  return { from: start, to: end };
}

/** What takes the edits back, counted in the text after them. */
export function inverted(text: string, edits: readonly TextEdit[]): readonly TextEdit[] {
  let grown = 0;
  return inOrder(edits).map(({ from, to, text: put }) => {
    const inverse = { from: from + grown, to: from + grown + put.length, text: text.slice(from, to) };
    grown += put.length - (to - from);
    return inverse;
  });
}

/** The one edit that leads from a text to another one: what is between their common beginning and end. None: they are the same. */
export function difference(before: string, after: string): readonly TextEdit[] {
  if (before === after) return [];
  const shorter = Math.min(before.length, after.length);
  let from = 0;
  while (from < shorter && before[from] === after[from]) from++;
  let same = 0;
  while (same < shorter - from && before[before.length - 1 - same] === after[after.length - 1 - same]) same++;
  return [{ from, to: before.length - same, text: after.slice(from, after.length - same) }];
}
