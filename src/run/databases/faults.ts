/** Faults of databases that name the statement of the mapping that they concern. */
import { Fault } from '../../core/fault.ts';

/** Faults without a place: the specification gives the exact text for a refused login, and a cancellation concerns the whole run. */
const WITHOUT_PLACE: ReadonlySet<string> = new Set(['database/credentials', 'run/cancelled']);

/**
 * The fault with a mapping statement as part of its place; any other error, or a fault that has one already, unchanged.
 *
 * @param mapping an origin as `formatOrigin` writes it
 */
export function inMapping(error: unknown, mapping: string): unknown {
  if (!(error instanceof Fault) || WITHOUT_PLACE.has(error.code) || error.place.mapping !== undefined) return error;
  return error.with({ place: { mapping } });
}
