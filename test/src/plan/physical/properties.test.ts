/** What nodes claim to provide holds of the rows that the naive evaluator makes: of random mappings over files, tables and views. */
import { describe, expect, test } from '@jest/globals';
import type { Mapping, SqlSource } from '../../../../src/mapping/model/model.ts';
import { readMapping } from '../../../../src/mapping/parse/read.ts';
import type { DatabaseRows, MapRules, Operator, Scan } from '../../../../src/plan/algebra.ts';
import { type CatalogueMetadata, NO_METADATA } from '../../../../src/plan/catalogue-metadata.ts';
import { scanOf } from '../../../../src/plan/expressions.ts';
import { lower } from '../../../../src/plan/physical/lower.ts';
import type { DocumentKey, EncodeNode, Node, PhysicalPlan } from '../../../../src/plan/physical/nodes.ts';
import { isOfPairs, leavesOfMap, mapsOf, type Plan } from '../../../../src/plan/plan.ts';
import { planMapping } from '../../../../src/plan/planning.ts';
import { Random, seeds } from '../../../support/random.ts';
import { invent, type RandomMapping, type Term, turtle } from '../../run/random/mapping.ts';
import { dataOf, jsonData, overTables } from '../data.ts';
import { type Data, evaluateMap, evaluateRows, evaluateSide, type Value } from '../evaluate.ts';
import { inventViews } from '../rewrite/views.ts';

async function read(text: string, base: string): Promise<Mapping> {
  const { mapping, diagnostics } = await readMapping([{ name: 'm.ttl', text }], { baseIri: base });
  expect(diagnostics.filter(({ severity }) => severity === 'error')).toEqual([]);
  return mapping;
}

/** How often each claim was compared with rows. */
const compared = { divisible: 0, repeatable: 0, distinct: 0, catalogue: 0, found: 0, pairs: 0, first: 0, some: 0, subjects: 0 };

/** The rows of a node, as texts. `position` is left out where it is that of a part. */
function rowsOf(plan: PhysicalPlan, node: Node, data: Data, builds: Data, isPart: boolean): readonly string[] | undefined {
  switch (node.kind) {
    case 'scan':
    case 'unnest':
    case 'extend':
    case 'number':
    case 'join':
      return evaluateRows(node.operator, data, builds, isPart ? scanOf(node.operator).index : undefined);
    case 'project':
      return evaluateSide(node.operator, data, builds);
    case 'encode':
      return evaluateMap(rulesOf(plan, node), data, builds).flatMap(([, statements]) => statements);
    default:
      return undefined;
  }
}

/** The scan whose records are divided. */
function ownScan({ nodes }: PhysicalPlan, node: Node): Scan {
  const [input] = node.inputs;
  return node.kind === 'scan' ? node.operator : ownScan({ nodes } as PhysicalPlan, nodes[input as number] as Node);
}

function rulesOf({ nodes }: PhysicalPlan, { map, rules, inputs }: EncodeNode): MapRules {
  const input = nodes[inputs[0] as number] as Extract<Node, { operator: Operator }>;
  const rows = input.kind === 'join' && input.gives === 'objects' ? input.operator.left : input.operator;
  return {
    ...map,
    rows,
    collects: [],
    emits: rules.map(({ predicate, object, graph }) => {
      const place = { predicate, graph, target: undefined };
      if (object.kind === 'term') return { input: rows, object: object.term, ...place };
      const [column] = object.operator.columns;
      if (column === undefined) throw new Error('a join brings no object');
      return { input: object.operator, object: { kind: 'encoded', origin: map.map.origin, column }, ...place };
    }),
  };
}

/** The data of which a scan has some of its records. */
const withRecords = (data: Data, scan: Scan, has: (record: number) => boolean): Data => ({
  ...data,
  records: (of) => (of === scan ? data.records(of).filter((_, record) => has(record)) : data.records(of)),
});

/** The same records as the same objects each time. */
function remembered(data: Data): Data {
  const records = new Map<Scan, ReturnType<Data['records']>>();
  const within = new Map<string, readonly unknown[]>();
  return {
    ...data,
    records: (of) => {
      const known = records.get(of) ?? data.records(of);
      records.set(of, known);
      return known;
    },
    within: (...of) => {
      const known = within.get(JSON.stringify(of)) ?? data.within(...of);
      within.set(JSON.stringify(of), known);
      return known;
    },
  };
}

function attack(mapping: Mapping, base: string, facts: CatalogueMetadata, of: Data, random: Random): void {
  const all = remembered(of);
  const layout = planMapping(mapping, base, facts);
  const data = remembered({
    ...all,
    records: (scan) => (scan.source.kind === 'sql-pairs' ? distinctPairs(layout, scan, all) : all.records(scan)),
  });
  const plan = lower(layout, true, keysOfDocuments(layout, data));
  expect(structuredClone(plan)).toEqual(plan);
  for (const [id, node] of plan.nodes.entries()) {
    const { partitioning, ofFirst, readsPosition, deterministic, unique, subjectTellsRow } = plan.provided[
      id
    ] as PhysicalPlan['provided'][number];
    const rows = rowsOf(plan, node, data, data, false);
    if (rows === undefined) continue;
    const where = `${id + 1} ${node.kind}`;
    if (deterministic) {
      compared.repeatable++;
      expect({ where, rows: rowsOf(plan, node, data, data, false) }).toEqual({ where, rows });
    }
    if (unique === 'distinct' || unique === 'catalogue' || unique === 'found') {
      compared[unique]++;
      if (unique === 'catalogue' && node.kind === 'encode' && isOfPairs(node.map.map)) compared.pairs++;
      expect({ where, unique, rows: [...new Set(rows)].length }).toEqual({ where, unique, rows: rows.length });
    }
    if (subjectTellsRow && node.kind === 'encode') {
      compared.subjects++;
      // Pairs of one child have its subject.
      const rows = data.records(ownScan(plan, node)).map(([row]) => row);
      const children = new Map<string, unknown>();
      for (const [i, [subjects]] of evaluateMap(rulesOf(plan, node), data, data).entries())
        for (const subject of subjects) {
          const row = isOfPairs(node.map.map) ? rows[i] : i;
          expect({ where, subject, row: children.get(subject) ?? row }).toEqual({ where, subject, row });
          children.set(subject, row);
        }
    }
    if (ofFirst !== 'others' && deterministic) {
      compared[ofFirst]++;
      const counts = new Map<Scan, number>();
      const first = { ...data, records: (scan: Scan) => data.records(scan).slice(0, countOf(counts, scan, random, data)) };
      const found = rowsOf(plan, node, first, first, false) ?? [];
      expect({ where, others: found.filter((row) => !rows.includes(row)) }).toEqual({ where, others: [] });
      if (ofFirst === 'first' && node.kind !== 'encode' && node.kind !== 'project')
        expect({ where, rows: found }).toEqual({ where, rows: rows.slice(0, found.length) });
    }
    if (partitioning === 'records' && !readsPosition && deterministic) {
      compared.divisible++;
      const scan = ownScan(plan, node);
      const partOf = data.records(scan).map(() => random.between(0, 2));
      const parts = [0, 1, 2].map((part) => withRecords(data, scan, (record) => partOf[record] === part));
      const together = parts.flatMap((part) => rowsOf(plan, node, part, data, true) ?? []);
      const whole = rowsOf(plan, node, data, data, true) ?? [];
      expect({ where, rows: [...new Set(together)].sort() }).toEqual({ where, rows: [...new Set(whole)].sort() });
    }
  }
}

/** The pairs as a database gives them: one of those that are equal in all that the plan reads. */
function distinctPairs({ scans }: Plan, scan: Scan, data: Data): ReturnType<Data['records']> {
  const iteration = scans.flatMap(({ iterations }) => iterations).find((one) => one.scan === scan);
  if (iteration === undefined) throw new Error('the plan does not read these pairs');
  const reads = iteration.pipelines
    .flatMap(({ maps }) => maps)
    .flatMap(leavesOfMap)
    .flatMap((leaf) => (leaf.kind === 'read' ? [leaf] : []));
  const textOf = (nodes: readonly unknown[]): string =>
    JSON.stringify(
      reads.map(({ record, reference }) => data.values(nodes[scan.records.indexOf(record)], reference).map(({ written }) => written)),
    );
  return [...new Map(data.records(scan).map((nodes) => [textOf(nodes), nodes])).values()];
}

/** The subjects with columns of documents that happen to have another text in each row. */
const keysOfDocuments = ({ scans }: Plan, data: Data): readonly DocumentKey[] =>
  scans.flatMap(({ source, iterations }, position) =>
    iterations.flatMap((iteration) =>
      mapsOf(iteration).flatMap(({ keyTerm, keyReferences }): readonly DocumentKey[] => {
        const isKey = (reference: string): boolean => {
          const texts = source.kind === 'file' ? data.records(iteration.scan).flatMap(([record]) => data.values(record, reference)) : [];
          return texts.length > 0 && new Set(texts.map(({ written }) => written)).size === texts.length;
        };
        return keyTerm !== undefined && keyReferences.some(isKey) ? [{ scan: position, term: keyTerm, by: 'found' }] : [];
      }),
    ),
  );

/** How many records of a scan are read. */
function countOf(counts: Map<Scan, number>, scan: Scan, random: Random, data: Data): number {
  const count = counts.get(scan) ?? random.between(0, data.records(scan).length);
  counts.set(scan, count);
  return count;
}

/** Records with one value in each column, and another one in that of the key. */
function withKey(data: Data, key: 'a' | 'b'): Data {
  const single = withOneValue(data);
  return {
    ...single,
    records: (scan) => {
      const known = new Set<string | undefined>([undefined]);
      return data.records(scan).filter(([record]) => {
        const [value] = (record as { readonly values: Readonly<Record<string, readonly Value[]>> }).values[key] ?? [];
        const isNew = !known.has(value?.written);
        known.add(value?.written);
        return isNew;
      });
    },
  };
}

/** Each text is `x` or `xx`: many are equal, and so is what templates make of them. */
function withFewTexts(mapping: RandomMapping): Data {
  const data = dataOf(mapping);
  const values: Data['values'] = (...of) =>
    data.values(...of).map(({ written }) => {
      const text = written.length % 2 === 0 ? 'x' : 'xx';
      return { written: text, literal: `"${text}"` };
    });
  return { ...data, values };
}

const withOneValue = (data: Data): Data => ({ ...data, values: (...of) => data.values(...of).slice(0, 1) });

/** The mapping with a join of each triples map, by a separate predicate. */
const withJoins = (mapping: RandomMapping, random: Random): RandomMapping => ({
  ...mapping,
  maps: mapping.maps.map((map, i) => {
    const object = {
      parent: random.between(0, mapping.maps.length - 1),
      on: [{ child: random.pick(['a', 'b'] as const), parent: random.pick(['a', 'b'] as const) }],
    };
    const predicate: Term = { value: { kind: 'constant', token: `<http://p/to${i}>` } };
    return { ...map, rules: [...map.rules, { predicate, object, graph: undefined }] };
  }),
});

/** What a catalogue would say of the tables, if each set of columns that happens to be a key were declared one. */
function keysIn(data: Data): CatalogueMetadata {
  const textsOf = (source: SqlSource, references: readonly string[]): readonly (readonly string[][])[] =>
    data
      .records({ kind: 'scan', source, records: [] } as unknown as Scan)
      .map(([record]) => references.map((reference) => data.values(record, reference).map(({ written }) => written)));
  const isKey = (source: SqlSource, references: readonly string[]): boolean => {
    const rows = textsOf(source, references);
    return (
      rows.every((row) => row.every((values) => values.length === 1)) &&
      new Set(rows.map((row) => JSON.stringify(row))).size === rows.length
    );
  };
  /** The columns of one side of pairs. */
  const of = (side: 'child' | 'parent', references: readonly string[]): readonly string[] =>
    references.flatMap((reference) => (reference.startsWith(`${side} `) ? [reference.slice(side.length + 1)] : []));
  const identifiesRow = (source: DatabaseRows, references: readonly string[]): boolean =>
    source.kind === 'sql' ? isKey(source, references) : isKey(source.child, of('child', references));
  const isSingle = (source: SqlSource, reference: string): boolean =>
    textsOf(source, [reference]).every(([values]) => (values?.length ?? 0) < 2);
  return {
    ...NO_METADATA,
    isKey: (source, references) => {
      const keys = source.kind === 'sql' ? [] : source.conditions.map(({ parent }) => parent);
      return identifiesRow(source, references) && (source.kind === 'sql' || isKey(source.parent, keys));
    },
    identifiesRow,
    // Equal texts are equal values here.
    areDistinct: () => true,
    isSingle: (source, reference) =>
      source.kind === 'sql'
        ? isSingle(source, reference)
        : (['child', 'parent'] as const).every((side) => of(side, [reference]).every((one) => isSingle(source[side], one))),
    isAlwaysValid: () => true,
    canJoin: (child, left, parent, right) => isSingle(child, left) && isSingle(parent, right),
  };
}

describe('what nodes provide holds of the rows of', () => {
  const all = seeds(1, 60);
  const files = (seed: number): RandomMapping => invent(seed, 8);

  test.each(all)('files, seed %d', async (seed) => {
    const mapping = files(seed);
    attack(await read(turtle(mapping), mapping.base), mapping.base, NO_METADATA, dataOf(mapping), new Random(seed));
  });

  test.each(all)('files of CSV with a key, seed %d', async (seed) => {
    const random = files(seed);
    const mapping = { ...random, sources: random.sources.map((source) => ({ ...source, format: 'csv' as const })) };
    const data = withKey(dataOf(mapping), seed % 2 === 0 ? 'a' : 'b');
    attack(await read(turtle(mapping), mapping.base), mapping.base, NO_METADATA, data, new Random(seed));
  });

  test.each(all)('tables, seed %d', async (seed) => {
    const mapping = files(seed);
    const data = seed % 2 === 0 ? dataOf(mapping) : withKey(dataOf(mapping), seed % 3 === 0 ? 'a' : 'b');
    attack(overTables(await read(turtle(mapping), mapping.base)), mapping.base, keysIn(data), data, new Random(seed));
  });

  test.each(all)('pairs that a database makes, seed %d', async (seed) => {
    const mapping = withJoins(files(seed), new Random(seed));
    const data = withOneValue(seed % 2 === 0 ? dataOf(mapping) : withFewTexts(mapping));
    attack(overTables(await read(turtle(mapping), mapping.base)), mapping.base, keysIn(data), data, new Random(seed));
  });

  test.each(all)('views, seed %d', async (seed) => {
    const { turtle: text, documents } = inventViews(seed, false);
    attack(await read(text, 'http://m/'), 'http://m/', NO_METADATA, jsonData(documents), new Random(seed));
  });

  test('each claim was compared with rows', () => {
    expect(Object.entries(compared).filter(([, count]) => count < all.length / 10)).toEqual([]);
  });
});
