/** X1: between two inputs an edge is a join, and a join matches all objects. */
import { type Side, viewOfSide } from './ends.ts';
import { type Refusal, refuse } from './verdict.ts';

/** Whether the ends read different inputs. */
export const needsJoin = (from: Side, to: Side): boolean =>
  from.input !== undefined && to.input !== undefined && to.levels.length > 0 && from.input.id !== to.input.id;

/** What an edge between inputs says until it has a condition. */
export const joinNote = (from: Side, to: Side): string => `${from.name} and ${to.name} come from different inputs. Say which fields match.`;

/** Refuses a join of an object that was chosen alone. */
export function joinsAll(from: Side, to: Side): Refusal | undefined {
  const single = [from, to].find((side) => viewOfSide(side) === 'ungrouped');
  if (single === undefined) return undefined;
  const sentence = `${single.name} is a single object; a join matches all objects of an input. Choose it again with grouping on.`;
  return refuse('R6', sentence, [single.name]);
}
