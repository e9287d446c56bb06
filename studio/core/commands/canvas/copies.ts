/** Copies of elements: beside them, or from the clipboard. */
import type { BlockPlace, Element, FieldRef, Id, Input, Join, StudioDocument } from '../../document.ts';
import { mapFields, sameExpression } from '../../elements/expressions.ts';
import { entityNames, freshId, nameOf, partNameOf, partNames, placeId } from '../../elements/names.ts';
import { fieldsOfRecord, recordOf, recordsOf } from '../../elements/records.ts';
import { checkEdge } from '../../rules/link.ts';
import { isRefusal, type Refusal, refuse } from '../../rules/verdict.ts';
import { addedIn, always, type Command, selected } from '../command.ts';

const OFFSET = 32;

/**
 * The records that a copy of elements takes along: their attributes, edges from them, joins and places; and their inputs and graphs, by which
 * another model finds its own. For the clipboard.
 */
export function copied(document: StudioDocument, ids: readonly Id[]): readonly Element[] {
  const taken = new Set(ids);
  for (const edge of recordsOf(document, 'edge')) {
    if (!taken.has(edge.from)) continue;
    taken.add(edge.id);
    if (document.records.get(edge.to)?.kind === 'attribute') taken.add(edge.to);
  }
  const all = [...document.records.values()];
  const records = all.filter(
    (record) =>
      taken.has(record.id) || (record.kind === 'join' && taken.has(record.edge)) || (record.kind === 'place' && taken.has(record.of)),
  );
  const others = new Set(records.flatMap((record) => [...inputsOf(record), ...graphsOf(record)]));
  const kept = new Set(records);
  return all.filter((record) => kept.has(record) || others.has(record.id));
}

/** Makes copies of elements beside them. */
export const duplicate: Command<{ readonly ids: readonly Id[] }> = {
  name: 'duplicate',
  label: (document, { ids }) => `Duplicate ${ids.map((id) => nameOf(document, id)).join(', ')}`,
  keys: 'Ctrl+D',
  role: 'operator',
  enabled: selected('Select entities or attributes first.', ['entity', 'attribute']),
  perform: (document, { ids }) => pasted(document, copied(document, ids), true),
  said: saidOfCopies,
  recorded: true,
};

/** Adds copies of records that `copied` gave. An edge is pasted if both of its ends are, and the rules allow it. */
export const paste: Command<{ readonly records: readonly Element[] }> = {
  name: 'paste',
  label: () => 'Paste',
  keys: 'Ctrl+V',
  role: 'operator',
  enabled: always,
  perform: (document, { records }) => pasted(document, records, false),
  said: saidOfCopies,
  recorded: true,
};

/** @param isBeside edges may end at elements that are not copied */
function pasted(document: StudioDocument, records: readonly Element[], isBeside: boolean): StudioDocument | Refusal {
  const inputs = inputsHere(document, records);
  if (isRefusal(inputs)) return inputs;
  const here: Renamed = (ref) => ({ ...ref, input: inputs.get(ref.input) ?? ref.input });
  const graphs = (ids: readonly Id[]): readonly Id[] => graphsHere(document, records, ids, here);
  const [names, parts] = [entityNames(document), partNames(document)];
  const ids = new Map<Id, Id>();
  const all = new Map(document.records);
  const add = (record: Element, copyOf: (id: Id) => Element): void => {
    const id = freshId(all, record.kind);
    ids.set(record.id, id);
    all.set(id, copyOf(id));
  };
  for (const record of records) {
    if (record.kind === 'attribute') add(record, (id) => ({ ...record, id, value: mapFields(record.value, here) }));
    if (record.kind !== 'entity') continue;
    const name = names.of(record.name);
    const own = {
      name,
      parts: [parts.of(partNameOf(name))],
      graphs: graphs(record.graphs),
      input: inputs.get(record.input) ?? record.input,
    };
    add(record, (id) => ({ ...record, ...own, id, identifier: mapFields(record.identifier, here) }));
  }
  for (const record of records) {
    if (record.kind === 'edge') {
      const [from, to] = [ids.get(record.from), ids.get(record.to) ?? (isBeside ? record.to : undefined)];
      if (from === undefined || to === undefined) continue;
      const subject = all.get(from);
      const part = subject?.kind === 'entity' ? subject.parts[0] : parts.of(partNameOf(record.part));
      add(record, (id) => ({ ...record, id, from, to, part: part ?? record.part, graphs: graphs(record.graphs) }));
    }
    const shown = record.kind === 'place' ? ids.get(record.of) : undefined;
    if (record.kind === 'place' && shown !== undefined) all.set(placeId(shown), copyOfPlace(record, shown));
  }
  return withJoins({ ...document, records: all }, records, ids, here);
}

/** Leaves out edges that the rules do not allow here, and gives joins their conditions. */
function withJoins(document: StudioDocument, records: readonly Element[], ids: ReadonlyMap<Id, Id>, here: Renamed): StudioDocument {
  const all = new Map(document.records);
  for (const record of records) {
    const edge = recordOf(document, 'edge', ids.get(record.id) ?? '');
    if (edge === undefined) continue;
    const link = checkEdge(document, edge);
    if (isRefusal(link)) {
      all.delete(edge.id);
      continue;
    }
    if (link.form !== edge.form) all.set(edge.id, { ...edge, form: link.form });
    if (link.form !== 'join') continue;
    const conditions = (joinIn(records, record.id)?.conditions ?? []).map(({ child, parent }) => ({
      child: mapFields(child, here),
      parent: mapFields(parent, here),
    }));
    const id = freshId(all, 'join');
    all.set(id, { kind: 'join', id, edge: edge.id, conditions });
  }
  return { ...document, records: all };
}

/** The inputs of this model that copied elements read from now on: those of the same name and format. */
function inputsHere(document: StudioDocument, records: readonly Element[]): ReadonlyMap<Id, Id> | Refusal {
  const found = new Map<Id, Id>();
  for (const id of new Set(records.flatMap(inputsOf))) {
    const wanted = records.find((record) => record.id === id && record.kind === 'input');
    const isWanted = (input: Input): boolean => wanted?.kind === 'input' && input.name === wanted.name && input.format === wanted.format;
    const here = recordsOf(document, 'input').find(isWanted);
    if (here === undefined) {
      const name = wanted?.kind === 'input' ? wanted.name : id;
      return refuse('I1', `This model has no input named ${name}. Add it first.`, [name]);
    }
    found.set(id, here.id);
  }
  return found;
}

const graphsOf = (record: Element): readonly Id[] => (record.kind === 'entity' || record.kind === 'edge' ? record.graphs : []);

const inputsOf = (record: Element): readonly Id[] => [
  ...(record.kind === 'entity' ? [record.input] : []),
  ...(record.kind === 'graph' ? [] : fieldsOfRecord(record).map(({ input }) => input)),
];

const joinIn = (records: readonly Element[], edge: Id): Join | undefined =>
  records.find((record): record is Join => record.kind === 'join' && record.edge === edge);

/** The graphs of this model that have the names of those that elements were in. */
function graphsHere(document: StudioDocument, records: readonly Element[], graphs: readonly Id[], here: Renamed): readonly Id[] {
  return graphs.flatMap((id) => {
    const wanted = records.find((record) => record.id === id && record.kind === 'graph');
    if (wanted?.kind !== 'graph') return [];
    const name = mapFields(wanted.name, here);
    const found = recordsOf(document, 'graph').find((graph) => sameExpression(graph.name, name));
    return found === undefined ? [] : [found.id];
  });
}

/** A field of an input of this model. */
type Renamed = (ref: FieldRef) => FieldRef;

const copyOfPlace = (place: BlockPlace, of: Id): BlockPlace => ({
  ...place,
  id: placeId(of),
  of,
  x: place.x + OFFSET,
  y: place.y + OFFSET,
});

function saidOfCopies(before: StudioDocument, after: StudioDocument): string {
  const names = addedIn(before, after)
    .filter(({ kind }) => kind === 'entity' || kind === 'attribute')
    .map(({ id }) => nameOf(after, id));
  return names.length === 0 ? 'Nothing changed' : `Copied ${names.join(', ')}`;
}
