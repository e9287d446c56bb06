/** Values that are new wherever they are asked for: blank nodes for each record, and results of random functions. */
import type { Expression } from '../document.ts';

const RANDOM: ReadonlySet<string> = new Set(['random', 'uuid', 'math_randomNumber']);

/** Whether two calls with the same arguments give two values. The time at which a run began is one value. @param iri of the function */
export const isRandom = (iri: string): boolean => RANDOM.has(iri.replace(/^.*[/#]/, ''));

/** Whether each row gives another value. */
export const isNewInEachRow = (value: Expression): boolean =>
  value.kind === 'fresh' ||
  (value.kind === 'call' && (isRandom(value.function) || value.arguments.some((one) => isNewInEachRow(one.value))));
