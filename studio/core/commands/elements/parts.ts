/** Entities of several triples maps: shown apart, or as one. */
import type { Edge, Element, Entity, Id, StudioDocument } from '../../document.ts';
import { sameExpression } from '../../elements/expressions.ts';
import { entityNames, freshId, nameOf } from '../../elements/names.ts';
import { edgesAt, recordsOf, withRecords } from '../../elements/records.ts';
import { samePath } from '../../levels.ts';
import { isRefusal, type Refusal, refuse } from '../../rules/verdict.ts';
import { addedIn, type Command, removedIn, required, selected } from '../command.ts';
import { settled } from '../settle.ts';

/** Makes a separate entity of one triples map of an entity, with the edges that this has. Edges that lead to the entity stay. */
export const splitPart: Command<{ readonly id: Id; readonly part: string }> = {
  name: 'split-part',
  label: (document, { id, part }) => `Show ${part} of ${nameOf(document, id)} apart`,
  role: 'operator',
  enabled: selected('Select an entity first.', ['entity']),
  perform(document, { id, part }) {
    const entity = required(document, 'entity', id);
    if (isRefusal(entity)) return entity;
    if (!entity.parts.includes(part)) return refuse('I1', `${part} is no triples map of ${entity.name}.`, [part, entity.name]);
    if (entity.parts.length === 1)
      return refuse('I1', `${entity.name} has one triples map: there is nothing to show apart.`, [entity.name]);
    if (part.startsWith('_:')) return refuse('I1', `${part} has no name in the text. Give it one there.`, [part]);
    const name = entityNames(document).of(entity.name);
    const split: Entity = { ...entity, id: freshId(document.records, 'entity'), name, classes: [], parts: [part] };
    // Classes stand in the first triples map.
    const isFirst = entity.parts[0] === part;
    const rest: Entity = { ...entity, parts: entity.parts.filter((one) => one !== part) };
    const [left, apart] = isFirst
      ? [
          { ...rest, classes: [] },
          { ...split, classes: entity.classes },
        ]
      : [rest, split];
    const edges = edgesAt(document, id).flatMap((edge): readonly Edge[] =>
      edge.from === id && edge.part === part ? [{ ...edge, from: split.id }] : [],
    );
    return settled(document, withRecords(document, [left, apart, ...edges]));
  },
  said: (before, after) => `Showed ${addedIn(before, after).map(({ id }) => nameOf(after, id))} apart`,
  recorded: true,
};

/** Makes one entity of those that stand for the same objects: the first of them, with the triples maps, classes and edges of all. */
export const mergeParts: Command<{ readonly ids: readonly Id[] }> = {
  name: 'merge-parts',
  label: (document, { ids }) => `Make one entity of ${ids.map((id) => nameOf(document, id)).join(', ')}`,
  role: 'operator',
  enabled: selected('Select entities with the same identifier first.', ['entity']),
  perform(document, { ids }) {
    const entities = [...new Set(ids)].map((id) => required(document, 'entity', id));
    const wrong = entities.find(isRefusal);
    if (wrong !== undefined) return wrong;
    const [first, ...others] = entities as readonly Entity[];
    if (first === undefined || others.length === 0) return refuse('I1', 'Select two entities or more: they become one.', []);
    const other = others.find((one) => !areSame(first, one));
    if (other !== undefined) return differs(first, other);
    return settled(document, merged(document, first, others));
  },
  said: (before, after) => `Made one entity of ${removedIn(before, after).map(({ id }) => nameOf(before, id))} and another`,
  recorded: true,
};

const areSame = (a: Entity, b: Entity): boolean =>
  a.input === b.input &&
  samePath(a.level, b.level) &&
  a.identifier.kind !== 'fresh' &&
  a.termType === b.termType &&
  sameExpression(a.identifier, b.identifier) &&
  JSON.stringify(a.graphs) === JSON.stringify(b.graphs);

const differs = (a: Entity, b: Entity): Refusal =>
  refuse(
    'I2',
    `${a.name} and ${b.name} do not have the same identifier, level and graphs. Only what stands for the same objects becomes one.`,
    [a.name, b.name],
  );

function merged(document: StudioDocument, first: Entity, others: readonly Entity[]): StudioDocument {
  const gone = new Set(others.map(({ id }) => id));
  const whole: Entity = {
    ...first,
    classes: [...new Set([first, ...others].flatMap(({ classes }) => classes))],
    parts: [first, ...others].flatMap(({ parts }) => parts),
  };
  const of = (id: Id): Id => (gone.has(id) ? first.id : id);
  const changed = [...document.records.values()].flatMap((record): readonly Element[] => {
    if (record.kind === 'edge' && (gone.has(record.from) || gone.has(record.to)))
      return [{ ...record, from: of(record.from), to: of(record.to) }];
    return record.kind === 'text' && record.of !== undefined && gone.has(record.of) ? [{ ...record, of: first.id }] : [];
  });
  const places = recordsOf(document, 'place').flatMap(({ id, of: block }) => (gone.has(block) ? [id] : []));
  return withRecords(document, [whole, ...changed], new Set([...gone, ...places]));
}
