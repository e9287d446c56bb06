/** Records of a document by their kind and by what they belong to. */
import type { Attribute, Edge, Element, Entity, FieldRef, Id, Input, Join, StudioDocument } from '../document.ts';
import { fieldsOf } from './expressions.ts';

type OfKind<K extends Element['kind']> = Extract<Element, { kind: K }>;

/** The record of this id, if it is of this kind. */
export function recordOf<K extends Element['kind']>(document: StudioDocument, kind: K, id: Id): OfKind<K> | undefined {
  const record = document.records.get(id);
  return record?.kind === kind ? (record as OfKind<K>) : undefined;
}

/** What is found once for each document: documents never change. */
class Index {
  readonly #byKind = new Map<Element['kind'], Element[]>();
  readonly #edges = new Map<Id, Edge[]>();
  readonly #joins = new Map<Id, Join>();

  constructor(records: StudioDocument['records']) {
    for (const record of records.values()) {
      addTo(this.#byKind, record.kind, record);
      if (record.kind === 'join' && !this.#joins.has(record.edge)) this.#joins.set(record.edge, record);
      if (record.kind !== 'edge') continue;
      addTo(this.#edges, record.from, record);
      if (record.to !== record.from) addTo(this.#edges, record.to, record);
    }
  }

  ofKind(kind: Element['kind']): readonly Element[] {
    return this.#byKind.get(kind) ?? [];
  }

  edgesAt(id: Id): readonly Edge[] {
    return this.#edges.get(id) ?? [];
  }

  joinOf(edge: Id): Join | undefined {
    return this.#joins.get(edge);
  }
}

function addTo<K, V>(lists: Map<K, V[]>, key: K, value: V): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [value]);
  else list.push(value);
}

const indexes = new WeakMap<StudioDocument['records'], Index>();

function indexOf({ records }: StudioDocument): Index {
  const found = indexes.get(records) ?? new Index(records);
  indexes.set(records, found);
  return found;
}

/** All records of a kind, in the order of the document. */
export const recordsOf = <K extends Element['kind']>(document: StudioDocument, kind: K): readonly OfKind<K>[] =>
  indexOf(document).ofKind(kind) as readonly OfKind<K>[];

export const inputOf = (document: StudioDocument, id: Id): Input | undefined => recordOf(document, 'input', id);

/** Edges that begin or end at an element. */
export const edgesAt = (document: StudioDocument, id: Id): readonly Edge[] => indexOf(document).edgesAt(id);

export const edgesFrom = (document: StudioDocument, id: Id): readonly Edge[] => edgesAt(document, id).filter(({ from }) => from === id);

export const edgesTo = (document: StudioDocument, id: Id): readonly Edge[] => edgesAt(document, id).filter(({ to }) => to === id);

export const joinOf = (document: StudioDocument, edge: Id): Join | undefined => indexOf(document).joinOf(edge);

/** The fields that a record reads. */
export function fieldsOfRecord(record: Element): readonly FieldRef[] {
  switch (record.kind) {
    case 'entity':
      return fieldsOf(record.identifier);
    case 'attribute':
      return fieldsOf(record.value);
    case 'join':
      return record.conditions.flatMap(({ child, parent }) => [...fieldsOf(child), ...fieldsOf(parent)]);
    case 'graph':
      return fieldsOf(record.name);
    default:
      return [];
  }
}

/** The input that an entity or an attribute reads; undefined: none, since its value is constant. */
export const inputRead = (record: Entity | Attribute): Id | undefined =>
  record.kind === 'entity' ? record.input : fieldsOf(record.value)[0]?.input;

/** The document with records put in place of those of the same id, or added behind them, and without others. */
export function withRecords(document: StudioDocument, put: readonly Element[], without: ReadonlySet<Id> = new Set()): StudioDocument {
  const records = new Map(document.records);
  for (const id of without) records.delete(id);
  for (const record of put) records.set(record.id, record);
  return { ...document, records };
}

/** Whether two documents differ in places of blocks at most: both mean the same. */
export function sameModel(before: StudioDocument, { records, language, base }: StudioDocument): boolean {
  if (before.language !== language || before.base !== base) return false;
  for (const record of records.values()) if (record.kind !== 'place' && before.records.get(record.id) !== record) return false;
  for (const { id, kind } of before.records.values()) if (kind !== 'place' && !records.has(id)) return false;
  return true;
}
