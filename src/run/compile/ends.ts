/** The text around the objects of a rule, when it differs between records or the join is made at the end. */
import type { Text, TextOf } from '../../terms/evaluate.ts';
import type { DeferredCount } from '../join/counts.ts';
import type { Around, Multimap } from '../join/join.ts';
import { distinct, listOf } from './texts.ts';

/** Constant text, or the text of each record if a predicate or graph is not constant. */
export type End = string | TextOf;

/** Stands between a statement for a target and the number of the target: a comment of N-Quads, which no term can hold after the last space. */
export const OUTPUT_MARK = ' #';

/** The end of a statement's line. @param output 0: the output of the run; n: its n-th target */
export const lineEnd = (output: number): string => (output === 0 ? ' .\n' : ` .${OUTPUT_MARK}${output}\n`);

/** For the current record; null means no statement. */
export class Ends {
  lead: Text;
  tail: Text;
  readonly #lead: TextOf | undefined;
  readonly #tail: TextOf | undefined;

  constructor(lead: End, tail: End) {
    this.lead = typeof lead === 'string' ? lead : null;
    this.tail = typeof tail === 'string' ? tail : null;
    this.#lead = typeof lead === 'string' ? undefined : lead;
    this.#tail = typeof tail === 'string' ? undefined : tail;
  }

  get constant(): boolean {
    return this.#lead === undefined && this.#tail === undefined;
  }

  read(record: unknown, position: number): void {
    if (this.#lead !== undefined) this.lead = distinct(this.#lead(record, position));
    if (this.#tail !== undefined) this.tail = distinct(this.#tail(record, position));
  }
}

/** Each pair of texts around an object: before and after it. */
export function* aroundOf({ lead, tail }: Ends, token: string): Iterable<readonly [before: string, tail: string]> {
  if (lead === null || tail === null) return;
  for (const one of listOf(lead)) for (const end of listOf(tail)) yield [token + one, end];
}

/** What a child keeps of each of its statements. */
export function* childrenOf(ends: Ends, token: string): Iterable<string> {
  for (const [before, tail] of aroundOf(ends, token)) yield before + TAIL_MARK + tail;
}

/** The child side of a deferred join: the text before the parent's subject, by key. */
export interface DeferredJoin {
  readonly join: number;
  readonly children: Multimap;
  /** The text after the parent's subject; undefined: each child has its own, after a line feed. */
  readonly tail: string | undefined;
  /** No two pairs make the same statement, and nothing else makes it: see `keyedBy` of the plan. */
  readonly distinct: boolean;
  /** Counts the statements; `once` returns only lines that the run does not have yet. */
  readonly program: { quads: number; once(line: string): string };
  readonly count: DeferredCount | undefined;
}

/** No term contains an unescaped line feed. */
const TAIL_MARK = '\n';

/** What stands around the parents of a child. */
export function aroundParents({ tail }: DeferredJoin, child: string, { before, after }: Around): Around {
  if (tail !== undefined) return { before: child + before, after: after + tail };
  const mark = child.indexOf(TAIL_MARK);
  return { before: child.slice(0, mark) + before, after: after + child.slice(mark + 1) };
}
