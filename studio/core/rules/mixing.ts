/** R6: elements that were chosen with grouping on and off are never linked. */
import { viewsMeet } from '../levels.ts';
import { type Side, viewOfSide } from './ends.ts';
import { type Refusal, refuse } from './verdict.ts';

export function sameGrouping(from: Side, to: Side): Refusal | undefined {
  if (viewsMeet(viewOfSide(from), viewOfSide(to))) return undefined;
  const [grouped, single] = viewOfSide(from) === 'grouped' ? [from, to] : [to, from];
  const sentence = `${grouped.name} was chosen with grouping on and ${single.name} with grouping off. Elements of the two views cannot be linked.`;
  return refuse('R6', sentence, [grouped.name, single.name]);
}
