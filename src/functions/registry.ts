/** Every function by its IRIs. */
import { nearest } from '../core/nearest.ts';
import type { FunctionDefinition, Parameter, Return } from './definition.ts';
import { CALENDAR } from './families/calendar.ts';
import { CONTROL } from './families/control.ts';
import { DATE } from './families/date.ts';
import { ESCAPE } from './families/escape.ts';
import { HASH } from './families/hash.ts';
import { IDENTIFIER } from './families/identifier.ts';
import { LIST } from './families/list.ts';
import { LOGIC } from './families/logic.ts';
import { MATHEMATICS } from './families/mathematics.ts';
import { NUMBER } from './families/number.ts';
import { PART } from './families/part.ts';
import { PATTERN } from './families/pattern.ts';
import { SPLIT } from './families/split.ts';
import { TEXT } from './families/text.ts';

export interface Family {
  readonly title: string;
  readonly definitions: readonly FunctionDefinition[];
}

/** In the order of `docs/functions.md`. None reads files or calls the network: a run reads the files of look-ups beforehand. */
export const FAMILIES: readonly Family[] = [
  { title: 'Text', definitions: TEXT },
  { title: 'Parts of texts', definitions: PART },
  { title: 'Splitting', definitions: SPLIT },
  { title: 'Patterns', definitions: PATTERN },
  { title: 'Escapes and addresses', definitions: ESCAPE },
  { title: 'Lists', definitions: LIST },
  { title: 'Numbers', definitions: NUMBER },
  { title: 'Mathematics', definitions: MATHEMATICS },
  { title: 'Dates and times', definitions: DATE },
  { title: 'Sums and parts of dates', definitions: CALENDAR },
  { title: 'Conditions', definitions: LOGIC },
  { title: 'Choices and missing values', definitions: CONTROL },
  { title: 'Hashes', definitions: HASH },
  { title: 'Identifiers', definitions: IDENTIFIER },
];

export const FUNCTIONS: readonly FunctionDefinition[] = FAMILIES.flatMap(({ definitions }) => definitions);

const BY_IRI: ReadonlyMap<string, FunctionDefinition> = new Map([
  ...FUNCTIONS.flatMap((definition) => definition.aliases.map((alias) => [alias, definition] as const)),
  // A function's own IRI wins over an alias of another.
  ...FUNCTIONS.map((definition) => [definition.iri, definition] as const),
]);

/** The function with this IRI, in any of its spellings. */
export const findFunction = (iri: string): FunctionDefinition | undefined => BY_IRI.get(iri);

const localName = (iri: string): string => /[^#/]*$/.exec(iri)?.[0] ?? iri;

/** Names of at most three functions that an unknown IRI most likely means, nearest first: for messages. */
export function suggestFunctions(iri: string, others: readonly FunctionDefinition[] = []): readonly string[] {
  const names = new Map([
    ...[...BY_IRI].map(([known, { name }]) => [known, name] as const),
    ...others.map((one) => [one.iri, one.name] as const),
  ]);
  return [...new Set(nearest(iri, names.keys(), 6, localName).map((found) => names.get(found) ?? found))].slice(0, 3);
}

/** The parameter or return of built-in functions with this IRI: descriptions name those of GREL without describing them. */
export const findParameter = (iri: string): Parameter | undefined =>
  FUNCTIONS.flatMap(({ parameters }) => parameters).find((one) => one.iri === iri || one.aliases.includes(iri));
export const findReturn = (iri: string): Return | undefined =>
  FUNCTIONS.flatMap(({ returns }) => returns).find((one) => one.iri === iri || one.aliases.includes(iri));
