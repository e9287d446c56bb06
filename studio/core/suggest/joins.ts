/** Keys: fields whose values distinguish objects, and fields of other inputs that speak of them. */
import { keyLikeness, wordsOf as nameWords, speaksOf } from '../../../src/infer/names.ts';
import type { Entity, FieldRef, Path, StudioDocument } from '../document.ts';
import { levelWords } from '../elements/names.ts';
import { fieldName } from '../elements/path-text.ts';
import { inputOf, joinOf, recordOf, recordsOf } from '../elements/records.ts';
import type { Schema, SchemaField } from '../elements/schema.ts';
import { levelOf, samePath, shapeOf, viewOf } from '../levels.ts';
import type { Suggestion } from './suggestion.ts';

/** An identifier for entities without one: a field of their level that is different in each object that was read. */
export function* identifiers(document: StudioDocument, schema: Schema, base: string): Iterable<Omit<Suggestion, 'key'>> {
  for (const entity of recordsOf(document, 'entity')) {
    if (entity.identifier.kind !== 'fresh') continue;
    const key = bestKey(document, schema, entity);
    if (key === undefined) continue;
    const name = fieldName(key.ref.path);
    const { distinct, objects } = key.sample;
    yield {
      of: entity.id,
      change: {
        kind: 'identifier',
        entity: entity.id,
        identifier: { kind: 'template', parts: [`${base}${wordsOf(document, entity).join('-')}/`, key.ref] },
      },
      reason: `${name} is different in ${distinct} of ${objects} that were read.`,
    };
  }
}

interface Key {
  readonly ref: FieldRef;
  readonly sample: NonNullable<SchemaField['sample']>;
}

/** Fewer objects say nothing. */
const LEAST_OBJECTS = 2;

function bestKey(document: StudioDocument, schema: Schema, entity: Entity): Key | undefined {
  const words = wordsOf(document, entity);
  const keys = fieldsAt(schema, entity.input, entity.level).flatMap((field): readonly (Key & { readonly likeness: number })[] => {
    const { sample } = field;
    if (sample === undefined || field.holds !== 'value' || sample.objects < LEAST_OBJECTS) return [];
    const isUnique = sample.missing === 0 && sample.distinct === sample.objects && sample.values === sample.objects;
    const likeness = keyLikeness(fieldName(field.path), words);
    return isUnique && likeness > 0 ? [{ ref: { input: entity.input, path: field.path }, sample, likeness }] : [];
  });
  return keys.sort((a, b) => b.likeness - a.likeness)[0];
}

/** Fields of a level, with the indices of the level. */
function fieldsAt(schema: Schema, input: string, level: Path): readonly SchemaField[] {
  const shape = shapeOf(level);
  return [...(schema.get(input)?.values() ?? [])].flatMap((field) => {
    if (!samePath(levelOf(field.path), shape)) return [];
    return [{ ...field, path: [...level, ...field.path.slice(level.length)] }];
  });
}

const wordsOf = (document: StudioDocument, entity: Entity): readonly string[] => {
  const input = inputOf(document, entity.input);
  return input === undefined ? [] : levelWords(input, entity.level);
};

/** Conditions for joins without one: the field of the child that speaks of the key of the parent. */
export function* conditions(document: StudioDocument, schema: Schema): Iterable<Omit<Suggestion, 'key'>> {
  for (const edge of recordsOf(document, 'edge')) {
    const [from, to] = [recordOf(document, 'entity', edge.from), recordOf(document, 'entity', edge.to)];
    const isOpen = edge.form === 'join' && (joinOf(document, edge.id)?.conditions.length ?? 0) === 0;
    if (!isOpen || from === undefined || to === undefined || viewOf(from.level) === 'ungrouped') continue;
    const found = bestPair(document, schema, from, to);
    if (found === undefined) continue;
    yield {
      of: edge.id,
      change: {
        kind: 'condition',
        edge: edge.id,
        child: { kind: 'field', ref: found.child },
        parent: { kind: 'field', ref: found.parent },
      },
      reason: found.reason,
    };
  }
}

interface Pair {
  readonly child: FieldRef;
  readonly parent: FieldRef;
  readonly score: number;
  readonly reason: string;
}

function bestPair(document: StudioDocument, schema: Schema, from: Entity, to: Entity): Pair | undefined {
  const words = wordsOf(document, to);
  // An entity made of people.csv may be called Customer.
  const names = [words, nameWords(to.name)];
  const values = (fields: readonly SchemaField[]): readonly SchemaField[] => fields.filter(({ holds }) => holds === 'value');
  const parents = values(fieldsAt(schema, to.input, to.level)).filter(({ path }) => keyLikeness(fieldName(path), words) > 0);
  const pairs = values(fieldsAt(schema, from.input, from.level)).flatMap((child) =>
    parents.flatMap((parent): readonly Pair[] => {
      const [name, key] = [fieldName(child.path), fieldName(parent.path)];
      const shared = child.sample?.examples.filter((one) => parent.sample?.examples.includes(one)).length ?? 0;
      if (!names.some((one) => speaksOf(name, one, key))) return [];
      const refs = { child: { input: from.input, path: child.path }, parent: { input: to.input, path: parent.path } };
      const seen = shared === 0 ? '' : `, and ${shared === 1 ? 'a value of it was' : `${shared} of its values were`} found there`;
      return [{ ...refs, score: keyLikeness(key, words) + shared, reason: `The name ${name} speaks of ${key} of ${to.name}${seen}.` }];
    }),
  );
  return [...pairs].sort((a, b) => b.score - a.score)[0];
}
