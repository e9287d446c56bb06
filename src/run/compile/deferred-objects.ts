/** Statements whose objects a join finds at the end. */

import type { Text } from '../../terms/evaluate.ts';
import type { PairingMemory } from '../join/join.ts';
import { packRow, unpackRow } from '../join/packed-row.ts';
import { affixPairs, type VaryingAffixes } from './affixes.ts';
import type { OutputPattern, OutputText, StatementOwner } from './output.ts';
import type { ProbeSide } from './probe-side.ts';
import { distinct } from './texts.ts';

/** What a run finishes after all scans: it writes statements while it is consumed. */
export interface Ending {
  end(memory: PairingMemory): AsyncIterable<''>;
}

export class DeferredObjects implements Ending {
  readonly probe: ProbeSide;
  readonly ends: VaryingAffixes;
  /** The join keys of the current record. */
  keys: Text = null;
  /** As `CompiledRule.slot`, for the key. */
  readonly slot: number;
  /** Where predicate and graph are constant, a known subject adds nothing: all of its records have the same key. */
  readonly keyed: boolean;
  readonly #output: OutputText;
  /** undefined: predicate or graph are not constant. */
  readonly #pattern: OutputPattern | undefined;
  /** No two pairs of subject and parent make the same statement, and nothing else makes it: see `keyedBy` of the plan. */
  readonly #distinct: boolean;
  readonly #owner: StatementOwner;
  /** Number of packed rows. */
  #packed = 0;

  constructor(
    probe: ProbeSide,
    ends: VaryingAffixes,
    output: OutputText,
    pattern: OutputPattern | undefined,
    { slot, keyed, distinct }: { readonly slot: number; readonly keyed: boolean; readonly distinct: boolean },
    owner: StatementOwner,
  ) {
    this.probe = probe;
    this.ends = ends;
    this.slot = slot;
    this.keyed = keyed;
    this.#output = output;
    this.#pattern = pattern;
    this.#distinct = distinct;
    this.#owner = owner;
  }

  read(record: unknown, position: number): void {
    this.ends.read(record, position);
    this.keys = distinct(this.probe.keys(record, position));
  }

  /** Whether the current record has one key and one statement for each parent, so that its subject is stored as it is. */
  isPlain(subjects: readonly string[]): boolean {
    return subjects.length === 1 && this.ends.constant && typeof this.keys === 'string';
  }

  /** Stores the current record, which is not plain. It may have no statement, and counts among those that look for a partner all the same. */
  storePacked(subjects: readonly string[]): Iterable<''> {
    const { keys, ends } = this;
    if (keys === null) return [];
    const row = packRow([String(this.#packed++), subjects, ends.lead, ends.tail]);
    if (typeof keys !== 'string') return this.probe.storeInPieces(keys, row);
    this.probe.store(keys, row);
    return [];
  }

  /**
   * **Claim.** A statement is written once. **Proof.** `#distinct` says so of different pairs of subject and parent, and plain records have stored each
   * pair of key and subject once. Packed records may have the same subjects and keys: where there are some, each statement is compared.
   */
  async *end(memory: PairingMemory): AsyncIterable<''> {
    const { before, after } = this.probe.build.affixes;
    const isCompared = !this.#distinct || this.#packed > 0;
    for await (const [row, parents] of this.probe.pairs(memory)) {
      const stored = isPacked(row) ? unpack(row) : undefined;
      for (const parent of parents) {
        const value = before + parent + after;
        if (stored !== undefined) yield* this.#writeEach(stored, value);
        else if (isCompared) this.#owner.putOnce(this.#pattern as OutputPattern, row, value);
        else this.#owner.put(this.#pattern as OutputPattern, row, value);
        yield '';
      }
    }
  }

  *#writeEach({ subjects, ...ends }: PackedRow, value: string): Iterable<''> {
    for (const subject of subjects) {
      if (this.#pattern !== undefined) this.#owner.putOnce(this.#pattern, subject, value);
      else for (const [lead, tail] of affixPairs(ends, subject)) this.#owner.once(this.#output, lead + value + tail);
      yield '';
    }
  }
}

interface PackedRow extends Pick<VaryingAffixes, 'lead' | 'tail'> {
  readonly subjects: readonly string[];
}

/** A packed row begins with the tag of a text, a subject with `<` or `_`. */
const isPacked = (row: string): boolean => row.startsWith('t');

function unpack(row: string): PackedRow {
  const [, subjects, lead, tail] = unpackRow(row) as [string, string[], Text, Text];
  return { subjects, lead, tail };
}
