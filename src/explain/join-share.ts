/** How many records find a partner by a join: the first records of the child, against the records of the parent as far as they are read. */
import { LinkedAbort } from '../core/abort.ts';
import { Fault } from '../core/fault.ts';
import type { Emit, MapInfo, MapRules } from '../plan/algebra.ts';
import { Builder } from '../plan/build/operators.ts';
import { buildRules } from '../plan/build/rules.ts';
import { ViewBuilder } from '../plan/build/views.ts';
import { planAlgebra } from '../plan/planning.ts';
import { isObjectOf } from '../plan/scans.ts';
import { PARENT_RECORDS } from '../run/execute/preview.ts';
import { executeScans } from '../run/execute/scans.ts';
import { prepareWithDeadline } from '../run/prepare/deadline.ts';
import type { PreparedRun } from '../run/prepare/open.ts';
import type { RunRequest, ScanLimit } from '../run/request.ts';
import { keysOf } from './find-records.ts';
import { type Witness, witnessesOf } from './witnesses.ts';

/** Which joins are meant: a mapping may have several of one child, parent and predicate. */
export interface JoinSearch {
  /** Triples maps: IRI, or `_:label`. */
  readonly child: string;
  readonly parent: string;
  /** An IRI; undefined: any. */
  readonly predicate: string | undefined;
}

export interface JoinShare {
  readonly child: MapInfo;
  readonly parent: MapInfo;
  /** Of the term map with the join. */
  readonly origin: Emit['object']['origin'];
  /** Records of the child that were read. */
  readonly children: number;
  /** There was no time to read as many of the child as were wanted. */
  readonly cut: boolean;
  /** Those that have a value for each key. */
  readonly asked: number;
  /** Those that have a partner. */
  readonly found: number;
  /** Records of the parent that were read. */
  readonly parents: number;
  /** The parent was read to its end. */
  readonly complete: boolean;
  /** Keys of the first children without a partner, and of the first parents: for each condition the values. */
  readonly without: readonly Key[];
  readonly examples: readonly Key[];
}

type Key = readonly (readonly string[])[];

const MAX_EXAMPLES = 3;
/** Of a record whose keys are lists. */
const MAX_COMBINATIONS = 1_000;
const PARENT_MS = 2_000;

/**
 * Inputs that are slow are read as far as there is time: joins share it, and so do their sides.
 *
 * @param request `firstRecords` says how many records of the child are read; see `findRecords` for the others
 * @param limit when the answer has to be there
 * @returns one for each join that is meant, in the order of the mapping
 * @throws Fault as `executeRun` does
 */
export async function joinShares(
  request: RunRequest & { readonly firstRecords: number },
  search: JoinSearch,
  { until, step }: Pick<ScanLimit, 'until' | 'step'>,
  signal: AbortSignal,
): Promise<readonly JoinShare[]> {
  const shares: JoinShare[] = [];
  for (let index = 0, count = 1; index < count; index++) {
    /** When a side has to be read, of which so many are left of this join. */
    const endOf = (sides: number): number => Date.now() + (until - Date.now()) / (sides + 2 * (count - index - 1));
    const children: Key[] = [];
    const child = await readSide(request, search, { index, side: 0, until: endOf(2), step }, signal, (key) => children.push(key));
    if (child === undefined) return shares;
    count = child.count;
    const partners = new Set<string>();
    const examples: Key[] = [];
    const parent = await readSide(
      { ...request, firstRecords: PARENT_RECORDS },
      search,
      { index, side: 1, until: endOf(1), step },
      signal,
      (key) => {
        const all = combinations(key);
        if (all.length > 0 && examples.length < MAX_EXAMPLES) examples.push(key);
        for (const one of all) partners.add(one);
      },
    );
    if (parent === undefined) throw new Error('a join has no parent');
    const asked = children.filter((key) => combinations(key).length > 0);
    const without = asked.filter((key) => !combinations(key).some((one) => partners.has(one)));
    shares.push({
      child: child.witness.map,
      parent: parent.witness.map,
      origin: (child.witness.of as Emit).object.origin,
      children: child.records,
      cut: child.isLate,
      asked: asked.length,
      found: asked.length - without.length,
      parents: parent.records,
      complete: !parent.isLate && parent.records < PARENT_RECORDS,
      without: without.slice(0, MAX_EXAMPLES),
      examples,
    });
  }
  return shares;
}

interface Reading {
  /** Of the join among those that are meant; beyond them there is nothing to read. */
  readonly index: number;
  /** 0: the child, 1: the parent. */
  readonly side: 0 | 1;
  /** In milliseconds since 1970. */
  readonly until: number;
  readonly step: ScanLimit['step'];
}

interface Side {
  readonly witness: Witness;
  /** Joins that are meant. */
  readonly count: number;
  readonly records: number;
  readonly isLate: boolean;
}

/**
 * Reads one side of a join, as far as there is time.
 *
 * @returns undefined: there is no such join
 */
async function readSide(
  request: RunRequest,
  search: JoinSearch,
  { index, side, until, step }: Reading,
  signal: AbortSignal,
  take: (key: Key) => void,
): Promise<Side | undefined> {
  let witness: Witness | undefined;
  let count = 0;
  const limit = { until, onTimeout: () => undefined, step };
  const prepared = await prepareWithDeadline(request, { signal, limit }, {}, (mapping, base, metadata) => {
    const builder = new Builder();
    const maps = buildRules(mapping, base, builder, new ViewBuilder(mapping.triplesMaps, builder));
    const joins = meant(maps, search);
    const wanted = joins[index];
    count = joins.length;
    witness = wanted && witnessesOf(maps, [wanted], builder)[side];
    return planAlgebra({ maps: witness === undefined ? [] : [witness.rules], checks: [] }, metadata);
  });
  try {
    if (witness === undefined) return undefined;
    return { witness, count, ...(await readWitness(request, prepared, witness, side === 1 ? PARENT_MS : undefined, until, signal, take)) };
  } finally {
    await prepared.close();
  }
}

/**
 * @param recordsMs how long records are read, from the first one on: opening an input may take long on a busy machine
 * @param until when reading ends in any case
 */
async function readWitness(
  request: RunRequest,
  prepared: PreparedRun,
  { keys }: Witness,
  recordsMs: number | undefined,
  until: number,
  signal: AbortSignal,
  take: (key: Key) => void,
): Promise<Pick<Side, 'records' | 'isLate'>> {
  const over = new LinkedAbort([signal], Math.max(0, until - Date.now()));
  let timer: NodeJS.Timeout | undefined;
  let isLate = false;
  let records = 0;
  try {
    await executeScans(
      { ...request, slice: undefined, distinct: false, threads: 1, onError: 'skip', maxRejected: Number.MAX_SAFE_INTEGER },
      prepared,
      prepared.plan.scans.map((_, position) => ({ position, range: undefined })),
      { write: () => undefined },
      {
        signal: over.signal,
        row: (_map, lines, _input, record) => {
          if (recordsMs !== undefined)
            timer ??= setTimeout(() => {
              isLate = true;
              over.abort(new Fault('run/cancelled', 'The records are read for a limited time'));
            }, recordsMs);
          records = Math.max(records, (record ?? 0) + 1);
          take(keysOf([...lines].join(''), keys));
        },
      },
    );
  } catch (error) {
    isLate ||= over.timedOut;
    if (!isLate || signal.aborted) throw error;
  } finally {
    clearTimeout(timer);
    over.release();
  }
  return { records, isLate };
}

/** Each join once, also where it has several predicates, graphs or targets. */
function meant(
  maps: readonly MapRules[],
  { child, parent, predicate }: JoinSearch,
): readonly { readonly rules: MapRules; readonly of: Emit }[] {
  return maps
    .filter(({ map }) => map.id === child)
    .flatMap((rules) => {
      const seen = new Set<unknown>();
      return rules.emits.flatMap((of) => {
        if (!isObjectOf(of.input, of.object) || of.input.right.map?.id !== parent || seen.has(of.object.origin)) return [];
        if (predicate !== undefined && !(of.predicate.kind === 'constant' && of.predicate.term.value === predicate)) return [];
        seen.add(of.object.origin);
        return [{ rules, of }];
      });
    });
}

/** Of several values of a condition any may be equal. Empty: a condition has no value. */
function combinations(key: Key): readonly string[] {
  let all: readonly (readonly string[])[] = [[]];
  for (const values of key) all = all.flatMap((before) => values.map((value) => [...before, value])).slice(0, MAX_COMBINATIONS);
  return all.map((one) => JSON.stringify(one));
}
