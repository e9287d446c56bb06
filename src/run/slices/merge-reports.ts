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
  /** References that no record of a document has that was read as a whole, beside those of the parts. */
  readonly unmatched?: readonly FaultData[];
}

/** @throws Fault mapping/reference — under the policy `strict`: a reference that no record of any part has */
export function mergeReports(parts: readonly PartReport[], { onError, warnings = [], unmatched = [] }: Whole): PartReport {
  const sum = (of: (part: PartReport) => number | undefined): number => parts.reduce((total, part) => total + (of(part) ?? 0), 0);
  const joins = mergeJoins(parts.flatMap((part) => part.joins ?? []));
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
      ...warningsOf(commonFaults(parts, unmatched), onError),
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

/** Faults that hold for a document if they hold for each of its slices; and those `beside` of other places. */
function commonFaults(parts: readonly PartReport[], beside: readonly FaultData[]): readonly Fault[] {
  const byScan = new Map<number, readonly FaultData[]>();
  for (const { unmatched } of parts) {
    // JSON has no undefined.
    if (unmatched == null) continue;
    const { scan, faults } = unmatched;
    const places = placesOf(faults);
    byScan.set(scan, byScan.get(scan)?.filter(({ place }) => places.has(JSON.stringify(place))) ?? faults);
  }
  const common = [...byScan.values()].flat();
  const places = placesOf(common);
  return [...common, ...beside.filter(({ place }) => !places.has(JSON.stringify(place)))].map(Fault.from);
}

const placesOf = (faults: readonly FaultData[]): ReadonlySet<string> => new Set(faults.map(({ place }) => JSON.stringify(place)));

const MAX_WARNINGS = 50;

/** Each once, with the first position: each of many slices may have its own. */
function limitWarnings(warnings: readonly string[]): readonly string[] {
  const seen = new Map<string, string>();
  for (const warning of warnings) if (!seen.has(withoutPosition(warning))) seen.set(withoutPosition(warning), warning);
  const all = [...seen.values()];
  return all.length <= MAX_WARNINGS ? all : [...all.slice(0, MAX_WARNINGS), `… and ${all.length - MAX_WARNINGS} more warnings`];
}
