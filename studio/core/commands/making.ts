/** New elements: entities, attributes and edges with ids and names that no other has. */
import { classNameOf, classWords, isGeneric, localNameOf, withoutKey } from '../../../src/infer/names.ts';
import type { EntityDraft, Made } from '../connect/connection.ts';
import type { Attribute, Edge, EdgeForm, Entity, Expression, FieldRef, Id, Input, Join, Path, StudioDocument } from '../document.ts';
import { iriBase } from '../elements/iris.ts';
import { entityNames, freshId, levelWords, nameOf, partNameOf, partNames } from '../elements/names.ts';
import { nameBehind, spokenName } from '../elements/path-text.ts';
import { inputOf, recordOf, recordsOf, withRecords } from '../elements/records.ts';
import { samePath } from '../levels.ts';

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
  const words = of === undefined ? ['entity'] : wordsOfEntity(document, of, level, key);
  const name = entityNames(document).of(classNameOf(words));
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

/**
 * The first entity of a level is what the level holds one of. Others are named after what they are made of: of rows of events, `cityId` makes a
 * city.
 */
function wordsOfEntity(document: StudioDocument, of: Input, level: Path, key: FieldRef | undefined): readonly string[] {
  const isFirst = recordsOf(document, 'entity').every((one) => one.input !== of.id || !samePath(one.level, level));
  const field = key?.path.findLast((step) => 'name' in step || 'attribute' in step);
  const name = spokenName((isFirst ? undefined : field && nameBehind([field], 0)) ?? '');
  return isGeneric(name) ? levelWords(of, level) : classWords(withoutKey(name) || name);
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
