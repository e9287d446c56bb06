/** What an expression gives for a record of the samples: the live example beside it. */
import { encodeIriPart, encodeUriPart, fromBytes, toBytes } from '../../../src/core/text.ts';
import type { Expression, FieldRef, TermType } from '../document.ts';
import { type Schema, sampledValue } from './schema.ts';

/** Characters; what is longer is cut, and shows it. */
const LONGEST = 200;

/**
 * The example of a term. Fields have their first sample, which need not be of one record. Templates of IRIs encode values as the engine does.
 *
 * @returns undefined: a field has no sample, or the value is made by a function, by hand, or for each record again
 */
export function exampleOf(schema: Schema, expression: Expression, termType: TermType): string | undefined {
  const sampled = (ref: FieldRef): string | undefined => sampledValue(schema, ref);
  switch (expression.kind) {
    case 'field':
      return shortened(sampled(expression.ref));
    case 'constant':
      return shortened(expression.value);
    case 'template': {
      const encode = ENCODERS[termType];
      const parts = expression.parts.map((part) => {
        if (typeof part === 'string') return part;
        const value = sampled(part);
        return value === undefined || encode === undefined ? value : fromBytes(encode(toBytes(value)));
      });
      return parts.includes(undefined) ? undefined : shortened(parts.join(''));
    }
    case 'call':
    case 'written':
    case 'fresh':
      return undefined;
  }
}

/** By term type; without one, values stand in templates as they are. */
const ENCODERS: Partial<Record<TermType, (bytes: string) => string>> = { iri: encodeIriPart, uri: encodeUriPart };

const shortened = (text: string | undefined): string | undefined =>
  text === undefined || text.length <= LONGEST ? text : `${text.slice(0, LONGEST)}…`;
