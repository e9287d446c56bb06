/**
 * Random quoted triples against nested loops: as subjects and objects, nested, with and without joins, of triples maps that themselves join,
 * with several values, nulls, blank nodes of each record and repeated records. What a mapping gives depends neither on memory nor on the
 * order of its triples maps. In RDF 1.2 it gives the same, rewritten.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { RUN_DEFAULTS } from '../../../../../src/config/run-defaults.ts';
import { blankLabel, fromBytes, toBytes } from '../../../../../src/core/text.ts';
import type { RunRequest } from '../../../../../src/run/request.ts';
import { executeRun } from '../../../../../src/run/run.ts';
import { inRdf12 } from '../../../../support/quoted-triples.ts';
import { Random } from '../../../../support/random.ts';
import { seeds } from '../seeds.ts';

/** The first members are texts, null or missing; the others are arrays. */
const SINGLE = 3;
const MEMBERS = 5;
type Item = readonly (readonly string[])[];

const VALUES = ['a', 'b', 'c', 'a b', '', 'ü', '>> ', '<< <s>', '"q"', '\\', 'line\nbreak', '%41', 'x/y', '_:b'];

type Conditions = readonly (readonly [child: number, parent: number])[];

type Term =
  | { readonly kind: 'iri'; readonly prefix: string; readonly members: readonly number[] }
  | { readonly kind: 'blank' | 'literal'; readonly member: number }
  | { readonly kind: 'fresh' };

/** To a triples map before this one. */
interface Reference {
  readonly kind: 'subject of' | 'triples of';
  readonly map: number;
  readonly on: Conditions;
}

interface Rule {
  readonly predicate: Term;
  readonly object: Term | Reference;
  readonly graph: Term | undefined;
}

interface Map {
  readonly file: number;
  readonly quotedOnly: boolean;
  readonly subject: Term | Reference;
  readonly rules: readonly Rule[];
}

interface Case {
  readonly files: readonly (readonly Item[])[];
  readonly maps: readonly Map[];
}

/** @param apart no two files have a join or a statement in common, though they may quote the same triples */
function invent(seed: number, records: number, apart = false): Case {
  const random = new Random(seed);
  const below = (n: number): number => random.between(0, n - 1);
  const pick = <T>(of: readonly T[]): T => random.pick(of);
  const times = <T>(n: number, make: (i: number) => T): T[] => Array.from({ length: n }, (_, i) => make(i));
  const value = (): string => (below(records) < 20 ? pick(VALUES) : `v${below(records)}`);
  const files = times(2, () => {
    const items = times(
      records + below(5),
      (): Item => [...times(SINGLE, () => times(below(6) === 0 ? 0 : 1, value)), ...times(MEMBERS - SINGLE, () => times(below(3), value))],
    );
    return [...items, ...times(below(4), () => pick(items))];
  });
  const iri = (prefix: string): Term => ({
    kind: 'iri',
    prefix: `${prefix}${below(2)}`,
    members: pick([[], [below(SINGLE)], [below(SINGLE)], [below(MEMBERS)], [...new Set([below(MEMBERS), below(SINGLE)])]]),
  });
  const subject = (): Term =>
    pick<() => Term>([() => iri('s'), () => iri('s'), () => ({ kind: 'blank', member: below(SINGLE) }), () => ({ kind: 'fresh' })])();
  const object = (): Term => pick<() => Term>([() => iri('s'), () => ({ kind: 'literal', member: below(MEMBERS) }), subject])();
  const maps: Map[] = [];
  const reference = (kind: Reference['kind'], file: number): Reference => {
    const map = pick([...maps.keys()].filter((i) => !apart || maps[i]?.file === file));
    const on = times(pick([1, 1, 1, 2]), () => [below(MEMBERS), below(MEMBERS)] as const);
    return { kind, map, on: apart || (maps[map]?.file === file && below(3) > 0) ? [] : on };
  };
  if (apart) {
    const common = { quotedOnly: false, subject: iri('s'), rules: [{ predicate: iri('q'), object: object(), graph: undefined }] };
    maps.push({ file: 0, ...common }, { file: 1, ...common });
  }
  const count = apart ? 6 : 2 + below(3);
  for (let i = maps.length; i < count; i++) {
    const file = below(2);
    const maybe = (make: () => Term, ...kinds: readonly Reference['kind'][]): Term | Reference =>
      i > 0 && below(3) > 0 ? reference(pick(kinds), file) : make();
    maps.push({
      file,
      quotedOnly: false,
      subject: maybe(subject, 'triples of'),
      rules: times(1 + below(2), () => ({
        predicate: below(4) === 0 ? iri('p') : { kind: 'iri', prefix: `p${below(2)}`, members: [] },
        object: maybe(object, 'triples of', 'triples of', 'subject of'),
        graph: pick([undefined, undefined, undefined, iri('g')]),
      })),
    });
  }
  const quoted = new Set(
    maps
      .flatMap((map) => [map.subject, ...map.rules.map((rule) => rule.object)])
      .flatMap((one) => (one.kind === 'triples of' ? [one.map] : [])),
  );
  const all = maps.map((map, i) => ({ ...map, quotedOnly: quoted.has(i) && (apart || below(2) === 0) }));
  if (!apart) return { files, maps: all };
  const named = ({ file, quotedOnly }: Map): Term => ({ kind: 'iri', prefix: quotedOnly ? 'q' : `p${file}`, members: [] });
  return { files, maps: all.map((map) => ({ ...map, rules: map.rules.map((rule) => ({ ...rule, predicate: named(map) })) })) };
}

// ---------------------------------------------------------------- as a mapping

const path = (member: number): string => `$.m${member}${member < SINGLE ? '' : '[*]'}`;

function termText(term: Term | Reference): string {
  switch (term.kind) {
    case 'iri':
      return `rml:template "http://e/${term.prefix}${term.members.map((member) => `/{${path(member)}}`).join('')}" ; rml:termType rml:IRI`;
    case 'blank':
      return `rml:reference "${path(term.member)}" ; rml:termType rml:BlankNode`;
    case 'literal':
      return `rml:reference "${path(term.member)}" ; rml:termType rml:Literal`;
    case 'fresh':
      return 'rml:termType rml:BlankNode';
    default: {
      const conditions = term.on.map(([c, p]) => ` ; rml:joinCondition [ rml:child "${path(c)}" ; rml:parent "${path(p)}" ]`).join('');
      return `rml:${term.kind === 'subject of' ? 'parentTriplesMap' : 'quotedTriplesMap'} <http://e/m${term.map}>${conditions}`;
    }
  }
}

function turtle(maps: readonly Map[], order: readonly number[]): string {
  const rule = ({ predicate, object, graph }: Rule): string =>
    `; rml:predicateObjectMap [ rml:predicateMap [ ${termText(predicate)} ] ; rml:objectMap [ ${termText(object)} ]${graph === undefined ? '' : ` ; rml:graphMap [ ${termText(graph)} ]`} ]`;
  const map = (i: number): string => {
    const { file, subject, rules, quotedOnly } = maps[i] as Map;
    const source = `rml:logicalSource [ rml:source [ a rml:RelativePathSource ; rml:root rml:MappingDirectory ; rml:path "f${file}.json" ] ; rml:referenceFormulation rml:JSONPath ; rml:iterator "$[*]" ]`;
    return `<http://e/m${i}> a rml:${quotedOnly ? 'NonAsserted' : ''}TriplesMap ; ${source} ; rml:subjectMap [ ${termText(subject)} ] ${rules.map(rule).join(' ')} .`;
  };
  return `@prefix rml: <http://w3id.org/rml/> .\n${order.map(map).join('\n')}\n`;
}

const json = (items: readonly Item[]): string =>
  JSON.stringify(
    items.map((item, i) =>
      Object.fromEntries(
        item.flatMap((values, member): [string, unknown][] => {
          if (member >= SINGLE) return [[`m${member}`, values]];
          // Null in one record, missing in the next.
          if (values.length === 0) return i % 2 === 0 ? [[`m${member}`, null]] : [];
          return [[`m${member}`, values[0]]];
        }),
      ),
    ),
  );

// ---------------------------------------------------------------- as nested loops

const encoded = (text: string): string =>
  text.replace(/[^A-Za-z0-9\-._~\u0080-\uffff]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`);
const escaped = (text: string): string => text.replace(/[\\"]/g, '\\$&').replaceAll('\n', '\\n');
const label = (text: string): string => fromBytes(blankLabel(toBytes(text)));

function evaluate({ files, maps }: Case): Set<string> {
  const itemsOf = ({ file }: Map): readonly Item[] => files[file] as readonly Item[];
  const texts = (term: Term | Reference, of: number, item: Item, at: number): readonly string[] => {
    const values = (member: number): readonly string[] => item[member] as readonly string[];
    switch (term.kind) {
      case 'iri': {
        let iris = [`http://e/${term.prefix}`];
        for (const member of term.members) iris = iris.flatMap((text) => values(member).map((value) => `${text}/${encoded(value)}`));
        return iris.map((text) => `<${text}>`);
      }
      case 'blank':
        return values(term.member).map((value) => `_:b${label(value)}`);
      case 'literal':
        return values(term.member).map((value) => `"${escaped(value)}"`);
      case 'fresh':
        return [`_:f${label(`http://e/m${of}`)}_r${at}`];
      default: {
        const map = maps[term.map] as Map;
        const all = (other: Item, position: number): readonly string[] =>
          term.kind === 'subject of' ? texts(map.subject, term.map, other, position) : triples(term.map, other, position);
        if (term.on.length === 0) return all(item, at);
        const meets = (other: Item): boolean => term.on.every(([c, p]) => item[c]?.some((value) => other[p]?.includes(value)));
        return itemsOf(map).flatMap((other, position) => (meets(other) ? all(other, position) : []));
      }
    }
  };
  const statements = (of: number, item: Item, at: number): [triple: string, graph: string][] => {
    const { subject, rules } = maps[of] as Map;
    const subjects = new Set(texts(subject, of, item, at));
    return rules.flatMap(({ predicate, object, graph }) => {
      const objects = new Set(texts(object, of, item, at));
      const graphs = graph === undefined ? [''] : texts(graph, of, item, at).map((text) => ` ${text}`);
      return texts(predicate, of, item, at).flatMap((p) =>
        [...subjects].flatMap((s) => [...objects].flatMap((o) => graphs.map((g): [string, string] => [`${s} ${p} ${o}`, g]))),
      );
    });
  };
  const known = new globalThis.Map<string, readonly string[]>();
  /** Whatever its graphs: a graph without a value leaves out the statement, not the quoted triple. */
  const triples = (of: number, item: Item, at: number): readonly string[] => {
    const { file, subject, rules } = maps[of] as Map;
    const key = `${of} ${file} ${at}`;
    const found = itemsOf(maps[of] as Map)[at] === item ? known.get(key) : undefined;
    if (found !== undefined) return found;
    const subjects = new Set(texts(subject, of, item, at));
    const made = rules.flatMap(({ predicate, object }) =>
      texts(predicate, of, item, at).flatMap((p) =>
        [...new Set(texts(object, of, item, at))].flatMap((o) => [...subjects].map((s) => `<< ${s} ${p} ${o} >>`)),
      ),
    );
    const distinct = [...new Set(made)];
    known.set(key, distinct);
    return distinct;
  };
  const lines = new Set<string>();
  for (const [of, map] of maps.entries()) {
    if (map.quotedOnly) continue;
    for (const [at, item] of itemsOf(map).entries())
      for (const [triple, graph] of statements(of, item, at)) lines.add(`${triple}${graph} .`);
  }
  return lines;
}

// ---------------------------------------------------------------- the comparison

let directory: string;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'quadmill-star-'));
});
afterAll(() => rmSync(directory, { recursive: true }));

async function run(changes: Partial<RunRequest>): Promise<string[]> {
  const parts: Buffer[] = [];
  const sink = { write: (lines: string) => void parts.push(Buffer.from(lines, 'latin1')), commit: async () => [], abort: async () => {} };
  const own = {
    runId: 'random',
    mappings: [join(directory, 'mapping.ttl')],
    inputs: [],
    workingDirectory: directory,
    spillDirectory: join(directory, 'spill'),
  };
  const report = await executeRun({ ...RUN_DEFAULTS, ...own, ...changes }, sink, {});
  const lines = Buffer.concat(parts).toString().split('\n').slice(0, -1);
  expect(report.quads).toBe(lines.length);
  return lines;
}

/** Two threads share what the plan does not hold together. */
async function compareThreads(seed: number): Promise<void> {
  const invented = invent(seed, 8, true);
  for (const [i, items] of invented.files.entries()) writeFileSync(join(directory, `f${i}.json`), json(items));
  const { maps } = invented;
  writeFileSync(join(directory, 'mapping.ttl'), turtle(maps, [...maps.keys()]));
  const expected = evaluate(invented);
  expect((await run({ threads: 2, rdf: '1.2' })).sort()).toEqual([...inRdf12(expected)].sort());
}

async function compare(seed: number, records: number): Promise<void> {
  const invented = invent(seed, records);
  const { files, maps } = invented;
  for (const [i, items] of files.entries()) writeFileSync(join(directory, `f${i}.json`), json(items));
  const expected = [...evaluate(invented)].sort();
  const orders = [maps.map((_, i) => i), maps.map((_, i) => maps.length - 1 - i)];
  const expectedIn12 = [...inRdf12(expected)].sort();
  for (const order of orders) {
    writeFileSync(join(directory, 'mapping.ttl'), turtle(maps, order));
    for (const memoryBudgetBytes of [RUN_DEFAULTS.memoryBudgetBytes, 0]) {
      expect((await run({ memoryBudgetBytes })).sort()).toEqual(expected);
      expect([...new Set(await run({ memoryBudgetBytes, distinct: false }))].sort()).toEqual(expected);
      expect((await run({ memoryBudgetBytes, rdf: '1.2' })).sort()).toEqual(expectedIn12);
      expect([...new Set(await run({ memoryBudgetBytes, rdf: '1.2', distinct: false }))].sort()).toEqual(expectedIn12);
    }
  }
}

describe('random quoted triples', () => {
  test.each(seeds(1, 60))('seed %d', (seed) => compare(seed, 5));
  test.each(seeds(1, 4))('seed %d, many records', (seed) => compare(seed, 60));
  test.each(seeds(1, 12))('seed %d, in RDF 1.2 by two threads', compareThreads);
});
