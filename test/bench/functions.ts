/** What a call of a function costs beyond its JavaScript, over the rows of `flat-100k`: reading arguments, decoding, encoding results. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fromBytes, toBytes } from '../../src/core/text.ts';
import { type Arguments, compileCall, constantly, type Read } from '../../src/functions/compile.ts';
import type { FunctionDefinition } from '../../src/functions/definition.ts';
import { findFunction } from '../../src/functions/registry.ts';
import { table } from '../conformance/summary.ts';

export const FUNCTIONS_WORKLOAD = 'functions';

/** The bound of issue 13. */
const MOST_NANOSECONDS = 150;
const ROUNDS = 15;
const GREL = 'http://users.ugent.be/~bjdmeest/function/grel.ttl#';

/** Columns of the file by name, and constants in quotes. */
const CALLS: readonly (readonly [name: string, args: Readonly<Record<string, string>>])[] = [
  ['toUpperCase', { valueParam: 'email' }],
  ['toUpperCase', { valueParam: 'name' }],
  ['string_trim', { valueParam: 'note' }],
  ['string_length', { valueParam: 'note' }],
  ['string_contains', { valueParam: 'note', string_sub: "'alpha'" }],
  ['string_replace', { valueParam: 'note', param_find: "' '", param_replace: "'-'" }],
  ['string_substring', { valueParam: 'email', p_int_i_from: "'1'", p_int_i_opt_to: "'4'" }],
];

type Row = readonly string[];

/** Measures and prints; false when a call costs more than the bound. */
export function benchFunctions(data: string): boolean {
  const [header = [], ...rows] = readFileSync(join(data, 'flat-100k', 'data.csv'), 'latin1')
    .trimEnd()
    .split('\n')
    .map((line) => line.split(','));
  const lines = CALLS.map(([name, args]) => {
    const definition = findFunction(GREL + name) as FunctionDefinition;
    const call = nanoseconds(compileCall(definition, argumentsOf(args, header), undefined), rows);
    const alone = aloneOf(definition, args, header, rows);
    return { name: `grel:${name}(${Object.values(args).join(', ')})`, call, alone, over: call - alone };
  });
  const shown = lines.map(({ name, call, alone, over }) => [
    name,
    ...[call, alone, over].map((ns) => ns.toFixed(0)),
    over <= MOST_NANOSECONDS ? 'ok' : `more than ${MOST_NANOSECONDS}`,
  ]);
  console.log(`\nfunctions: CPU ns a call, the least of ${ROUNDS} rounds over ${rows.length} rows`);
  console.log(table([['function', 'call', 'its JavaScript', 'over', 'check'], ...shown]));
  return lines.every(({ over }) => over <= MOST_NANOSECONDS);
}

const textOf = (value: string): string | undefined => (value.startsWith("'") ? value.slice(1, -1) : undefined);

function argumentsOf(args: Readonly<Record<string, string>>, header: Row): Arguments {
  return new Map(
    Object.entries(args).map(([parameter, value]): [string, Read] => {
      const text = textOf(value);
      const column = header.indexOf(value);
      return [GREL + parameter, text === undefined ? (row) => (row as Row)[column] as string : constantly(toBytes(text))];
    }),
  );
}

/** The function alone: its arguments as it sees them, the first of each row and decoded beforehand, the others constant. */
function aloneOf(
  { call, on, parameters }: FunctionDefinition,
  args: Readonly<Record<string, string>>,
  header: Row,
  rows: readonly Row[],
): number {
  const given = parameters.map(({ iri }) => args[iri.slice(GREL.length)] ?? '');
  const [, second, third] = parameters.map(({ type }, i) => {
    const text = textOf(given[i] as string);
    return type === 'integer' ? Number(text) : text;
  });
  const column = header.indexOf(given[0] as string);
  const values = rows.map((row) => (on === 'bytes' ? (row[column] as string) : fromBytes(row[column] as string)));
  return nanoseconds((value) => call(value, second, third), values);
}

/** CPU time of a call. */
function nanoseconds<T>(act: (item: T, i: number) => unknown, items: readonly T[]): number {
  let least = Number.POSITIVE_INFINITY;
  for (let round = 0; round < ROUNDS; round++) {
    const before = process.cpuUsage();
    for (let i = 0; i < items.length; i++) kept = act(items[i] as T, i);
    const { user, system } = process.cpuUsage(before);
    least = Math.min(least, ((user + system) * 1000) / items.length);
  }
  return least;
}

/** So that no call is left out as unused. */
export let kept: unknown;
