/** What the parts of a patch share: the documents before and after a change, and the text with its edits so far. */
import type { Anchor, StudioDocument, TextPart } from '../../document.ts';
import { recordOf, recordsOf } from '../../elements/records.ts';
import { stop } from '../unpatched.ts';
import type { YamlEdits } from './edits.ts';
import type { YarrrmlTree } from './tree.ts';

export interface Patching {
  readonly before: StudioDocument;
  readonly after: StudioDocument;
  readonly tree: YarrrmlTree;
  readonly edits: YamlEdits;
  /** Whether what has changed is written as a whole. */
  readonly isWhole: boolean;
}

/** What is kept as text is not written over. */
export function guard(patching: Patching, range: Anchor): void {
  const kept = keptIn(patching, range);
  if (kept !== undefined)
    stop(`This stands in the text together with what the canvas does not draw (${kept.reason}). Change it in the text.`);
}

export const keptIn = ({ before, after }: Patching, range: Anchor): TextPart | undefined =>
  recordsOf(before, 'text').find(
    ({ id }) =>
      recordOf(after, 'text', id) !== undefined &&
      (before.text.anchors.get(id) ?? []).some(({ from }) => from >= range.from && from < range.to),
  );
