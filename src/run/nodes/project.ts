/** The build side of a join, filled from the records of the parent. */
import { Fault } from '../../core/fault.ts';
import type { DatatypeCheck } from '../../mapping/model/model.ts';
import type { MapInfo, Project, RowTerm } from '../../plan/algebra.ts';
import { isTerm } from '../../plan/expressions.ts';
import type { Affixes, Multimap } from '../../spill/multimap.ts';
import { compileTerm, compileWhole } from '../../terms/encode.ts';
import { type Accessors, compileValues, type Text, type TextOf } from '../../terms/evaluate.ts';
import { checked } from '../compile/flaws.ts';
import { compileKeys, tracedKeys } from '../compile/keys.ts';
import { countOf, distinct, listOf, PIECE_STATEMENTS } from '../compile/texts.ts';
import { packRow } from '../join/packed-row.ts';
import type { RowTrace } from '../request.ts';

export class BuildSide {
  /** The triples map that reports invalid terms of the records; undefined: there are none. */
  readonly parent: MapInfo | undefined;
  readonly index: Multimap;
  readonly #rows: TextOf;
  readonly #keys: TextOf;
  /** For the current record. */
  #keyTexts: Text = null;
  #rowTexts: Text = null;

  constructor(
    project: Project,
    index: Multimap,
    records: Accessors,
    { datatypeCheck, trace }: { readonly datatypeCheck: DatatypeCheck | undefined; readonly trace: RowTrace | undefined },
  ) {
    this.parent = project.map;
    const rows = project.map === undefined ? records : { ...records, ...checked(project.map, datatypeCheck) };
    this.index = index;
    const { text, ...affixes } = compileRows(project, rows);
    this.#rows = text;
    index.affixes = affixes;
    const keys = project.keys.map(({ value }) => value);
    this.#keys = tracedKeys(compileKeys(keys, rows), project, trace);
  }

  /** @throws Fault record/term — for the key. A record without a valid term is skipped: its triples map reports it */
  read(record: unknown, position: number): void {
    this.#rowTexts = this.#rowsOf(record, position);
    this.#keyTexts = this.#rowTexts === null ? null : this.#keys(record, position);
  }

  /**
   * Adds the rows of the record that was read. A record with very many adds them in pieces, which must be consumed before the next record.
   */
  keep(): Iterable<''> | undefined {
    const [keys, rows] = [this.#keyTexts, this.#rowTexts];
    if (keys === null || rows === null) return undefined;
    if (typeof rows === 'string' && typeof keys === 'string') {
      this.index.add(keys, rows);
      return undefined;
    }
    const pieces = this.#addInPieces(listOf(distinct(rows) as string), listOf(distinct(keys) as string));
    if (countOf(rows) * countOf(keys) > PIECE_STATEMENTS) return pieces;
    for (const _ of pieces);
    return undefined;
  }

  *#addInPieces(rows: readonly string[], keys: readonly string[]): Iterable<''> {
    for (const row of rows) {
      for (const key of keys) this.index.add(key, row);
      yield '';
    }
  }

  #rowsOf(record: unknown, position: number): Text {
    try {
      return this.#rows(record, position);
    } catch (error) {
      if (error instanceof Fault && error.code === 'record/term') return null;
      throw error;
    }
  }
}

/** The row of one term is the text of that term, without what is the same for all records. A record without the term has no row. */
function compileRows({ columns, counts }: Project, rows: Accessors): Affixes & { readonly text: TextOf } {
  const [only] = columns;
  const isTermAlone = columns.length === 1 && only !== undefined && isTerm(only.value);
  if (isTermAlone && !counts) {
    const { before, after, text } = compileTerm(only.value as RowTerm, rows);
    return { before, after, text };
  }
  const cells = columns.map(({ value }) => (isTerm(value) ? compileWhole(value, rows) : compileValues(value, rows)));
  return {
    before: '',
    after: '',
    text: (record, position) => {
      const made = cells.map((cell) => cell(record, position));
      if (isTermAlone && made[0] === null) return null;
      return packRow(counts ? [...made, rows.order(position)] : made);
    },
  };
}
