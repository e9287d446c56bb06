/**
 * What was read of an edited text, with the ids, names and places of what was there before. Entities are found again by their triples maps,
 * edges by their predicates and values, inputs by what they read. What no text can say stays: unused inputs, incomplete edges, places.
 */
import type { Edge, Element, Entity, Expression, Id, Location, StudioDocument } from '../document.ts';
import { mapFields } from '../elements/expressions.ts';
import { freshId } from '../elements/names.ts';
import { edgesTo, fieldsOfRecord, joinOf, recordOf, recordsOf } from '../elements/records.ts';
import { checkEdge } from '../rules/link.ts';
import { isRefusal } from '../rules/verdict.ts';

type Renaming = (id: Id) => Id;

/** @param found what was read, with new ids */
export function matched(before: StudioDocument, found: StudioDocument): StudioDocument {
  const ids = idsOf(before, found);
  const back = new Map([...ids].map(([id, old]) => [old, id]));
  const all = new Map(before.records);
  for (const { id, kind } of found.records.values()) {
    if (ids.has(id)) continue;
    const fresh = freshId(all, kind);
    all.set(fresh, found.records.get(id) as Element);
    ids.set(id, fresh);
  }
  const renamed: Renaming = (id) => ids.get(id) ?? id;
  const records = new Map<Id, Element>();
  for (const old of before.records.values()) {
    const now = found.records.get(back.get(old.id) ?? '');
    if (now === undefined) continue;
    const next = takenOver(old, withIds(now, renamed));
    records.set(old.id, isSame(old, next) ? old : next);
  }
  for (const record of found.records.values()) {
    const next = withIds(record, renamed);
    if (!records.has(next.id)) records.set(next.id, next);
  }
  const isEmpty = recordsOf(found, 'entity').length === 0;
  const { base: _, ...others } = before;
  const text = { text: found.text.text, anchors: new Map([...found.text.anchors].map(([id, ranges]) => [renamed(id), ranges])) };
  const document: StudioDocument = {
    ...others,
    records: withNames(withLoose(before, records)),
    language: isEmpty ? before.language : found.language,
    text: before.text.text === text.text && isSame(before.text.anchors, text.anchors) ? before.text : text,
    ...(found.base !== undefined && { base: found.base }),
  };
  return withChecked(before, document);
}

/** Ids of what was read → ids before. */
function idsOf(before: StudioDocument, found: StudioDocument): Map<Id, Id> {
  const ids = new Map<Id, Id>();
  const taken = new Set<Id>();
  const pair = (now: Id, old: Id): void => {
    ids.set(now, old);
    taken.add(old);
  };
  /** @param keys of both sides, from the surest one. Inputs and ends in them are those of before */
  const match = <K extends Element['kind']>(
    kind: K,
    ...keys: readonly ((record: Extract<Element, { kind: K }>, of: StudioDocument, renamed: Renaming) => readonly string[])[]
  ): void => {
    for (const keysOf of keys) {
      const known = new Map<string, Id[]>();
      for (const old of recordsOf(before, kind)) {
        if (taken.has(old.id)) continue;
        for (const key of keysOf(old, before, (id) => id)) known.set(key, [...(known.get(key) ?? []), old.id]);
      }
      for (const now of recordsOf(found, kind)) {
        if (ids.has(now.id)) continue;
        const renamed: Renaming = (id) => ids.get(id) ?? `new ${id}`;
        const old = keysOf(now, found, renamed).flatMap((key) => known.get(key)?.find((id) => !taken.has(id)) ?? [])[0];
        if (old !== undefined) pair(now.id, old);
      }
    }
  };
  match(
    'prefix',
    ({ name }) => [name],
    ({ iri }) => [iri],
  );
  match(
    'input',
    ({ location, format }) => [`${format} ${locationKey(location)}`],
    ({ location }) => [locationKey(location)],
    ({ name }) => [name],
  );
  match('graph', ({ name }, _, renamed) => [valueKey(name, renamed)]);
  match(
    'entity',
    ({ parts }) => parts,
    ({ identifier }, _, renamed) => [valueKey(identifier, renamed)],
    ({ classes, input }, _, renamed) => [JSON.stringify([renamed(input), classes])],
  );
  const endKey = ({ to }: Edge, of: StudioDocument, renamed: Renaming): string => {
    const attribute = recordOf(of, 'attribute', to);
    return attribute === undefined ? renamed(to) : valueKey(attribute.value, renamed);
  };
  match(
    'edge',
    (edge, of, renamed) => [JSON.stringify([renamed(edge.from), edge.predicates, endKey(edge, of, renamed)])],
    ({ from, predicates }, _, renamed) => [JSON.stringify([renamed(from), predicates])],
    (edge, of, renamed) => [JSON.stringify([renamed(edge.from), endKey(edge, of, renamed)])],
  );
  for (const { id, to } of recordsOf(found, 'edge')) {
    const old = recordOf(before, 'edge', ids.get(id) ?? '');
    if (old === undefined || ids.has(to) || taken.has(old.to)) continue;
    if (recordOf(before, 'attribute', old.to) !== undefined && recordOf(found, 'attribute', to) !== undefined) pair(to, old.to);
  }
  match('join', ({ edge }, _, renamed) => [renamed(edge)]);
  match(
    'text',
    ({ of: owner, anchor, reason }, { text: { text } }, renamed) => [
      JSON.stringify([owner && renamed(owner), text.slice(anchor.from, anchor.to), reason]),
    ],
    ({ of: owner, reason }, _, renamed) => [JSON.stringify([owner && renamed(owner), reason])],
  );
  return ids;
}

/** What is read: an uploaded file is written by its URL. */
const locationKey = (location: Location): string => {
  switch (location.kind) {
    case 'upload':
    case 'url':
      return location.url;
    case 'file':
      return [location.path, location.directory].filter((part) => part !== undefined).join(' ');
    case 'table':
      return `${location.table} ${location.database?.url}`;
    case 'query':
      return `${location.query} ${location.database?.url}`;
  }
};

const valueKey = (value: Expression, renamed: Renaming): string =>
  JSON.stringify(mapFields(value, (ref) => ({ input: renamed(ref.input), path: ref.path })));

/** What the text does not say of an element: names that the person has given, and how an input came here. */
function takenOver(old: Element, now: Element): Element {
  if (old.kind === 'input' && now.kind === 'input') {
    const { name, grouped, location } = old;
    const isHere = locationKey(location) === locationKey(now.location);
    // A text does not distinguish an uploaded file from another address. What it has of a database is the newest.
    return { ...now, grouped, ...(isHere && { name, ...(location.kind !== now.location.kind && { location }) }) };
  }
  if (old.kind === 'entity' && now.kind === 'entity' && old.parts.some((part) => now.parts.includes(part)))
    return { ...now, name: old.name };
  return now;
}

function withIds(record: Element, renamed: Renaming): Element {
  const id = renamed(record.id);
  const value = (one: Expression): Expression => mapFields(one, (ref) => ({ ...ref, input: renamed(ref.input) }));
  switch (record.kind) {
    case 'entity':
      return { ...record, id, input: renamed(record.input), identifier: value(record.identifier), graphs: record.graphs.map(renamed) };
    case 'attribute':
      return { ...record, id, value: value(record.value) };
    case 'edge':
      return { ...record, id, from: renamed(record.from), to: renamed(record.to), graphs: record.graphs.map(renamed) };
    case 'join': {
      const conditions = record.conditions.map(({ child, parent }) => ({ child: value(child), parent: value(parent) }));
      return { ...record, id, edge: renamed(record.edge), conditions };
    }
    case 'graph':
      return { ...record, id, name: value(record.name) };
    case 'text':
      return { ...record, id, of: record.of === undefined ? undefined : renamed(record.of) };
    case 'place':
      return { ...record, id, of: renamed(record.of) };
    default:
      return { ...record, id };
  }
}

/** Adds what was there before and is in no text, if all that it refers to is still there. */
function withLoose(before: StudioDocument, records: ReadonlyMap<Id, Element>): Map<Id, Element> {
  const all = new Map<Id, Element>();
  const kept = new Map(records);
  const isWhole = (record: Element): boolean => fieldsOfRecord(record).every(({ input }) => kept.has(input));
  const used = new Set(
    recordsOf(before, 'entity')
      .flatMap(({ input, graphs }) => [input, ...graphs])
      .concat(recordsOf(before, 'edge').flatMap(({ graphs }) => graphs)),
  );
  const isWritten = (edge: Edge): boolean =>
    edge.predicates.length > 0 &&
    before.records.get(edge.from)?.kind === 'entity' &&
    (edge.form !== 'join' || (joinOf(before, edge.id)?.conditions.length ?? 0) > 0);
  const keep = <K extends Element['kind']>(kind: K, isLoose: (record: Extract<Element, { kind: K }>) => boolean): void => {
    for (const record of recordsOf(before, kind))
      if (!kept.has(record.id) && isLoose(record) && isWhole(record)) kept.set(record.id, record);
  };
  keep('input', ({ id }) => !used.has(id));
  keep('graph', ({ id }) => !used.has(id));
  // A prefix that nothing uses is not printed.
  keep('prefix', ({ name }) => !before.text.text.includes(`${name}:`));
  keep('attribute', ({ id }) => !edgesTo(before, id).some(isWritten));
  keep('edge', (edge) => !isWritten(edge) && kept.has(edge.from) && kept.has(edge.to) && edge.graphs.every((graph) => kept.has(graph)));
  keep('join', ({ edge }) => kept.get(edge) === before.records.get(edge) && !records.has(edge));
  keep('place', ({ of }) => kept.has(of));
  for (const id of before.records.keys()) if (kept.has(id)) all.set(id, kept.get(id) as Element);
  for (const [id, record] of kept) all.set(id, record);
  return all;
}

/** Inputs of one name get numbers: a new one may be called like one that stayed. */
function withNames(records: Map<Id, Element>): ReadonlyMap<Id, Element> {
  const taken = new Set<string>();
  for (const [id, record] of records) {
    if (record.kind !== 'input') continue;
    let name = record.name;
    for (let i = 2; taken.has(name); i++) name = `${record.name} ${i}`;
    taken.add(name);
    if (name !== record.name) records.set(id, { ...record, name });
  }
  return records;
}

/** Edges that were kept, where the rules still allow them between their ends. */
function withChecked(before: StudioDocument, document: StudioDocument): StudioDocument {
  const gone = new Set<Id>();
  const changed = new Map<Id, Element>();
  for (const edge of recordsOf(document, 'edge')) {
    if (before.records.get(edge.id) !== edge || document.text.anchors.has(edge.id)) continue;
    const from = recordOf(document, 'entity', edge.from);
    const part = from === undefined || from.parts.includes(edge.part) ? edge.part : ((from as Entity).parts[0] as string);
    const link = checkEdge(document, edge);
    const isJoin = joinOf(document, edge.id) !== undefined;
    const form = isRefusal(link) ? (link.rule === 'R2' || link.rule === 'R3' ? edge.form : undefined) : link.form;
    if (form === undefined || (form === 'join') !== isJoin) gone.add(edge.id);
    else if (form !== edge.form || part !== edge.part) changed.set(edge.id, { ...edge, form, part });
  }
  if (gone.size === 0 && changed.size === 0) return document;
  const records = new Map<Id, Element>();
  for (const [id, record] of document.records)
    if (!gone.has(id) && !(record.kind === 'join' && gone.has(record.edge))) records.set(id, changed.get(id) ?? record);
  return { ...document, records };
}

/** Whether two values hold the same; what is undefined is the same as what is absent. */
function isSame(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true;
  if (a instanceof Map && b instanceof Map)
    return a.size === b.size && [...a].every(([key, value]) => b.has(key) && isSame(value, b.get(key)));
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null || Array.isArray(a) !== Array.isArray(b)) return false;
  const [first, second] = [a as Readonly<Record<string, unknown>>, b as Readonly<Record<string, unknown>>];
  return [...new Set([...Object.keys(first), ...Object.keys(second)])].every((key) => isSame(first[key], second[key]));
}
