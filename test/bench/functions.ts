/** What a call of a function costs beyond its JavaScript, over the rows of `flat-100k`: reading arguments, decoding, encoding results. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fromBytes, toBytes } from '../../src/core/text.ts';
import { fetchFunctions } from '../../src/custom-functions/fetch.ts';
import { openFunctions } from '../../src/custom-functions/open.ts';
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
export async function benchFunctions(data: string): Promise<boolean> {
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
  const isFast = await benchCustomFunctions(rows, header);
  return isFast && lines.every(({ over }) => over <= MOST_NANOSECONDS);
}

/** Calls a second of custom functions in batches as the engine has them; wall-clock time, since Java computes in another process. */
const LEAST_CALLS = { JavaScript: 300_000, Java: 500_000 } as const;
const BATCH = 256;

async function benchCustomFunctions(rows: readonly Row[], header: Row): Promise<boolean> {
  const directory = await mkdtemp(join(tmpdir(), 'quadmill-bench-functions-'));
  try {
    await writeFile(join(directory, 'functions.ttl'), DESCRIPTION);
    await writeFile(join(directory, 'code.mjs'), 'export const shout = (text, mark) => text.toUpperCase() + mark;');
    await writeFile(
      join(directory, 'Code.java'),
      'public class Code { public static String shout(String text, String mark) { return text.toUpperCase() + mark; } }',
    );
    execFileSync('javac', ['-d', directory, join(directory, 'Code.java')]);
    execFileSync('jar', ['cf', join(directory, 'code.jar'), '-C', directory, 'Code.class']);
    const { version } = await fetchFunctions({ description: 'functions.ttl', code: undefined }, directory, { workingDirectory: directory });
    const functions = await openFunctions({ directory: join(directory, version), limits: { seconds: 10, memoryMb: 128 } });
    const lines = Object.entries(LEAST_CALLS).map(([language, least]) => {
      const batch = { records: [] as readonly Row[], first: 0 };
      const args = new Map([
        [`${EX}text`, ((row) => (row as Row)[header.indexOf('email')] as string) as Read],
        [`${EX}mark`, constantly('!')],
      ]);
      const call = compileCall(functions.find(EX + language) as FunctionDefinition, args, undefined, { batch });
      let most = 0;
      for (let round = 0; round < ROUNDS; round++) {
        const started = performance.now();
        for (let first = 0; first < rows.length; first += BATCH) {
          batch.first = first;
          batch.records = rows.slice(first, first + BATCH);
          for (let i = 0; i < batch.records.length; i++) kept = call(batch.records[i], first + i);
        }
        most = Math.max(most, rows.length / ((performance.now() - started) / 1000));
      }
      return { language, most, least };
    });
    functions.close();
    console.log(`\ncustom functions: calls a second in batches of ${BATCH}, the most of ${ROUNDS} rounds`);
    const shown = lines.map(({ language, most, least }) => [language, most.toFixed(0), most >= least ? 'ok' : `less than ${least}`]);
    console.log(table([['language', 'calls/s', 'check'], ...shown]));
    return lines.every(({ most, least }) => most >= least);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

const EX = 'http://example.org/functions#';
const DESCRIPTION = `@prefix doap: <http://usefulinc.com/ns/doap#> . @prefix fno: <https://w3id.org/function/ontology#> .
@prefix fnoi: <https://w3id.org/function/vocabulary/implementation#> . @prefix fnom: <https://w3id.org/function/vocabulary/mapping#> .
@prefix ex: <${EX}> .
ex:JavaScript a fno:Function ; fno:expects ( ex:p1 ex:p2 ) ; fno:returns ( ex:out ) .
ex:Java a fno:Function ; fno:expects ( ex:p1 ex:p2 ) ; fno:returns ( ex:out ) .
[] fno:function ex:Java ; fno:implementation [ a fnoi:JavaClass ; fnoi:class-name "Code" ; doap:download-url "code.jar" ] ;
  fno:methodMapping [ fnom:method-name "shout" ] .
ex:p1 fno:predicate ex:text . ex:p2 fno:predicate ex:mark . ex:out fno:predicate ex:result .
[] fno:function ex:JavaScript ; fno:implementation [ a fnoi:JavaScriptImplementation ; doap:download-url <code.mjs> ] ;
  fno:methodMapping [ fnom:method-name "shout" ] .
`;

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
