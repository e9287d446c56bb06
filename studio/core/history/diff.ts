/** The difference of two documents, record by record: a step of the history, which can be taken in both directions. */
import type { Anchor, Element, Id, MappingText, StudioDocument } from '../document.ts';
import { edited, inverted, type TextEdit } from './edits.ts';

/** A record, and where it stands in the order of its document. */
type Placed = readonly [position: number, record: Element];

export interface Diff {
  readonly added: readonly Placed[];
  readonly removed: readonly Placed[];
  readonly changed: readonly (readonly [before: Element, after: Element])[];
  /** What belongs to the whole document. */
  readonly settings: readonly [before: Settings, after: Settings] | undefined;
  readonly text: TextDiff | undefined;
}

type Settings = Pick<StudioDocument, 'language' | 'base' | 'expert' | 'rejected'>;

interface TextDiff {
  readonly edits: readonly TextEdit[];
  readonly inverse: readonly TextEdit[];
  /** Ranges that do not follow from the edits, before and after. */
  readonly anchorsBefore: Ranges;
  readonly anchorsAfter: Ranges;
}

/** The ranges of elements; undefined: it has none. */
type Ranges = ReadonlyMap<Id, readonly Anchor[] | undefined>;

/** @param textEdits what leads from the text of `before` to that of `after` */
export function diffOf(before: StudioDocument, after: StudioDocument, textEdits: readonly TextEdit[]): Diff {
  const moved = movedBehind(before.records, after.records);
  return {
    added: missing(after.records, before.records, moved),
    removed: missing(before.records, after.records, moved),
    changed: [...before.records.values()].flatMap((record): (readonly [Element, Element])[] => {
      const now = after.records.get(record.id);
      return now === undefined || now === record || moved.has(record.id) ? [] : [[record, now]];
    }),
    settings: sameSettings(before, after) ? undefined : [settingsOf(before), settingsOf(after)],
    text: before.text === after.text ? undefined : textDiff(before.text, after.text, textEdits),
  };
}

function missing(records: ReadonlyMap<Id, Element>, others: ReadonlyMap<Id, Element>, moved: ReadonlySet<Id>): readonly Placed[] {
  return [...records.values()].flatMap((record, position): Placed[] =>
    others.has(record.id) && !moved.has(record.id) ? [] : [[position, record]],
  );
}

/** Records that stand behind others that they stood before: those that were removed, and made again with the same id. */
function movedBehind(before: ReadonlyMap<Id, Element>, after: ReadonlyMap<Id, Element>): ReadonlySet<Id> {
  const positions = new Map([...before.keys()].map((id, position) => [id, position]));
  const kept = [...after.keys()].filter((id) => before.has(id));
  const moved = new Set<Id>();
  let least = Number.POSITIVE_INFINITY;
  for (const id of kept.reverse()) {
    const position = positions.get(id) ?? 0;
    if (position < least) least = position;
    else moved.add(id);
  }
  return moved;
}

const settingsOf = ({ language, base, expert, rejected }: StudioDocument): Settings => ({
  language,
  expert,
  ...(base !== undefined && { base }),
  ...(rejected !== undefined && { rejected }),
});

const sameSettings = (a: StudioDocument, b: StudioDocument): boolean =>
  a.language === b.language && a.base === b.base && a.expert === b.expert && a.rejected === b.rejected;

function textDiff(before: MappingText, after: MappingText, edits: readonly TextEdit[]): TextDiff {
  const inverse = inverted(before.text, edits);
  return {
    edits,
    inverse,
    anchorsBefore: otherRanges(edited(after, inverse), before),
    anchorsAfter: otherRanges(edited(before, edits), after),
  };
}

/** Ranges of `wanted` that `moved` does not have, as they are in `wanted`. */
function otherRanges({ anchors: moved }: MappingText, { anchors: wanted }: MappingText): Ranges {
  const other = new Map<Id, readonly Anchor[] | undefined>();
  for (const [id, ranges] of wanted) if (!sameRanges(moved.get(id), ranges)) other.set(id, ranges);
  for (const id of moved.keys()) if (!wanted.has(id)) other.set(id, undefined);
  return other;
}

const sameRanges = (a: readonly Anchor[] | undefined, b: readonly Anchor[]): boolean =>
  a?.length === b.length && b.every(({ from, to }, i) => a[i]?.from === from && a[i]?.to === to);

/** Whether the documents are the same. */
export const isEmpty = ({ added, removed, changed, settings, text }: Diff): boolean =>
  added.length === 0 && removed.length === 0 && changed.length === 0 && settings === undefined && text === undefined;

/** The document before a step. */
export const stepBack = (document: StudioDocument, { added, removed, changed, settings, text }: Diff): StudioDocument => ({
  ...(settings === undefined ? document : withSettings(document, settings[0])),
  records: exchanged(document.records, added, removed, new Map(changed.map(([before]) => [before.id, before]))),
  text: text === undefined ? document.text : withText(document.text, text.inverse, text.anchorsBefore),
});

/** The document after a step. */
export const stepOn = (document: StudioDocument, { added, removed, changed, settings, text }: Diff): StudioDocument => ({
  ...(settings === undefined ? document : withSettings(document, settings[1])),
  records: exchanged(document.records, removed, added, new Map(changed.map(([, after]) => [after.id, after]))),
  text: text === undefined ? document.text : withText(document.text, text.edits, text.anchorsAfter),
});

const withSettings = ({ records, text }: StudioDocument, settings: Settings): StudioDocument => ({ records, text, ...settings });

/**
 * Places that were made by folding, which has no step, may be of a block that goes, or be missing where a step changes them.
 */
function exchanged(
  records: ReadonlyMap<Id, Element>,
  out: readonly Placed[],
  back: readonly Placed[],
  changed: ReadonlyMap<Id, Element>,
): ReadonlyMap<Id, Element> {
  const gone = new Set([...out, ...back].map(([, { id }]) => id));
  const order = [...records.values()].filter(({ id }) => !gone.has(id)).map((record) => changed.get(record.id) ?? record);
  for (const [position, record] of back) order.splice(position, 0, record);
  const next = new Map(order.map((record) => [record.id, record]));
  for (const [id, record] of changed) next.set(id, record);
  for (const record of order) if (record.kind === 'place' && !next.has(record.of)) next.delete(record.id);
  return next;
}

function withText(text: MappingText, edits: readonly TextEdit[], others: Ranges): MappingText {
  const moved = edited(text, edits);
  if (others.size === 0) return moved;
  const anchors = new Map(moved.anchors);
  for (const [id, ranges] of others) {
    if (ranges === undefined) anchors.delete(id);
    else anchors.set(id, ranges);
  }
  return { text: moved.text, anchors };
}
