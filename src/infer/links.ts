/** Links between entities: fields whose values are the keys of others. */
import type { Entity, Field } from './describe.ts';
import { speaksOf } from './names.ts';

export interface Link {
  readonly from: Entity;
  readonly field: Field;
  readonly to: Entity;
  /** Of the different values of the field, so many are keys in what was read of `to`. */
  readonly matched: number;
}

/** Where only a beginning was read, most partners may stand behind it. */
const LEAST_SHARE = 0.5;
/** Without a name that speaks of the other, values have to be words, several, and all of them keys. */
const LEAST_WORDS = 3;

/** At most one link for each field, to the entity that fits best. */
export function findLinks(entities: readonly Entity[]): readonly Link[] {
  const keyed = entities.filter(({ key }) => key.length === 1 && key[0]?.ups === 0);
  return entities.flatMap((from) =>
    from.fields.flatMap((field) => {
      if (field === from.keyField || field.values === 0) return [];
      const found = keyed.flatMap((to) => {
        const link = linkOf(from, field, to);
        return link === undefined ? [] : [link];
      });
      const best = found.sort((a, b) => b.matched - a.matched)[0];
      return best === undefined ? [] : [best];
    }),
  );
}

function linkOf(from: Entity, field: Field, to: Entity): Link | undefined {
  const { keyField } = to;
  if (keyField === undefined || (field.kind !== 'text' && field.kind !== 'integer')) return undefined;
  const values = [...field.distinct];
  const matched = values.filter((value) => keyField.distinct.has(value)).length;
  if (matched === 0) return undefined;
  const name = field.names.at(-1) ?? '';
  const isNamed = from !== to && speaksOf(name, to.words, keyField.names.at(-1) ?? '');
  const isMost = !to.isWhole || matched / values.length >= LEAST_SHARE;
  const areWords = values.length >= LEAST_WORDS && matched === values.length && values.every((value) => /\p{L}/u.test(value));
  return (isNamed && isMost) || areWords ? { from, field, to, matched } : undefined;
}
