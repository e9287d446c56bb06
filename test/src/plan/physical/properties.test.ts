/** What nodes claim to provide holds of the rows that the naive evaluator makes: of random mappings over files, tables and views. */
import { describe, expect, test } from '@jest/globals';
import type { Mapping } from '../../../../src/mapping/model/model.ts';
import { readMapping } from '../../../../src/mapping/parse/read.ts';
import type { DatabaseRows, MapRules, Operator, Scan } from '../../../../src/plan/algebra.ts';
import { type CatalogueMetadata, NO_METADATA } from '../../../../src/plan/catalogue-metadata.ts';
import { scanOf } from '../../../../src/plan/expressions.ts';
import { lower } from '../../../../src/plan/physical/lower.ts';
import type { EncodeNode, Node, PhysicalPlan } from '../../../../src/plan/physical/nodes.ts';
import { planMapping } from '../../../../src/plan/planning.ts';
import { Random, seeds } from '../../../support/random.ts';
import { invent, type RandomMapping, turtle } from '../../run/random/mapping.ts';
import { dataOf, jsonData, overTables } from '../data.ts';
import { type Data, evaluateMap, evaluateRows, evaluateSide, type Value } from '../evaluate.ts';
import { inventViews } from '../rewrite/views.ts';

async function read(text: string, base: string): Promise<Mapping> {
  const { mapping, diagnostics } = await readMapping([{ name: 'm.ttl', text }], { baseIri: base });
  expect(diagnostics.filter(({ severity }) => severity === 'error')).toEqual([]);
  return mapping;
}

/** How often each claim was compared with rows. */
const compared = { divisible: 0, repeatable: 0, distinct: 0, key: 0, subjects: 0 };

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
  const data = remembered(of);
  const plan = lower(planMapping(mapping, base, facts), true);
  expect(structuredClone(plan)).toEqual(plan);
  for (const [id, node] of plan.nodes.entries()) {
    const { partitioning, readsPosition, deterministic, unique, subjectTellsRow } = plan.provided[id] as PhysicalPlan['provided'][number];
    const rows = rowsOf(plan, node, data, data, false);
    if (rows === undefined) continue;
    const where = `${id + 1} ${node.kind}`;
    if (deterministic) {
      compared.repeatable++;
      expect({ where, rows: rowsOf(plan, node, data, data, false) }).toEqual({ where, rows });
    }
    if (unique === 'distinct' || unique === 'key') {
      compared[unique]++;
      expect({ where, unique, rows: [...new Set(rows)].length }).toEqual({ where, unique, rows: rows.length });
    }
    if (subjectTellsRow && node.kind === 'encode') {
      compared.subjects++;
      const subjects = evaluateMap(rulesOf(plan, node), data, data).flatMap(([of]) => of);
      expect({ where, subjects: new Set(subjects).size }).toEqual({ where, subjects: subjects.length });
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

/** Records with one value in each column, and another one in that of the key. */
function withKey(data: Data, key: 'a' | 'b'): Data {
  const values: Data['values'] = (...of) => data.values(...of).slice(0, 1);
  return {
    ...data,
    values,
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

/** What a catalogue would say of the tables, if each set of columns that happens to be a key were declared one. */
function keysIn(data: Data): CatalogueMetadata {
  const textsOf = (source: DatabaseRows, references: readonly string[]): readonly (readonly string[][])[] =>
    data
      .records({ kind: 'scan', source, records: [] } as unknown as Scan)
      .map(([record]) => references.map((reference) => data.values(record, reference).map(({ written }) => written)));
  const isKey = (source: DatabaseRows, references: readonly string[]): boolean => {
    if (source.kind === 'sql-pairs') return false;
    const rows = textsOf(source, references);
    return (
      rows.every((row) => row.every((values) => values.length === 1)) &&
      new Set(rows.map((row) => JSON.stringify(row))).size === rows.length
    );
  };
  return {
    ...NO_METADATA,
    isKey,
    identifiesRow: isKey,
    isSingle: (source, reference) => textsOf(source, [reference]).every(([values]) => (values?.length ?? 0) < 2),
    isAlwaysValid: () => true,
  };
}

describe('what nodes provide holds of the rows of', () => {
  const all = seeds(1, 60);
  const files = (seed: number): RandomMapping => invent(seed, 8);

  test.each(all)('files, seed %d', async (seed) => {
    const mapping = files(seed);
    attack(await read(turtle(mapping), mapping.base), mapping.base, NO_METADATA, dataOf(mapping), new Random(seed));
  });

  test.each(all)('tables, seed %d', async (seed) => {
    const mapping = files(seed);
    const data = seed % 2 === 0 ? dataOf(mapping) : withKey(dataOf(mapping), seed % 3 === 0 ? 'a' : 'b');
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
