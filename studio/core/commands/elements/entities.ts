/** Entities: made, named, identified, and their classes. */

import { connectionOf } from '../../connect/may-connect.ts';
import type { Entity, Expression, Id, StudioDocument } from '../../document.ts';
import { fieldsOf } from '../../elements/expressions.ts';
import { nameOf, placeId } from '../../elements/names.ts';
import { edgesAt, inputOf, inputRead, recordsOf, withRecords } from '../../elements/records.ts';
import { deepestOf, levelOf } from '../../levels.ts';
import { identifies } from '../../rules/expression.ts';
import { absolute, type EntitySource, isRefusal, type Refusal, refuse } from '../../rules/verdict.ts';
import { addedIn, type Command, changedIn, required, selected } from '../command.ts';
import { connected } from '../edges/connect.ts';
import { newEntity } from '../making.ts';
import { settled } from '../settle.ts';

const oneEntity = selected('Select an entity first.', ['entity']);

/** Makes an entity of a value field (its identifier), of a list or object, or of an attribute, which it takes the place of. */
export const addEntity: Command<EntitySource> = {
  name: 'add-entity',
  label: (document, source) => ('attribute' in source ? `Make ${nameOf(document, source.attribute)} an entity` : 'Make an entity'),
  keys: 'E',
  role: 'operator',
  enabled: selected('Select a field or an attribute first.', ['attribute'], true),
  perform(document, source) {
    if ('attribute' in source) return ofAttribute(document, source.attribute);
    const connection = connectionOf(document, source.schema, { kind: 'field', ref: source.at }, { kind: 'canvas' }, { as: 'entity' });
    return isRefusal(connection) ? connection : connected(document, connection, []);
  },
  said: said('Made the entity'),
  recorded: true,
};

function ofAttribute(document: StudioDocument, id: Id): StudioDocument | Refusal {
  const attribute = required(document, 'attribute', id);
  if (isRefusal(attribute)) return attribute;
  const name = nameOf(document, id);
  const input = inputOf(document, inputRead(attribute) ?? '');
  if (input === undefined) return refuse('I2', `${name} comes from no input: an entity needs one.`, [name]);
  const refusal = identifies(document, { name, input }, attribute.value);
  if (refusal !== undefined) return refusal;
  const fields = fieldsOf(attribute.value);
  const level = deepestOf(fields.map(({ path }) => levelOf(path))) ?? [];
  const [key] = fields;
  const made = newEntity(document, { input: input.id, level, ...(attribute.value.kind === 'field' && key && { key }) });
  const isIri = attribute.termType !== 'literal' && attribute.termType !== 'blank';
  const entity: Entity = {
    ...made,
    identifier: attribute.value.kind === 'field' && !isIri ? made.identifier : attribute.value,
    termType: attribute.termType === 'literal' ? 'iri' : attribute.termType,
  };
  const edges = edgesAt(document, id).map((edge) => ({
    ...edge,
    from: edge.from === id ? entity.id : edge.from,
    to: edge.to === id ? entity.id : edge.to,
    part: edge.from === id ? (entity.parts[0] ?? edge.part) : edge.part,
  }));
  const place = recordsOf(document, 'place').find(({ of }) => of === id);
  const places = place === undefined ? [] : [{ ...place, id: placeId(entity.id), of: entity.id }];
  const texts = recordsOf(document, 'text')
    .filter(({ of }) => of === id)
    .map((text) => ({ ...text, of: entity.id }));
  return settled(
    document,
    withRecords(document, [entity, ...edges, ...places, ...texts], new Set(place === undefined ? [id] : [id, place.id])),
  );
}

/** Gives an entity or an input another name. */
export const rename: Command<{ readonly id: Id; readonly name: string }> = {
  name: 'rename',
  label: (document, { id, name }) => `Rename ${nameOf(document, id)} to ${name}`,
  keys: 'F2',
  role: 'operator',
  enabled: selected('Select an entity or an input first.', ['entity', 'input']),
  perform(document, { id, name: wanted }) {
    const record = document.records.get(id);
    if (record?.kind !== 'entity' && record?.kind !== 'input') return refuse('I1', 'Only entities and inputs have names.', []);
    const name = wanted.trim();
    if (name === '') return refuse('I1', `${record.name} needs a name.`, [record.name]);
    if (name === record.name) return document;
    const isTaken = recordsOf(document, record.kind).some((other) => other.name === name);
    if (isTaken) return refuse('I1', `There is an ${record.kind} named ${name} already.`, [name]);
    return withRecords(document, [{ ...record, name }]);
  },
  said: said('The name is now'),
  merges: (last, next) => last.id === next.id,
  recorded: true,
};

/** What distinguishes the objects of an entity. Its level becomes the deepest of the fields. */
export const setIdentifier: Command<{ readonly id: Id; readonly identifier: Expression }> = {
  name: 'set-identifier',
  label: (document, { id }) => `Change the identifier of ${nameOf(document, id)}`,
  role: 'operator',
  enabled: oneEntity,
  perform(document, { id, identifier }) {
    const entity = required(document, 'entity', id);
    if (isRefusal(entity)) return entity;
    return identified(document, entity, identifier);
  },
  said: said('Changed the identifier of'),
  merges: (last, next) => last.id === next.id,
  recorded: true,
};

/** The document with another identifier of an entity, if the rules allow it. */
export function identified(document: StudioDocument, entity: Entity, identifier: Expression): StudioDocument | Refusal {
  const refusal = identifies(document, { name: entity.name, input: inputOf(document, entity.input) }, identifier);
  if (refusal !== undefined) return refusal;
  const level = deepestOf(fieldsOf(identifier).map(({ path }) => levelOf(path))) ?? entity.level;
  const wasFresh = entity.identifier.kind === 'fresh';
  const termType = identifier.kind === 'fresh' ? 'blank' : wasFresh ? 'iri' : entity.termType;
  return settled(document, withRecords(document, [{ ...entity, identifier, level, termType }]));
}

/** Adds classes: absolute IRIs. */
export const addClass: Command<{ readonly id: Id; readonly classes: readonly string[] }> = {
  name: 'add-class',
  label: (document, { id }) => `Add a class to ${nameOf(document, id)}`,
  role: 'operator',
  enabled: oneEntity,
  perform(document, { id, classes }) {
    const entity = required(document, 'entity', id);
    if (isRefusal(entity)) return entity;
    const wrong = absolute(classes);
    if (wrong !== undefined) return wrong;
    const all = [...new Set([...entity.classes, ...classes])];
    return all.length === entity.classes.length ? document : withRecords(document, [{ ...entity, classes: all }]);
  },
  said: said('Changed the classes of'),
  recorded: true,
};

export const removeClass: Command<{ readonly id: Id; readonly class: string }> = {
  name: 'remove-class',
  label: (document, { id }) => `Remove a class of ${nameOf(document, id)}`,
  role: 'operator',
  enabled: oneEntity,
  perform(document, { id, class: removed }) {
    const entity = required(document, 'entity', id);
    if (isRefusal(entity)) return entity;
    if (!entity.classes.includes(removed)) return refuse('I1', `${entity.name} has no class ${removed}.`, [entity.name, removed]);
    return withRecords(document, [{ ...entity, classes: entity.classes.filter((one) => one !== removed) }]);
  },
  said: said('Changed the classes of'),
  recorded: true,
};

function said(how: string): Command<never>['said'] {
  return (before, after) => {
    const record = addedIn(before, after)[0] ?? changedIn(before, after)[0];
    return record === undefined ? 'Nothing changed' : `${how} ${nameOf(after, record.id)}`;
  };
}
