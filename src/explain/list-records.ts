/** The first records of a triples map, with the values that its rules read: what a person looks at who misses a statement. */
import { Fault, type FaultData } from '../core/fault.ts';
import { didYouMean } from '../core/nearest.ts';
import type { MapRules } from '../plan/algebra.ts';
import { Builder } from '../plan/build/operators.ts';
import { buildRules } from '../plan/build/rules.ts';
import { ViewBuilder } from '../plan/build/views.ts';
import { planAlgebra } from '../plan/planning.ts';
import { isObjectOf } from '../plan/scans.ts';
import { executeScans } from '../run/execute/scans.ts';
import { prepareWithDeadline } from '../run/prepare/deadline.ts';
import type { RunHooks, RunRequest } from '../run/request.ts';
import { type FoundRecord, recordOf } from './find-records.ts';
import { type RowWitness, rowWitness } from './witnesses.ts';

/** A row of the triples map: a record, or an item of it where a view iterates. */
export interface ListedRecord {
  readonly record: FoundRecord;
  /** That its record makes, without those of joins. */
  readonly statements: number;
  /** Why its record was rejected. */
  readonly fault: FaultData | undefined;
}

export interface ListedRecords {
  readonly records: readonly ListedRecord[];
  /** There are more rows than are given. */
  readonly more: boolean;
}

/** Rows that are given, and characters of their values. */
const MAX_ROWS = 1_000;
const MAX_CHARACTERS = 2 * 2 ** 20;

interface SeenRecord {
  /** Each once, though several rows of a view may make it. */
  readonly lines: Set<string>;
  fault: FaultData | undefined;
}

/**
 * Records that make no statement, or are rejected, are among them.
 *
 * @param request `firstRecords` says how many records are read; see `findRecords` for the others
 * @param triplesMap IRI, or `_:label`
 * @throws Fault request/invalid — the mapping has no such triples map; as `executeRun` does
 */
export async function listRecords(
  request: RunRequest,
  triplesMap: string,
  hooks: Pick<RunHooks, 'signal' | 'limit'>,
): Promise<ListedRecords> {
  let own: MapRules | undefined;
  let witness: RowWitness | undefined;
  const prepared = await prepareWithDeadline({ ...request, slice: undefined }, hooks, {}, (mapping, base, metadata) => {
    const builder = new Builder();
    const maps = buildRules(mapping, base, builder, new ViewBuilder(mapping.triplesMaps, builder));
    const rules = mapOf(maps, triplesMap);
    own = { ...rules, emits: rules.emits.filter(({ input, object }) => !isObjectOf(input, object)) };
    witness = rowWitness(rules, builder);
    return planAlgebra({ maps: [own, witness.rules], checks: [] }, metadata);
  });
  const told: { readonly key: string; readonly record: FoundRecord }[] = [];
  const seen = new Map<string, SeenRecord>();
  const seenAt = (key: string): SeenRecord => {
    const known = seen.get(key) ?? { lines: new Set(), fault: undefined };
    seen.set(key, known);
    return known;
  };
  let characters = 0;
  let more = false;
  try {
    const all = prepared.plan.scans.map((_, position) => ({ position, range: undefined }));
    await executeScans(
      { ...request, slice: undefined, distinct: false, threads: 1, onError: 'skip', maxRejected: Number.MAX_SAFE_INTEGER },
      prepared,
      all,
      { write: () => undefined },
      {
        ...hooks,
        reject: ({ fault }) => {
          const { input, record } = fault.place;
          seenAt(keyOf(input, record)).fault = fault;
        },
        row: (map, lines, input, record) => {
          const key = keyOf(input, record);
          if (map === own?.map) {
            const all = seenAt(key).lines;
            for (const line of [...lines].join('').split('\n')) if (line !== '') all.add(line);
            return;
          }
          const text = [...lines].join('');
          more ||= told.length >= MAX_ROWS || characters >= MAX_CHARACTERS;
          if (more) return;
          characters += text.length;
          told.push({ key, record: recordOf(witness as RowWitness, text, input) });
        },
      },
    );
  } finally {
    await prepared.close();
  }
  const records = told.map(({ key, record }) => {
    const { lines, fault } = seenAt(key);
    return { record, statements: lines.size, fault };
  });
  return { records, more };
}

function mapOf(maps: readonly MapRules[], id: string): MapRules {
  const found = maps.find(({ map }) => map.id === id);
  if (found !== undefined) return found;
  const ids = maps.map(({ map }) => map.id);
  const hint = didYouMean(id, ids);
  throw new Fault('request/invalid', `The mapping has no triples map ${id}`, {
    hint:
      hint === undefined ? `Its triples maps are ${ids.slice(0, 20).join(', ')}${ids.length > 20 ? ' …' : ''}` : hint.replace(/^d/, 'D'),
  });
}

const keyOf = (input: string | undefined, record: number | undefined): string => `${record} ${input}`;
