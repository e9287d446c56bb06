/** Why a mapping cannot be written as SQL: every reason, each with the statement of the mapping. */
import { Fault } from '../core/fault.ts';
import type { Origin } from '../mapping/model/model.ts';
import { formatOrigin } from '../mapping/model/model.ts';

export interface Refusal {
  readonly origin: Origin;
  /** What the mapping asks for, and why SQL cannot give it: a sentence without its full stop. */
  readonly reason: string;
}

/** Collects refusals; each reason at a place once. */
export class Refusals {
  readonly #all = new Map<string, Refusal>();

  add(origin: Origin, reason: string): void {
    this.#all.set(`${formatOrigin(origin)} ${reason}`, { origin, reason });
  }

  /** By document, line and column. */
  get all(): readonly Refusal[] {
    return [...this.#all.values()].sort(
      ({ origin: a }, { origin: b }) => a.document.localeCompare(b.document) || a.line - b.line || a.column - b.column,
    );
  }
}

/** `people.ttl:12:5: …`, as compilers print errors. */
export const refusalLine = ({ origin, reason }: Refusal): string => `${formatOrigin(origin)}: ${reason}`;

/** @throws Fault mapping/invalid — with all refusals */
export function throwRefusals(refusals: readonly Refusal[], dialect: string): void {
  if (refusals.length === 0) return;
  throw new Fault('mapping/invalid', refusals.map(refusalLine).join('\n'), {
    hint: `quadmill run maps what ${dialect} cannot`,
  });
}
