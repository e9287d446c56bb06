/** Faults of databases, with the statement of the mapping that they are about. */
import { Fault } from '../../core/fault.ts';

/** The words about a login that was refused are the specification's, and stand alone; who cancels a run knows that it is all of it. */
const ALONE: ReadonlySet<string> = new Set(['database/credentials', 'run/cancelled']);

/** The same fault, with the statement of the mapping that it is about. */
export function inMapping(error: unknown, mapping: string): unknown {
  if (!(error instanceof Fault) || ALONE.has(error.code) || error.place.mapping !== undefined) return error;
  return error.with({ place: { mapping } });
}
