/** New elements: entities, attributes and edges with ids and names that no other has. */
import { localNameOf } from '../../../src/infer/names.ts';
import type { EntityDraft, Made } from '../connect/connection.ts';
import type { Attribute, Edge, EdgeForm, Entity, Expression, Id, Join, StudioDocument } from '../document.ts';
import { iriBase } from '../elements/iris.ts';
import { entityNameOfLevel, entityNames, freshId, levelWords, nameOf, partNameOf, partNames } from '../elements/names.ts';
import { inputOf, recordOf, withRecords } from '../elements/records.ts';

/** A document, and the element that was made in it or was there. */
export interface Placed {
  readonly document: StudioDocument;
  readonly id: Id;
}

/** Adds an element that is to be made. */
export function placed(document: StudioDocument, made: Made): Placed {
  if ('id' in made) return { document, id: made.id };
  const record = 'entity' in made ? newEntity(document, made.entity) : newAttribute(document, made.value);
  return { document: withRecords(document, [record]), id: record.id };
}

/** An entity with an identifier of its key, or a blank node for each object without one. */
export function newEntity(document: StudioDocument, { input, level, key }: EntityDraft): Entity {
  const of = inputOf(document, input);
  const name = entityNames(document).of(of === undefined ? 'Entity' : entityNameOfLevel(of, level));
  const words = of === undefined ? ['entity'] : levelWords(of, level);
  const beginning = `${iriBase(document.base)}${localNameOf(words.join('-')) || 'entity'}/`;
  return {
    kind: 'entity',
    id: freshId(document.records, 'entity'),
    name,
    input,
    level,
    identifier: key === undefined ? { kind: 'fresh' } : { kind: 'template', parts: [beginning, key] },
    termType: key === undefined ? 'blank' : 'iri',
    classes: [],
    graphs: [],
    parts: [partNames(document).of(partNameOf(name))],
  };
}

export const newAttribute = (document: StudioDocument, value: Expression): Attribute => ({
  kind: 'attribute',
  id: freshId(document.records, 'attribute'),
  value,
  termType: value.kind === 'fresh' ? 'blank' : 'literal',
});

/** An edge; one of form `join` has a join without conditions. */
export function withEdge(document: StudioDocument, from: Id, to: Id, form: EdgeForm, predicates: readonly string[]): Placed {
  const id = freshId(document.records, 'edge');
  const edge: Edge = { kind: 'edge', id, from, to, predicates: [...new Set(predicates)], graphs: [], part: partOf(document, from), form };
  const grown = withRecords(document, [edge]);
  return { document: form === 'join' ? withRecords(grown, [newJoin(grown, id)]) : grown, id };
}

export const newJoin = (document: StudioDocument, edge: Id): Join => ({
  kind: 'join',
  id: freshId(document.records, 'join'),
  edge,
  conditions: [],
});

/** The triples map that new edges of an element belong to. */
export const partOf = (document: StudioDocument, from: Id): string =>
  recordOf(document, 'entity', from)?.parts[0] ?? partNames(document).of(partNameOf(nameOf(document, from)));
