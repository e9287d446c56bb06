/** The report on each triples map of a run, including why it made no statement. */
import { describeFault, Fault, type FaultPlace } from '../core/fault.ts';
import { formatOrigin } from '../mapping/model/model.ts';
import type { MapInfo, Project } from '../plan/algebra.ts';
import { describeDatabaseRows } from '../plan/explain.ts';
import { mapsOf, type Plan } from '../plan/plan.ts';
import type { ErrorPolicy, Flaw, Progress, RunReport, TriplesMapReport } from './request.ts';

/** What a part of a run has done: a slice, or the scans of a thread. */
export type PartReport = Omit<RunReport, 'bytesWritten' | 'seconds' | 'targets' | 'cut' | 'mappings'>;

export function sumOfProgress(all: readonly Progress[]): Progress {
  const sum = { records: 0, quads: 0, bytesRead: 0 };
  for (const { records, quads, bytesRead } of all) {
    sum.records += records;
    sum.quads += quads;
    sum.bytesRead += bytesRead;
  }
  return sum;
}

/** What a program of a triples map counted, and knows of its records. */
export interface MappedRecords {
  readonly triplesMap: MapInfo;
  /** Which scan of the run it reads. */
  readonly scan: number;
  readonly records: number;
  readonly quads: number;
  readonly rejected: number;
  /** Records for which the subject had no value. */
  readonly withoutSubject: number;
  /** Statements in the spill, which may turn out to be new. */
  readonly undecided: number;
  /** Of the joins that give it its rows. */
  readonly before: readonly { readonly rows: number }[];
  /** A hint for the case of no records. */
  readonly hint: string | undefined;
  /** A statement was left out because the run had it already. */
  readonly repeated: boolean;
  readonly ruleCount: number;
  /** Absent: nothing was counted. */
  readonly flaws?: { found(): readonly Flaw[] };
}

/**
 * One row per triples map; several documents of its source are added up. The parts of a triples map whose rows were split
 * (`plan/rewrite/split-rows.ts`) read the same records: those of the part with the most rows count.
 */
export function reportsOf(programs: readonly MappedRecords[]): readonly TriplesMapReport[] {
  const reports = new Map<string, TriplesMapReport>();
  const records = new Map<string, Map<number, number>>();
  for (const program of programs) {
    const report = reportOf(program);
    const before = reports.get(report.id);
    reports.set(report.id, before === undefined ? report : together(before, report, program.triplesMap.isPart));
    const byScan = records.get(report.id) ?? new Map<number, number>();
    records.set(report.id, byScan.set(program.scan, Math.max(byScan.get(program.scan) ?? 0, report.records)));
  }
  return [...reports.values()].map((report) => {
    const byScan = records.get(report.id) ?? new Map<number, number>();
    // Joins that a database makes have separate reports: without other rules, or with their statements, the triples map is not empty.
    const joined = [...reports.values()].filter(({ id }) => id.startsWith(`${report.id} join `));
    const hasRules = programs.some(({ triplesMap, ruleCount }) => triplesMap.id === report.id && ruleCount > 0);
    const isMade = joined.some(({ quads }) => quads > 0) || (joined.length > 0 && !hasRules);
    const sum = [...byScan.values()].reduce((total, count) => total + count, 0);
    return { ...report, records: sum, empty: isMade ? undefined : report.empty };
  });
}

/** @param isPart `b` is of joined rows, which come after the records themselves */
function together(a: TriplesMapReport, b: TriplesMapReport, isPart: boolean): TriplesMapReport {
  const isFirst = isPart ? a.records === a.rejected : a.records > 0;
  const empty = a.empty === undefined || b.empty === undefined ? undefined : isFirst ? a.empty : b.empty;
  return { ...a, records: a.records + b.records, quads: a.quads + b.quads, rejected: a.rejected + b.rejected, empty };
}

function reportOf(program: MappedRecords): TriplesMapReport {
  const { triplesMap, records, quads, rejected } = program;
  return {
    id: triplesMap.id,
    name: triplesMap.name,
    origin: formatOrigin(triplesMap.origin),
    records: triplesMap.isPart ? 0 : records,
    quads,
    rejected,
    empty: quads + program.undecided > 0 ? undefined : reason(program),
  };
}

/** Triples maps that made no statement. */
export const emptyWarnings = (maps: readonly TriplesMapReport[]): readonly string[] =>
  maps.flatMap(({ name, origin, empty }) => (empty === undefined ? [] : [`${origin}: ${name} gave no statement: ${empty}`]));

/** undefined: it is to make none. */
function reason(program: MappedRecords): string | undefined {
  const { triplesMap, records, rejected, withoutSubject } = program;
  const { source, subject, isPart, quotedOnly, isOnlyParent } = triplesMap;
  if (isOnlyParent) return undefined;
  if (isPart && records === 0) return 'no record met the join conditions of its quoted triples';
  if (records === 0 && program.before.some(({ rows }) => rows > 0)) return 'no row of its view is left after the joins of the view';
  if (records === 0) {
    const found = foundNothing(source);
    return program.hint === undefined ? found : `${found}. ${program.hint}`;
  }
  if (rejected === records) return records === 1 ? 'its only record was rejected' : `all ${records} records were rejected`;
  if (withoutSubject + rejected === records) return `the subject ${subject} had no value in ${recordsOf(records)}`;
  if (program.repeated) return 'every statement was made already, by this triples map or another one';
  if (quotedOnly) return undefined;
  if (program.flaws?.found().some(({ kind }) => kind === 'left-out'))
    return 'every object that has a value is invalid, and was left out with its statement';
  if (program.ruleCount === 0) return 'it has neither a class nor a predicate-object map';
  return `no object map had a value in ${recordsOf(records)}`;
}

function foundNothing(source: MapInfo['source']): string {
  if (source.kind !== 'file') return `${describeDatabaseRows(source)} has no rows`;
  const { iterator, path } = source;
  return iterator === undefined ? `${path} has no records` : `the iterator ${iterator} found nothing in ${path}`;
}

const recordsOf = (records: number): string => (records === 1 ? 'its only record' : `any of ${records} records`);

/** The number of record pairs of joins without a condition. */
export function pairWarnings({ scans, joins }: Plan, programs: readonly MappedRecords[]): readonly string[] {
  const recordsOf = (id: string): number | undefined => {
    const own = programs.filter(({ triplesMap }) => triplesMap.id === id && !triplesMap.isPart);
    return own.length === 0 ? undefined : own.reduce((sum, { records }) => sum + records, 0);
  };
  const maps = scans.flatMap(({ iterations }) => iterations.flatMap(mapsOf));
  const warnings = maps.flatMap(({ map: child, rules }) =>
    rules.flatMap(({ object }) => {
      if (object.kind !== 'join' || object.keys.length > 0) return [];
      const parent = (joins[object.join] as Project).map;
      if (parent === undefined) return [];
      const [left, right] = [recordsOf(child.id), recordsOf(parent.id)];
      if (left === undefined || right === undefined) return [];
      const pairs = `${left} × ${right} = ${left * right} pairs`;
      return [
        `${formatOrigin(child.origin)}: ${child.name} refers to all records of ${parent.name}, since no join condition says which: ${pairs}`,
      ];
    }),
  );
  return [...new Set(warnings)];
}

/** Reports references without a node in any record. @throws Fault all of them in one, at the place of the first, under the policy `strict` */
export function warningsOf(unmatched: readonly Fault[], onError: ErrorPolicy | undefined): readonly string[] {
  const [first, ...others] = unmatched;
  if (onError === 'strict' && first !== undefined) throw others.length === 0 ? first : withOthers(first, others);
  return unmatched.map(describeFault);
}

/** References that one fault names beside its own. */
const MAX_BESIDE = 10;

function withOthers(first: Fault, others: readonly Fault[]): Fault {
  const named = others
    .slice(0, MAX_BESIDE)
    .map(({ place, hint }) => `${place.expression} (${place.mapping}${hint === undefined ? '' : `: ${hint}`})`);
  const more = others.length > MAX_BESIDE ? ` and ${others.length - MAX_BESIDE} more` : '';
  return first.with({ hint: `${first.hint}. Nor is there anything at ${named.join(', ')}${more}` });
}

/** @param someLost whether some records have lost statements alone */
export function rejectedTooMany(maxRejected: number, someLost: boolean, last?: Fault): Fault {
  const message = `More than ${maxRejected} ${maxRejected === 1 ? 'record was' : 'records were'} rejected${someLost ? ', or lost statements' : ''}`;
  return new Fault('record/limit', last === undefined ? message : `${message}; the last: ${last.message}`, {
    ...(last === undefined ? {} : { place: last.place }),
    limit: 'MAX_REJECTED',
    ...(last?.hint === undefined ? {} : { hint: last.hint }),
  });
}

/** Flaws of the same statement of the mapping have the same key. */
export const keyOfFlaw = ({ kind, first }: Flaw): string =>
  JSON.stringify([kind, first.place.mapping, kind === 'ill-typed' ? first.message : undefined]);

/** Adds the counts of threads, slices and documents by the statement of the mapping. The first value is that of the input that was begun first. */
export function mergeFlaws(flaws: readonly Flaw[]): readonly Flaw[] {
  const merged = new Map<string, Flaw>();
  for (const flaw of flaws) {
    const { kind, count, first } = flaw;
    const key = keyOfFlaw(flaw);
    const before = merged.get(key);
    const isEarlier = before !== undefined && isBefore(first.place, before.first.place);
    merged.set(key, before === undefined ? flaw : { kind, count: before.count + count, first: isEarlier ? first : before.first });
  }
  return [...merged.values()];
}

/** Of two records of one input. Each slice counts its records from its own first byte. */
const isBefore = (a: FaultPlace, b: FaultPlace): boolean =>
  a.input === b.input && ((a.recordsFrom ?? 0) - (b.recordsFrom ?? 0) || (a.record ?? 0) - (b.record ?? 0)) < 0;

/** One warning for each statement of the mapping. */
export const flawWarnings = (flaws: readonly Flaw[]): readonly string[] =>
  mergeFlaws(flaws).map(({ kind, count, first }) => {
    const hint =
      kind === 'ill-typed'
        ? 'Convert it with a function, give it another datatype, or reject it: DATATYPE_CHECK=error (--datatype-check error)'
        : first.hint;
    const fault = describeFault(Fault.from({ ...first, hint }));
    if (kind === 'ill-typed')
      return `${count} ${count === 1 ? 'literal is' : 'literals are'} ill-typed and written all the same; the first: ${fault}`;
    if (kind === 'empty') {
      const of = count === 1 ? 'A template was made of empty texts alone' : `A template was made of empty texts alone ${count} times`;
      return `${of}: ${fault}`;
    }
    return `${count} invalid ${count === 1 ? 'object was' : 'objects were'} left out with ${count === 1 ? 'its statement' : 'their statements'}; the first: ${fault}`;
  });

/** A warning without the line and the record at its end, which a slice counts from its own beginning. */
export const withoutPosition = (warning: string): string => warning.replace(/(?:, (?:line|record) \d+)+\)$/, ')');

// ---------------------------------------------------------------- so few warnings that a person reads them

const MOST_OF_A_KIND = 10;

/** `mapping.ttl:3:5: ` in front of a warning. */
const PLACE = /^\S[^\n]*?:\d+:\d+: /;

/** Equal warnings, and those of a kind beyond the tenth, as one. The order stays. */
export function countRepeated(warnings: readonly string[]): readonly string[] {
  const equal = new Map<string, { readonly first: string; count: number }>();
  for (const warning of warnings) {
    const message = warning.replace(PLACE, '');
    const known = equal.get(message);
    if (known === undefined) equal.set(message, { first: warning, count: 1 });
    else known.count++;
  }
  const kinds = new Map<string, { count: number; last: number }>();
  const shown: string[] = [];
  for (const { first, count } of equal.values()) {
    const kind = kinds.get(kindOf(first)) ?? { count: 0, last: 0 };
    kinds.set(kindOf(first), kind);
    if (++kind.count > MOST_OF_A_KIND) continue;
    kind.last = shown.push(count === 1 ? first : counted(first, count)) - 1;
  }
  const more = new Map([...kinds.values()].map(({ count, last }) => [last, count - MOST_OF_A_KIND]));
  return shown.flatMap((warning, i) => [warning, ...((more.get(i) ?? 0) > 0 ? [`… and ${more.get(i)} more like these`] : [])]);
}

/** Behind the first line: a hint may follow. */
const counted = (warning: string, count: number): string => warning.replace(/^[^\n]*/, (line) => `${line} (${count} times)`);

/** Of warnings on triples maps and joins, whose names may be any words. */
const OF_NAMES = /gave no statement|found no partner|found a partner|refers to all records/;

/** What warnings of one kind have in common: the words of small letters alone, since others are names, numbers, paths or texts. */
const kindOf = (warning: string): string =>
  OF_NAMES.exec(warning)?.[0] ??
  (warning.replace(PLACE, '').split('\n', 1)[0] ?? '')
    .replace(/"[^"]*"|<[^>]*>|\([^()]*\)/g, ' ')
    .split(/\s+/)
    .filter((word) => /^[a-z]+[,:;.]?$/.test(word))
    .join(' ');
