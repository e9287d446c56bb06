/**
 * The side file of a mapping: what the studio knows of a model and its text does not say. It has the places of blocks, names that a person has given,
 * elements that are not complete yet, suggestions that were rejected, and the names and kinds of fields, but never their values. A mapping
 * without it has the same meaning; its blocks are laid out, and it has no incomplete elements.
 */

import { findingsIn } from '../commands/invariants.ts';
import type { BlockPlace, Element, Id, StudioDocument } from '../document.ts';
import { shownAsRead } from '../elements/items.ts';
import { placeId } from '../elements/names.ts';
import { recordsOf, withRecords } from '../elements/records.ts';
import { fieldsByPath, type Schema } from '../elements/schema.ts';
import { type Apart, apartIn } from '../read/apart.ts';
import { matched } from './matched.ts';
import { isSideFile, NOTHING_SHOWN, type Shown, type SideFile } from './side-file.ts';

/** More fields of an input are left out: they are shown when it is read. */
const MOST_FIELDS = 2_000;

export function sideOf(document: StudioDocument, schema: Schema, { points, all, open }: Shown): SideFile {
  const { records, expert, rejected = [] } = document;
  const placed = new Set(recordsOf(document, 'place').map(({ of }) => of));
  const found = [...points].filter(([id]) => records.has(id) && !placed.has(id));
  const inputs = recordsOf(document, 'input').map(({ id }) => id);
  const fieldsIn = (id: Id): SideFile['fields'][Id] =>
    [...(schema.get(id)?.values() ?? [])]
      .slice(0, MOST_FIELDS)
      .map(({ path, holds, sample, kind = sample?.kind }) => [path, holds, kind ?? null] as const);
  return {
    version: 1,
    expert,
    rejected,
    elements: [...records.values()].map(withoutPassword),
    points: Object.fromEntries(found.map(([id, { x, y }]) => [id, [x, y]])),
    all: [...all].filter((id) => records.has(id)),
    open: [...open].filter((key) => inputs.some((id) => key.startsWith(`${id}:`))),
    fields: Object.fromEntries(inputs.map((id) => [id, fieldsIn(id)] as const).filter(([, fields]) => fields.length > 0)),
  };
}

/** The text has it; a side file is copied and sent more carelessly. */
function withoutPassword(element: Element): Element {
  if (element.kind !== 'input' || !('database' in element.location) || element.location.database === undefined) return element;
  const { password: _, ...database } = element.location.database;
  return { ...element, location: { ...element.location, database } };
}

export interface Restored {
  readonly document: StudioDocument;
  readonly shown: Shown;
  /** Without values. */
  readonly schema: Schema;
}

/**
 * A document that was read from a text, with what its side file says. The text was read with `apartBy`.
 *
 * @param side as it was parsed: a file that the studio has not written, or that does not fit, says nothing
 */
export function restored(found: StudioDocument, side: unknown): Restored {
  const nothing: Restored = { document: shownAsRead(found), shown: NOTHING_SHOWN, schema: new Map() };
  if (!isSideFile(side)) return nothing;
  const { expert, rejected, elements, points, all, open, fields } = side;
  const before: StudioDocument = {
    records: new Map(elements.map((element) => [element.id, element])),
    language: found.language,
    expert,
    ...(rejected.length > 0 && { rejected }),
    text: { text: '', anchors: new Map() },
  };
  if (hasErrors(before)) return nothing;
  const same = matched(before, found);
  const placed = new Set(recordsOf(same, 'place').map(({ of }) => of));
  const places = Object.entries(points).flatMap(([of, [x, y]]): readonly BlockPlace[] => {
    const isFree = same.records.has(of) && !placed.has(of) && !same.records.has(placeId(of));
    return isFree ? [{ kind: 'place', id: placeId(of), of, x, y, open: [], pinned: false }] : [];
  });
  const document = places.length === 0 ? same : withRecords(same, places);
  if (hasErrors(document)) return nothing;
  const schema = new Map(
    Object.entries(fields)
      .filter(([id]) => document.records.get(id)?.kind === 'input')
      .map(([id, all]) => [id, fieldsByPath(all.map(([path, holds, kind]) => ({ path, holds, ...(kind !== null && { kind }) })))] as const),
  );
  return { document, shown: { points: new Map(), all: new Set(all), open: new Set(open) }, schema };
}

/** What a side file says of how its text is read. */
export const apartBy = (side: unknown): Apart => (isSideFile(side) ? apartIn(side.elements) : []);

const hasErrors = (document: StudioDocument): boolean =>
  findingsIn(document).some(({ invariant, severity }) => severity === 'error' && invariant !== 'I9');
