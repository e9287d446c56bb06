/** The build side of a join, filled from the records of the parent. */
import { Fault } from '../../core/fault.ts';
import type { MapInfo, Project } from '../../plan/algebra.ts';
import { type CompiledTerm, compileTerm } from '../../terms/encode.ts';
import type { Accessors, Text, TextOf } from '../../terms/evaluate.ts';
import type { Multimap } from '../join/join.ts';
import { compileKeys } from './rule.ts';
import { countOf, distinct, listOf, PIECE_STATEMENTS } from './texts.ts';

export class BuildSide {
  readonly parent: MapInfo;
  readonly #index: Multimap;
  readonly #subject: CompiledTerm;
  readonly #keys: TextOf;
  /** For the current record. */
  #texts: Text = null;
  #subjects: Text = null;

  constructor({ map, keys, term }: Project, index: Multimap, rows: Accessors) {
    this.parent = map;
    this.#index = index;
    this.#subject = compileTerm(term.value, rows);
    this.#keys = compileKeys(
      keys.map(({ value }) => value),
      rows,
    );
  }

  /** @throws Fault record/term — for the key. A record without a valid subject is skipped: its triples map reports it */
  read(record: unknown, position: number): void {
    this.#subjects = this.#subjectsOf(record, position);
    this.#texts = this.#subjects === null ? null : this.#keys(record, position);
  }

  /**
   * Adds the subjects of the record that was read. A record with very many adds them in pieces, which must be consumed before the next
   * record.
   */
  keep(): Iterable<''> | undefined {
    const [keys, subjects] = [this.#texts, this.#subjects];
    if (keys === null || subjects === null) return undefined;
    if (typeof subjects === 'string' && typeof keys === 'string') {
      this.#index.add(keys, this.#subject.before + subjects + this.#subject.after);
      return undefined;
    }
    const pieces = this.#addInPieces(listOf(distinct(subjects) as string), listOf(distinct(keys) as string));
    if (countOf(subjects) * countOf(keys) > PIECE_STATEMENTS) return pieces;
    for (const _ of pieces);
    return undefined;
  }

  *#addInPieces(subjects: readonly string[], keys: readonly string[]): Iterable<''> {
    const { before, after } = this.#subject;
    for (const subject of subjects) {
      for (const key of keys) this.#index.add(key, before + subject + after);
      yield '';
    }
  }

  #subjectsOf(record: unknown, position: number): Text {
    try {
      return this.#subject.text(record, position);
    } catch (error) {
      if (error instanceof Fault && error.code === 'record/term') return null;
      throw error;
    }
  }
}
