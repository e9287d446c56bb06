/**
 * Random gather maps against nested loops: lists and containers, with unnamed and named heads, nested, as products, empty, in
 * graphs, with members from joins, over rows of views, and with rejected records. Members and their order depend neither on memory nor on the
 * order of triples maps.
 */
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect } from '@jest/globals';
import { RUN_DEFAULTS } from '../../../../../src/config/run-defaults.ts';
import { executeRun } from '../../../../../src/run/run.ts';
import { sliceRun } from '../../../../../src/run/slices/slices.ts';
import { share, sharedTest, test } from '../../../../support/jest/extent.ts';
import { Random, seeds } from '../../../../support/random.ts';
import { plainLabels } from '../../../../support/read-rdf.ts';

interface Row {
  readonly id: string;
  readonly k?: string;
  readonly a?: readonly string[];
  readonly b?: readonly string[];
  readonly g?: string;
  /** An IRI, or none: then the record is rejected where it is read. */
  readonly iri?: string;
}

type Member =
  | { readonly kind: 'a' | 'b' | 'pair' | 'iri' | 'same' | 'joined' | 'itself' }
  | { readonly kind: 'gather'; readonly map: Gather };

interface Gather {
  readonly as: 'List' | 'Bag' | 'Seq' | 'Alt';
  readonly head: 'none' | 'template' | 'blank' | 'constant';
  /** Tells named heads apart. */
  readonly number: number;
  readonly members: readonly Member[];
  readonly product: boolean;
  readonly allowEmpty: boolean;
}

interface Case {
  readonly rows: readonly Row[];
  readonly others: readonly { readonly k?: string; readonly n: string }[];
  readonly gathers: readonly Gather[];
  readonly graph: boolean;
  readonly subject: Gather | undefined;
  /** The rows come from a view that joins `others`. */
  readonly view: boolean;
}

function invent(seed: number, count: number): Case {
  const random = new Random(seed);
  const below = (n: number): number => random.between(0, n - 1);
  const pick = <T>(of: readonly T[]): T => random.pick(of);
  const times = <T>(n: number, make: (i: number) => T): T[] => Array.from({ length: n }, (_, i) => make(i));
  const some = <T>(make: () => T): T | undefined => (below(5) === 0 ? undefined : make());
  const key = (): string => `k${below(Math.max(3, count / 2))}`;
  const view = below(5) === 0;
  let number = 0;
  const gather = (depth: number, joins: boolean): Gather => ({
    number: number++,
    as: pick(['List', 'List', 'Bag', 'Seq', 'Alt']),
    head: pick(['none', 'none', 'template', 'blank', 'constant']),
    product: below(4) === 0,
    allowEmpty: below(3) === 0,
    members: times(below(3) + 1, (): Member => {
      if (depth < 1 && below(4) === 0) return { kind: 'gather', map: gather(depth + 1, joins) };
      return {
        kind: pick([
          'a',
          'b',
          'pair',
          'iri',
          ...(view ? [] : (['same'] as const)),
          ...(joins && !view ? (['joined', 'itself'] as const) : []),
        ]),
      };
    }),
  });
  return {
    view,
    rows: times(below(count) + 1, (i) => ({
      id: `p${below(10) === 0 ? 0 : i}`,
      k: some(key),
      a: some(() => times(below(4), () => pick(['x', 'y', 'z ü']))),
      b: some(() => times(below(3), () => `${below(3)}`)),
      g: some(() => `g${below(2)}`),
      iri: some(() => (below(12) === 0 ? 'http://e/not an IRI' : `http://e/i${below(4)}`)),
    })),
    others: times(below(count * 2), (i) => ({ k: some(key), n: `n${below(4) === 0 ? 0 : i}` })),
    gathers: times(below(2) + 1, () => gather(0, true)),
    graph: below(3) === 0,
    subject: below(4) === 0 ? gather(0, false) : undefined,
  };
}

// ---------------------------------------------------------------- the mapping

function mappingOf({ gathers, graph, subject, view }: Case, swapped: boolean): string {
  const source = (path: string) =>
    `rml:source [ a rml:RelativePathSource ; rml:root rml:MappingDirectory ; rml:path "${path}" ] ; rml:referenceFormulation rml:JSONPath ; rml:iterator "$[*]"`;
  const name = (one: string, many = false): string => (view ? one : `$.${one}${many ? '[*]' : ''}`);
  const written = ({ as, head, number, members, product, allowEmpty }: Gather): string => {
    const heads = {
      none: '',
      template: `rml:template "http://e/h${number}/{${name('k')}}" ;`,
      blank: `rml:template "h${number}-{${name('k')}}" ; rml:termType rml:BlankNode ;`,
      constant: `rml:constant <http://e/h${number}> ;`,
    };
    return `${heads[head]} rml:gather ( ${members.map(memberOf).join(' ')} ) ; rml:gatherAs rdf:${as} ;${product ? ' rml:strategy rml:cartesianProduct ;' : ''}${allowEmpty ? ' rml:allowEmptyListAndContainer true ;' : ''}`;
  };
  const memberOf = (member: Member): string => {
    switch (member.kind) {
      case 'gather':
        return `[ ${written(member.map)} ]`;
      case 'pair':
        return `[ rml:template "{${name('a', true)}}|{${name('b', true)}}" ; rml:termType rml:Literal ]`;
      case 'iri':
        return `[ rml:reference "${name('iri')}" ; rml:termType rml:IRI ]`;
      case 'same':
        return '[ rml:parentTriplesMap <same> ]';
      case 'joined':
        return '[ rml:parentTriplesMap <others> ; rml:joinCondition [ rml:child "$.k" ; rml:parent "$.k" ] ]';
      case 'itself':
        return '[ rml:parentTriplesMap <same> ; rml:joinCondition [ rml:child "$.k" ; rml:parent "$.k" ] ]';
      default:
        return `[ rml:reference "${name(member.kind, true)}" ]`;
    }
  };
  const graphs = graph ? `rml:graphMap [ rml:template "http://e/{${name('g')}}" ]` : '';
  const own = subject === undefined ? `[ rml:template "http://e/{${name('id')}}" ; ${graphs} ]` : `[ ${written(subject)} ${graphs} ]`;
  const field = (one: string, reference: string) => `[ rml:fieldName "${one}" ; rml:reference "${reference}" ]`;
  const fields = [...['id', 'k', 'g', 'iri'].map((one) => field(one, `$.${one}`)), field('a', '$.a[*]')].join(' , ');
  const rows = view
    ? `<view> rml:viewOn [ ${source('rows.json')} ] ; rml:field ${fields} ;
  rml:leftJoin [ rml:parentLogicalView <joined> ; rml:joinCondition [ rml:child "k" ; rml:parent "k" ] ; rml:field ${field('b', 'n')} ] .
<joined> rml:viewOn [ ${source('others.json')} ] ; rml:field ${field('k', '$.k')} , ${field('n', '$.n')} .\n`
    : '';
  const main = `<map> rml:logicalSource ${view ? '<view>' : `[ ${source('rows.json')} ]`} ; rml:subjectMap ${own} ; rml:predicateObjectMap ${gathers.map((one) => `[ rml:predicate ex:p${one.number} ; rml:objectMap [ ${written(one)} ] ]`).join(' , ')} .\n`;
  const others = `<others> rml:logicalSource [ ${source('others.json')} ] ; rml:subjectMap [ rml:template "http://e/{$.n}" ] .\n`;
  const same = `<same> rml:logicalSource [ ${source('rows.json')} ] ; rml:subjectMap [ rml:template "http://e/{$.id}" ] .\n`;
  const parts = swapped ? [others, main, same] : [same, main, others];
  return `@prefix rml: <http://w3id.org/rml/> . @prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> . @prefix ex: <http://e/> . @base <http://m/> .\n${parts.join('')}${rows}`;
}

// ---------------------------------------------------------------- nested loops

const NIL = '()';

/** What is stated, as facts: statements between heads, and each head with its members. An unnamed head is written as its members. */
function evaluate({ rows, others, gathers, graph, subject, view }: Case): string[] {
  const facts: string[] = [];
  const plain = new Set<string>();
  const named = new Map<
    string,
    { readonly head: string; readonly graph: string; readonly types: Set<string>; readonly items: string[]; readonly list: boolean }
  >();
  const lit = (text: string): string => `"${text}"`;
  const met = (k: string | undefined, with_: readonly { readonly k?: string }[]) =>
    with_.flatMap((one, i) => (k !== undefined && one.k === k ? [i] : []));
  const expanded: readonly Row[] = !view
    ? rows
    : rows.flatMap((row) => {
        const found = met(row.k, others).map((i) => others[i]?.n as string);
        return (row.a === undefined || row.a.length === 0 ? [undefined] : row.a).flatMap((a) =>
          (found.length === 0 ? [undefined] : found).map((b) => ({ ...row, a: a === undefined ? [] : [a], b: b === undefined ? [] : [b] })),
        );
      });

  for (const row of expanded) {
    const graphs = graph ? (row.g === undefined ? [] : [`<http://e/${row.g}>`]) : [''];
    /** Collected first: a rejected record leaves nothing. */
    const states: (() => void)[] = [];
    let rejected = false;
    const tokensOf = (member: Exclude<Member, { kind: 'gather' }>): readonly string[] => {
      const { a = [], b = [] } = row;
      switch (member.kind) {
        case 'a':
          return a.map(lit);
        case 'b':
          return b.map(lit);
        case 'pair':
          return a.flatMap((x) => b.map((y) => lit(`${x}|${y}`)));
        case 'iri':
          if (row.iri?.includes(' ')) rejected = true;
          return row.iri === undefined ? [] : [`<${row.iri}>`];
        case 'same':
          return [`<http://e/${row.id}>`];
        case 'joined':
          return met(row.k, others).map((i) => `<http://e/${others[i]?.n}>`);
        case 'itself':
          return met(row.k, rows).map((i) => `<http://e/${rows[i]?.id}>`);
      }
    };
    const state = (of: Gather, head: string, items: readonly string[]): void => {
      for (const at of graphs) {
        const key = `${of.as === 'List'} ${head} ${at}`;
        const known = named.get(key) ?? { head, graph: at, types: new Set(), items: [], list: of.as === 'List' };
        known.types.add(of.as);
        known.items.push(...items);
        named.set(key, known);
      }
    };
    const own = (of: Gather, items: readonly string[]): string => {
      const text = `${of.as}(${items.join(' ')})`;
      states.push(() => facts.push(...graphs.map((at) => `own ${text} ${at}`)));
      return text;
    };
    const make = (of: Gather): { readonly heads: readonly string[]; readonly stating: readonly (() => void)[] } => {
      const inner: (() => void)[] = [];
      const from = states.length;
      const members = of.members.map((member) => {
        if (member.kind !== 'gather') return tokensOf(member);
        const made = make(member.map);
        inner.push(...made.stating);
        return made.heads;
      });
      const made = [...states.splice(from), ...inner];
      const names = {
        none: [],
        constant: [`<http://e/h${of.number}>`],
        template: row.k === undefined ? [] : [`<http://e/h${of.number}/${row.k}>`],
        blank: row.k === undefined ? [] : [`_:bh${of.number}_2d${row.k}`],
      };
      if (of.head !== 'none' && names[of.head].length === 0) return { heads: [], stating: [] };
      const combinations = of.product
        ? members.reduce<readonly (readonly string[])[]>(
            (all, tokens) => all.flatMap((one) => tokens.map((token) => [...one, token])),
            [[]],
          )
        : [members.flat()].filter((items) => items.length > 0);
      if (combinations.length === 0) {
        if (!of.allowEmpty) return { heads: [], stating: [] };
        if (of.as === 'List') return { heads: [NIL], stating: [] };
      }
      // What nothing holds is not stated.
      const within = combinations.length === 0 ? [] : made;
      const lists = combinations.length === 0 ? [[]] : combinations;
      if (of.head !== 'none') {
        const [head] = names[of.head] as [string];
        return { heads: [head], stating: [...within, () => state(of, head, lists.flat())] };
      }
      const before = states.length;
      const heads = lists.map((items) => own(of, items));
      return { heads, stating: [...within, ...states.splice(before)] };
    };
    const ofSubject = subject === undefined ? undefined : make(subject);
    const subjects = ofSubject === undefined ? [`<http://e/${row.id}>`] : ofSubject.heads;
    // Nothing else is read of a record without a subject.
    if (subjects.length === 0 && !rejected) continue;
    const objects = gathers.map((one) => ({ one, made: make(one) }));
    if (rejected) continue;
    for (const each of ofSubject?.stating ?? []) each();
    for (const { one, made } of objects) {
      for (const each of made.stating) each();
      for (const s of subjects) {
        for (const o of made.heads) {
          const isOwn = (text: string) => /^(List|Bag|Seq|Alt)\(/.test(text);
          for (const at of graphs) {
            const line = `${s} <http://e/p${one.number}> ${o} ${at}`;
            if (isOwn(s) || isOwn(o)) facts.push(line);
            else plain.add(line);
          }
        }
      }
    }
  }
  for (const { head, graph: at, types, items, list } of named.values())
    facts.push(`${head} ${list ? 'List' : [...types].sort().join()}(${items.join(' ')}) ${at}`);
  return [...facts, ...plain].sort();
}

// ---------------------------------------------------------------- what the engine gives, as facts

const RDF = 'http://www.w3.org/1999/02/22-rdf-syntax-ns#';

function factsOf(lines: readonly string[]): string[] {
  const quads = lines.map((line) => /^(\S+) <([^>]*)> ("(?:[^"\\]|\\.)*"|\S+)(?: (<\S+>))? \.$/.exec(line) as RegExpExecArray);
  const byNode = new Map<string, { readonly p: string; readonly o: string }[]>();
  const keyOf = (node: string, graph: string): string => `${node} ${graph}`;
  for (const [, s, p, o, g = ''] of quads as unknown as [string, string, string, string, string?][]) {
    const key = keyOf(s, g);
    byNode.set(key, [...(byNode.get(key) ?? []), { p, o }]);
  }
  const only = (node: string, graph: string, p: string): string => {
    const found = (byNode.get(keyOf(node, graph)) ?? []).filter((one) => one.p === p);
    if (found.length !== 1) throw new Error(`${node} has ${found.length} of ${p} in ${graph}`);
    return found[0]?.o as string;
  };
  const isInner = new Set(quads.flatMap(([, , p, o]) => (p === `${RDF}rest` ? [o as string] : [])));
  const isOwn = (node: string): boolean => node.startsWith('_:f');
  const has = (node: string, graph: string, p: string): boolean => (byNode.get(keyOf(node, graph)) ?? []).some((one) => one.p === p);
  const listAt = (head: string, graph: string): string => {
    const items: string[] = [];
    for (let node = head; node !== `<${RDF}nil>`; node = only(node, graph, `${RDF}rest`))
      items.push(textOf(only(node, graph, `${RDF}first`), graph));
    return `List(${items.join(' ')})`;
  };
  const containerAt = (head: string, graph: string): string => {
    const own = byNode.get(keyOf(head, graph)) ?? [];
    const types = own.flatMap(({ p, o }) => (p === `${RDF}type` ? [o.slice(RDF.length + 1, -1)] : []));
    const numbered = own.flatMap(({ p, o }) => (p.startsWith(`${RDF}_`) ? [[Number(p.slice(RDF.length + 1)), o] as const] : []));
    numbered.sort(([m], [n]) => m - n);
    expect(numbered.map(([n]) => n)).toEqual(numbered.map((_, i) => i + 1));
    return `${types.sort().join()}(${numbered.map(([, o]) => textOf(o, graph)).join(' ')})`;
  };
  const textOf = (node: string, graph: string): string => {
    if (node === `<${RDF}nil>`) return NIL;
    if (!isOwn(node)) return node;
    return has(node, graph, `${RDF}first`) ? listAt(node, graph) : containerAt(node, graph);
  };
  const facts: string[] = [];
  for (const [key, own] of byNode) {
    const at = key.indexOf(' ');
    const [node, graph] = [key.slice(0, at), key.slice(at + 1)];
    for (const { p, o } of own) if (!p.startsWith(RDF)) facts.push(`${textOf(node, graph)} <${p}> ${textOf(o, graph)} ${graph}`);
    if (isInner.has(node)) continue;
    const begin = isOwn(node) ? 'own' : node;
    if (has(node, graph, `${RDF}first`)) facts.push(`${begin} ${listAt(node, graph)} ${graph}`);
    if (has(node, graph, `${RDF}type`)) facts.push(`${begin} ${containerAt(node, graph)} ${graph}`);
  }
  return facts.sort();
}

let directory: string;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'quadmill-gathers-'));
});
afterAll(() => rmSync(directory, { recursive: true }));

async function run(memoryBudgetBytes: number, distinct: boolean, threads = 1): Promise<string[]> {
  const parts: Buffer[] = [];
  const sink = { write: (lines: string) => void parts.push(Buffer.from(lines, 'latin1')), commit: async () => [], abort: async () => {} };
  const spillDirectory = mkdtempSync(join(tmpdir(), 'quadmill-gathers-spill-'));
  const mappings = [join(directory, 'mapping.ttl')];
  const common = {
    runId: 'gathers',
    mappings,
    inputs: [],
    workingDirectory: directory,
    spillDirectory,
    onError: 'skip' as const,
    maxRejected: 1e9,
  };
  try {
    const { quads } = await executeRun({ ...RUN_DEFAULTS, ...common, memoryBudgetBytes, distinct, threads, threadBytes: 100 }, sink, {});
    expect(readdirSync(spillDirectory)).toEqual([]);
    const lines = plainLabels(Buffer.concat(parts).toString()).split('\n').slice(0, -1);
    expect(lines.length).toBe(quads);
    return lines;
  } finally {
    rmSync(spillDirectory, { recursive: true });
  }
}

async function compare(one: Case, inThreads = false): Promise<void> {
  writeFileSync(join(directory, 'rows.json'), JSON.stringify(one.rows));
  writeFileSync(join(directory, 'others.json'), JSON.stringify(one.others));
  const expected = evaluate(one);
  for (const swapped of [false, true]) {
    writeFileSync(join(directory, 'mapping.ttl'), mappingOf(one, swapped));
    for (const memoryBudgetBytes of [RUN_DEFAULTS.memoryBudgetBytes, 0]) {
      const lines = await run(memoryBudgetBytes, true);
      expect(new Set(lines).size).toBe(lines.length);
      expect(factsOf(lines)).toEqual(expected);
    }
    expect(factsOf([...new Set(await run(RUN_DEFAULTS.memoryBudgetBytes, false))])).toEqual(expected);
    if (inThreads) expect(factsOf(await run(RUN_DEFAULTS.memoryBudgetBytes, true, 3))).toEqual(expected);
  }
}

describe('collections are what nested loops give', () => {
  sharedTest.each(share(20, seeds(1, 100)))('seed %i', (seed) => compare(invent(seed, seed % 3 === 0 ? 40 : 8), seed % 4 === 0));

  // More heads than a table holds without a budget: their members are numbered at the end.
  sharedTest.each(share(1, [1, 2, 3]))('thousands of heads, seed %i', (seed) => {
    const one = invent(seed, 4000);
    const head = { number: 9, as: seed === 2 ? ('Seq' as const) : ('List' as const), product: false, allowEmpty: seed === 3 };
    const members: Member[] = [
      { kind: 'a' },
      { kind: 'gather', map: { ...head, number: 8, head: 'blank', members: [{ kind: 'b' }] } },
      { kind: 'same' },
    ];
    const rows = Array.from({ length: 5000 }, (_, i) => one.rows[i % one.rows.length] as Row);
    return compare({ ...one, view: false, rows, subject: undefined, gathers: [{ ...head, head: 'template', members }] });
  });
});

describe('slices', () => {
  const mapping = (
    head: string,
  ) => `@prefix rml: <http://w3id.org/rml/> . @prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> . @base <http://m/> .
<map> rml:logicalSource [ rml:source [ a rml:RelativePathSource ; rml:root rml:MappingDirectory ; rml:path "in.csv" ] ; rml:referenceFormulation rml:CSV ] ;
  rml:subjectMap [ rml:template "http://e/{id}" ] ; rml:predicateObjectMap [ rml:predicate <http://e/p> ; rml:objectMap [ ${head} rml:gather ( [ rml:reference "a" ] [ rml:reference "b" ] ) ; rml:gatherAs rdf:List ] ] .`;
  const slicesOf = async (head: string) => {
    writeFileSync(join(directory, 'mapping.ttl'), mapping(head));
    writeFileSync(join(directory, 'in.csv'), `id,a,b\n${Array.from({ length: 200 }, (_, i) => `${i % 50},a${i % 7},b\n`).join('')}`);
    const request = {
      ...RUN_DEFAULTS,
      runId: 'gathers',
      mappings: [join(directory, 'mapping.ttl')],
      inputs: [{ name: 'in.csv', url: 'in.csv' }],
      workingDirectory: directory,
      spillDirectory: join(directory, 'spill'),
    };
    return { request, cut: await sliceRun(request, { rows: 0, bytes: 400 }, new AbortController().signal) };
  };

  test('rows that append to collections stay together', async () => {
    expect((await slicesOf('rml:template "http://e/list/{a}" ;')).cut).toBe(undefined);
  });

  test('of rows with separate collections give other blank nodes', async () => {
    const { request, cut } = await slicesOf('');
    const lines: string[] = [];
    const sink = {
      write: (text: string) => void lines.push(...plainLabels(text).split('\n').slice(0, -1)),
      commit: async () => [],
      abort: async () => {},
    };
    for (const slice of cut?.slices ?? []) await executeRun({ ...request, slice }, sink, {});
    await cut?.release();
    expect(cut?.slices.length).toBeGreaterThan(2);
    const inSlices = factsOf(lines);
    lines.length = 0;
    await executeRun(request, sink, {});
    expect(inSlices).toEqual(factsOf(lines));
  });
});
