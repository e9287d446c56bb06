/**
 * Random quoted triples against nested loops: as subjects and objects, nested, with and without joins, of triples maps that themselves join,
 * with several values, nulls, blank nodes of each record and repeated records. What a mapping gives depends neither on memory nor on the
 * order of its triples maps. In RDF 1.2 it gives the same, rewritten.
 */
import { join } from 'node:path';
import { describe, expect } from '@jest/globals';
import { RUN_DEFAULTS } from '../../../../../src/config/run-defaults.ts';
import { blankLabel, fromBytes, toBytes } from '../../../../../src/core/text.ts';
import { mapsOf } from '../../../../../src/plan/plan.ts';
import { labelOfMap, labelsOfScan } from '../../../../../src/run/prepare/labels.ts';
import { prepareRun } from '../../../../../src/run/prepare/prepare.ts';
import { share, sharedTest } from '../../../../support/jest/extent.ts';
import { inRdf12 } from '../../../../support/quoted-triples.ts';
import { seeds } from '../../../../support/random.ts';
import { plainLabels } from '../../../../support/read-rdf.ts';
import { formatOf } from '../equalities/written.ts';
import { escaped } from '../texts.ts';
import {
  dice,
  type Item,
  inventFiles,
  iris,
  itemsDirectory,
  joinText,
  MEMBERS,
  meets,
  reference as path,
  SINGLE,
  sourceText,
  type Template,
  templateText,
} from './items.ts';

const VALUES = ['a', 'b', 'c', 'a b', '', 'ü', '>> ', '<< <s>', '"q"', '\\', 'line\nbreak', '%41', 'x/y', '_:b'];

type Conditions = readonly (readonly [child: number, parent: number])[];

type Term =
  | (Template & { readonly kind: 'iri' })
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
  const random = dice(seed);
  const { below, pick, times } = random;
  const files = inventFiles(random, VALUES, { records, more: 5, empty: 6, many: 3 });
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

function termText(term: Term | Reference): string {
  switch (term.kind) {
    case 'iri':
      return templateText(term);
    case 'blank':
      return `rml:reference "${path(term.member)}" ; rml:termType rml:BlankNode`;
    case 'literal':
      return `rml:reference "${path(term.member)}" ; rml:termType rml:Literal`;
    case 'fresh':
      return 'rml:termType rml:BlankNode';
    default:
      return `rml:${term.kind === 'subject of' ? 'parentTriplesMap' : 'quotedTriplesMap'} <http://e/m${term.map}>${joinText(term.on)}`;
  }
}

function turtle(maps: readonly Map[], order: readonly number[]): string {
  const rule = ({ predicate, object, graph }: Rule): string =>
    `; rml:predicateObjectMap [ rml:predicateMap [ ${termText(predicate)} ] ; rml:objectMap [ ${termText(object)} ]${graph === undefined ? '' : ` ; rml:graphMap [ ${termText(graph)} ]`} ]`;
  const map = (i: number): string => {
    const { file, subject, rules, quotedOnly } = maps[i] as Map;
    return `<http://e/m${i}> a rml:${quotedOnly ? 'NonAsserted' : ''}TriplesMap ; ${sourceText(file)} ; rml:subjectMap [ ${termText(subject)} ] ${rules.map(rule).join(' ')} .`;
  };
  return `@prefix rml: <http://w3id.org/rml/> .\n${order.map(map).join('\n')}\n`;
}

// ---------------------------------------------------------------- as nested loops

const label = (text: string): string => fromBytes(blankLabel(toBytes(text)));

function evaluate({ files, maps }: Case): Set<string> {
  const itemsOf = ({ file }: Map): readonly Item[] => files[file] as readonly Item[];
  const texts = (term: Term | Reference, of: number, item: Item, at: number): readonly string[] => {
    const values = (member: number): readonly string[] => item[member] as readonly string[];
    switch (term.kind) {
      case 'iri':
        return iris(term, item);
      case 'blank':
        return values(term.member).map((value) => `_:b${label(value)}`);
      case 'literal':
        return values(term.member).map((value) => `"${escaped(value)}"`);
      case 'fresh':
        return [`_:f${labelOfMap(`http://e/m${of}`).slice(1)}r${at}`];
      default: {
        const map = maps[term.map] as Map;
        const all = (other: Item, position: number): readonly string[] =>
          term.kind === 'subject of' ? texts(map.subject, term.map, other, position) : triples(term.map, other, position);
        if (term.on.length === 0) return all(item, at);
        return itemsOf(map).flatMap((other, position) => (meets(term.on, item, other) ? all(other, position) : []));
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

const directory = itemsDirectory();

/** Reifiers are named by their triples, with the labels that these have in a run. */
async function in12(lines: readonly string[]): Promise<string[]> {
  const path = join(directory.path(), 'mapping.ttl');
  const request = { ...RUN_DEFAULTS, runId: 'star', mappings: [path], inputs: [], workingDirectory: directory.path() };
  const { labels, plan, close } = await prepareRun({ ...request, spillDirectory: directory.path() }, undefined);
  await close();
  const rows = new Map(
    plan.scans.flatMap(({ iterations }, position) =>
      iterations.flatMap(mapsOf).map(({ map }) => [labelOfMap(map.id).slice(1), labelsOfScan(labels, position).rows(map.id)] as const),
    ),
  );
  const real = lines.map((line) =>
    line.replace(/(?<!")_:f(\w{16})r/g, (_, map: string) => `_:${rows.get(map)}r`).replace(/(?<!")_:b/g, `_:${labels.values}b`),
  );
  return [...inRdf12(real)].map(plainLabels).sort();
}

/** Two threads share what the plan does not hold together. */
async function compareThreads(seed: number): Promise<void> {
  const invented = invent(seed, 8, true);
  directory.writeFiles(invented.files);
  const { maps } = invented;
  directory.writeMapping(turtle(maps, [...maps.keys()]));
  const expected = evaluate(invented);
  expect((await directory.run({ threads: 2, rdf: '1.2' })).sort()).toEqual(await in12([...expected]));
}

async function compare(seed: number, records: number): Promise<void> {
  const invented = invent(seed, records);
  const { maps } = invented;
  directory.writeFiles(invented.files);
  const expected = [...evaluate(invented)].sort();
  const orders = [maps.map((_, i) => i), maps.map((_, i) => maps.length - 1 - i)];
  for (const order of orders) {
    directory.writeMapping(turtle(maps, order));
    const expectedIn12 = await in12(expected);
    for (const memoryBudgetBytes of [RUN_DEFAULTS.memoryBudgetBytes, 0]) {
      expect((await directory.run({ memoryBudgetBytes })).sort()).toEqual(expected);
      expect([...new Set(await directory.run({ memoryBudgetBytes, distinct: false }))].sort()).toEqual(expected);
      expect((await directory.run({ memoryBudgetBytes, rdf: '1.2' })).sort()).toEqual(expectedIn12);
      expect([...new Set(await directory.run({ memoryBudgetBytes, rdf: '1.2', distinct: false }))].sort()).toEqual(expectedIn12);
      for (const rdf of ['star', '1.2'] as const) await directory.expectSameIn(formatOf(seed), { memoryBudgetBytes, rdf, threads: 1 });
    }
  }
}

describe('random quoted triples', () => {
  sharedTest.each(share(10, seeds(1, 60)))('seed %d', (seed) => compare(seed, 5));
  sharedTest.each(share(1, seeds(1, 4)))('seed %d, many records', (seed) => compare(seed, 60));
  sharedTest.each(share(3, seeds(1, 12)))('seed %d, in RDF 1.2 by two threads', compareThreads);
});
