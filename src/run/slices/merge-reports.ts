/** The report of a run from those of its parts: slices, or what each thread has done. */
import { Fault, type FaultData } from '../../core/fault.ts';
import { incompleteJoins, joinWarnings, mergeJoins } from '../join/reports.ts';
import { countRepeated, flawWarnings, mergeFlaws, type PartReport, sumOfProgress, warningsOf, withoutPosition } from '../report.ts';
import type { ErrorPolicy, TriplesMapReport } from '../request.ts';

/** What belongs to a run as a whole. */
export interface Whole {
  readonly onError: ErrorPolicy | undefined;
  /** Those of the preparation, which come first. */
  readonly warnings?: readonly string[];
}

/** @throws Fault mapping/reference — under the policy `strict`: a reference that no record of any part has */
export function mergeReports(parts: readonly PartReport[], { onError, warnings = [] }: Whole): PartReport {
  const sum = (of: (part: PartReport) => number | undefined): number => parts.reduce((total, part) => total + (of(part) ?? 0), 0);
  const sides = parts.flatMap((part) => part.sides ?? []);
  const counted = mergeJoins(parts.flatMap((part) => part.joins ?? []));
  // Joins whose rows feed triples maps as well are counted there. All parts have filled the same sides.
  const joins = firstOf([...counted, ...sides.flatMap((side) => side.joins ?? [])], ({ id }) => id);
  const incomplete = incompleteJoins(joins);
  const flaws = mergeFlaws(parts.flatMap((part) => part.flaws ?? []));
  const ofParts = parts.flatMap((part) => part.warnings);
  return {
    ...sumOfProgress(parts),
    rejected: sum(({ rejected }) => rejected),
    bytesSpilled: sum(({ bytesSpilled }) => bytesSpilled),
    triplesMaps: mergeMaps(parts.flatMap(({ triplesMaps }) => triplesMaps)),
    ...(incomplete.length === 0 ? {} : { joins: incomplete }),
    warnings: countRepeated([
      ...warnings,
      ...(parts.length === 1 ? ofParts : limitWarnings(ofParts)),
      ...warningsOf(commonFaults(parts), onError),
      ...joinWarnings(joins),
      ...flawWarnings(flaws),
    ]),
    ...(flaws.length === 0 ? {} : { flaws }),
  };
}

/** One report for each triples map. */
function mergeMaps(all: readonly TriplesMapReport[]): readonly TriplesMapReport[] {
  const merged = new Map<string, TriplesMapReport>();
  for (const map of all) {
    const before = merged.get(map.id);
    merged.set(map.id, before === undefined ? map : addMaps(before, map));
  }
  return [...merged.values()];
}

/** The reason why a map produced nothing is taken from the part with the most records. */
function addMaps(a: TriplesMapReport, b: TriplesMapReport): TriplesMapReport {
  const quads = a.quads + b.quads;
  const empty = a.records >= b.records ? a.empty : b.empty;
  return { ...a, records: a.records + b.records, quads, rejected: a.rejected + b.rejected, empty: quads > 0 ? undefined : empty };
}

/** Faults that hold for a document if they hold for each of its slices; and those of documents that were read as a whole. */
function commonFaults(parts: readonly PartReport[]): readonly Fault[] {
  const byScan = new Map<number, readonly FaultData[]>();
  for (const { unmatched } of parts) {
    // JSON has no undefined.
    if (unmatched == null) continue;
    const { scan, faults } = unmatched;
    const places = new Set(faults.map(placeOf));
    byScan.set(scan, byScan.get(scan)?.filter((fault) => places.has(placeOf(fault))) ?? faults);
  }
  const ofSides = parts.flatMap(({ sides }) => sides?.unmatched?.faults ?? []);
  return firstOf([...byScan.values()].flat().concat(ofSides), placeOf).map(Fault.from);
}

const placeOf = ({ place }: FaultData): string => JSON.stringify(place);

/** The first of those with the same name. */
function firstOf<T>(all: readonly T[], nameOf: (one: T) => string): readonly T[] {
  const named = new Map<string, T>();
  for (const one of all) if (!named.has(nameOf(one))) named.set(nameOf(one), one);
  return [...named.values()];
}

const MAX_WARNINGS = 50;

/** Each once, with the first position: each of many slices may have its own. */
function limitWarnings(warnings: readonly string[]): readonly string[] {
  const all = firstOf(warnings, withoutPosition);
  return all.length <= MAX_WARNINGS ? all : [...all.slice(0, MAX_WARNINGS), `… and ${all.length - MAX_WARNINGS} more warnings`];
}
