/**
 * Random mappings over random rows, against a slow evaluator that knows nothing of plans, tables or joins: nested loops over
 * everything into a set of lines. The engine must give the same lines, each once, whatever memory it has.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { RUN_DEFAULTS, type RunRequest } from '../src/run/request.ts';
import { executeRun } from '../src/run/run.ts';

type Row = readonly string[];
type Term =
  | { readonly kind: 'template'; readonly text: string; readonly columns: readonly number[] }
  | { readonly kind: 'literal'; readonly column: number; readonly tail: string; readonly turtle: string }
  | { readonly kind: 'blank'; readonly column: number }
  | { readonly kind: 'constant'; readonly token: string };
type Iri = Extract<Term, { kind: 'template' | 'constant' | 'blank' }>;

interface Rule {
  readonly predicate: number;
  readonly object:
    | Term
    | { readonly kind: 'join'; readonly parent: number; readonly on: readonly (readonly [child: number, parent: number])[] };
  readonly graph: Iri | undefined;
}

interface Map {
  readonly file: number;
  readonly subject: Iri;
  readonly rules: readonly Rule[];
}

const COLUMNS = 4;
const VALUES = ['a', 'b', 'a b', 'ü', '"q"', 'x/y', '', '10', '1:1', 'line\nbreak', 'back\\slash', '%41'];

/** A small generator with a seed, so that a failure can be repeated. */
function dice(seed: number) {
  let state = (seed * 2654435761) >>> 0 || 1;
  const below = (n: number): number => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * n);
  };
  const pick = <T>(of: readonly T[]): T => of[below(of.length)] as T;
  return { below, pick, times: <T>(n: number, make: (i: number) => T): T[] => Array.from({ length: n }, (_, i) => make(i)) };
}

/** @param rows at least; the more rows, the more values */
function invent(seed: number, rows: number): { readonly files: readonly (readonly Row[])[]; readonly maps: readonly Map[] } {
  const { below, pick, times } = dice(seed);
  const files = times(2, () =>
    times(rows + below(25), () => times(COLUMNS, () => (below(rows) < 25 ? pick(VALUES) : String(below(rows))))),
  );
  const template = (): Iri => {
    const columns = times(1 + below(2), () => below(COLUMNS));
    // `-` lets values run into each other: the subject no longer says what they were.
    return { kind: 'template', text: columns.map((c) => `{c${c}}`).join(pick(['/', '-', '/x/'])), columns };
  };
  const iri = (): Iri =>
    pick<() => Iri>([
      template,
      template,
      template,
      () => ({ kind: 'constant', token: `<http://e/k${below(2)}>` }),
      () => ({ kind: 'blank', column: below(COLUMNS) }),
    ])();
  const object = (maps: number): Rule['object'] =>
    pick<() => Rule['object']>([
      template,
      () => ({ kind: 'literal', column: below(COLUMNS), tail: '', turtle: '' }),
      () => ({ kind: 'literal', column: below(COLUMNS), tail: '@en', turtle: '; rml:language "en"' }),
      () => ({ kind: 'literal', column: below(COLUMNS), tail: '^^<http://e/d>', turtle: '; rml:datatype <http://e/d>' }),
      () => ({ kind: 'constant', token: `<http://e/k${below(2)}>` }),
      () => ({ kind: 'blank', column: below(COLUMNS) }),
      () => ({ kind: 'join', parent: below(maps), on: times(1 + below(2), () => [below(COLUMNS), below(COLUMNS)] as const) }),
      () => ({ kind: 'join', parent: below(maps), on: [[below(COLUMNS), below(COLUMNS)]] }),
    ])();
  const graph = (): Iri | undefined =>
    pick([undefined, undefined, undefined, { kind: 'constant', token: '<http://e/g>' } as const, template()]);
  const count = 1 + below(4);
  const maps = times(count, () => ({
    file: below(2),
    subject: iri(),
    rules: times(1 + below(4), (): Rule => {
      const made = object(count);
      // A join that waits for the end needs a constant graph; that refusal has a test of its own.
      return {
        predicate: below(3),
        object: made,
        graph: made.kind === 'join' ? pick([undefined, { kind: 'constant', token: '<http://e/g>' } as const]) : graph(),
      };
    }),
  }));
  return { files, maps };
}

// ---------------------------------------------------------------- as a mapping

function turtle(maps: readonly Map[]): string {
  const term = (of: Term): string => {
    switch (of.kind) {
      case 'template':
        return `rml:template "http://e/${of.text}"`;
      case 'literal':
        return `rml:reference "c${of.column}" ${of.turtle}`;
      case 'blank':
        return `rml:reference "c${of.column}" ; rml:termType rml:BlankNode`;
      case 'constant':
        return `rml:constant ${of.token}`;
    }
  };
  const rule = ({ predicate, object, graph }: Rule): string => {
    const made =
      object.kind === 'join'
        ? `rml:parentTriplesMap <#m${object.parent}> ${object.on.map(([c, p]) => `; rml:joinCondition [ rml:child "c${c}" ; rml:parent "c${p}" ]`).join(' ')}`
        : term(object) + (object.kind === 'template' ? ' ; rml:termType rml:IRI' : '');
    return `; rml:predicateObjectMap [ rml:predicate <http://e/p${predicate}> ; rml:objectMap [ ${made} ] ${graph === undefined ? '' : `; rml:graphMap [ ${term(graph)} ]`} ]`;
  };
  return `@prefix rml: <http://w3id.org/rml/> .\n@base <http://e/> .\n${maps
    .map(
      ({ file, subject, rules }, i) =>
        `<#m${i}> rml:logicalSource [ rml:source [ a rml:RelativePathSource ; rml:root rml:MappingDirectory ; rml:path "f${file}.csv" ] ; rml:referenceFormulation rml:CSV ] ; rml:subjectMap [ ${term(subject)} ] ${rules.map(rule).join(' ')} .`,
    )
    .join('\n')}\n`;
}

const csv = (rows: readonly Row[]): string =>
  `${[Array.from({ length: COLUMNS }, (_, i) => `c${i}`), ...rows].map((row) => row.map((cell) => `"${cell.replaceAll('"', '""')}"`).join(',')).join('\n')}\n`;

// ---------------------------------------------------------------- as a slow evaluator

const percent = (text: string): string =>
  text.replace(/[^A-Za-z0-9\-._~\u0080-\uffff]/g, (c) =>
    encodeURIComponent(c).replace(/^[^%]$/, (d) => `%${d.charCodeAt(0).toString(16).toUpperCase()}`),
  );
const escaped = (text: string): string => text.replace(/["\\\n]/g, (c) => (c === '\n' ? '\\n' : `\\${c}`));

/** Blank nodes by their value: the engine's labels are its own affair. */
function token(term: Term, row: Row): string {
  const value = (column: number): string => row[column] as string;
  switch (term.kind) {
    case 'template':
      return `<http://e/${term.text.replace(/\{c(\d)\}/g, (_, c) => percent(value(Number(c))))}>`;
    case 'literal':
      return `"${escaped(value(term.column))}"${term.tail}`;
    case 'blank':
      return `_:${[...Buffer.from(value(term.column))].map((b) => (/[A-Za-z0-9]/.test(String.fromCharCode(b)) ? String.fromCharCode(b) : `_${b.toString(16).padStart(2, '0')}`)).join('')}`;
    case 'constant':
      return term.token;
  }
}

function evaluate(files: readonly (readonly Row[])[], maps: readonly Map[]): Set<string> {
  const lines = new Set<string>();
  for (const { file, subject, rules } of maps) {
    for (const row of files[file] as readonly Row[]) {
      for (const { predicate, object, graph } of rules) {
        const objects =
          object.kind !== 'join'
            ? [token(object, row)]
            : (files[(maps[object.parent] as Map).file] as readonly Row[])
                .filter((parent) => object.on.every(([c, p]) => row[c] === parent[p]))
                .map((parent) => token((maps[object.parent] as Map).subject, parent));
        for (const one of objects)
          lines.add(`${token(subject, row)} <http://e/p${predicate}> ${one}${graph === undefined ? '' : ` ${token(graph, row)}`} .`);
      }
    }
  }
  return lines;
}

// ---------------------------------------------------------------- the comparison

let directory: string;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'quadmill-random-'));
});
afterAll(() => rmSync(directory, { recursive: true }));

async function run(changes: Partial<RunRequest>): Promise<string[]> {
  const parts: Buffer[] = [];
  const sink = { write: (lines: string) => void parts.push(Buffer.from(lines, 'latin1')), commit: async () => [], abort: async () => {} };
  const request = {
    ...RUN_DEFAULTS,
    runId: 'random',
    mappings: [join(directory, 'mapping.ttl')],
    inputs: [],
    workingDirectory: directory,
    spillDirectory: join(directory, 'spill'),
    ...changes,
  };
  await executeRun(request, sink, {});
  // The engine marks blank nodes of values with a letter of its own.
  return Buffer.concat(parts).toString().replaceAll('_:b', '_:').split('\n').slice(0, -1);
}

async function compare(seed: number, rows: number): Promise<void> {
  const { files, maps } = invent(seed, rows);
  writeFileSync(join(directory, 'mapping.ttl'), turtle(maps));
  for (const [i, cells] of files.entries()) writeFileSync(join(directory, `f${i}.csv`), csv(cells));
  const expected = [...evaluate(files, maps)].sort();
  if (rows > 1000) expect(expected.length).toBeGreaterThan(0);
  for (const memoryBudgetBytes of [RUN_DEFAULTS.memoryBudgetBytes, 0]) expect((await run({ memoryBudgetBytes })).sort()).toEqual(expected);
  expect([...new Set(await run({ distinct: false }))].sort()).toEqual(expected);
}

describe('random mappings', () => {
  test.each(Array.from({ length: 100 }, (_, i) => i + 1))('seed %d', (seed) => compare(seed, 3));
  // More subjects than a table holds without a budget: nothing is decided in memory.
  test.each(Array.from({ length: 8 }, (_, i) => i + 1))('seed %d, thousands of rows', (seed) => compare(seed, 3000));
});
