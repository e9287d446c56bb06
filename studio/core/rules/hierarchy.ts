/** R6: with grouping off, only fields of one object are linked. */
import { differentObjects } from '../levels.ts';
import type { Side } from './ends.ts';
import { type Refusal, refuse } from './verdict.ts';

export function inOneObject(from: Side, to: Side): Refusal | undefined {
  for (const left of from.paths) {
    for (const right of to.paths) {
      const numbers = differentObjects(left, right);
      if (numbers === undefined) continue;
      const [a, b] = numbers;
      const input = from.input?.name ?? '';
      const sentence = `${from.name} and ${to.name} are in different objects (${a + 1} and ${b + 1} of ${input}). With grouping off, only fields of one object can be linked.`;
      return refuse('R6', sentence, [from.name, to.name, input]);
    }
  }
  return undefined;
}
