/**
 * Rows as bytes: a head, then the cells in the order of a *layout*, the sorted names of the row's columns.
 *
 * Head: kind (1 byte), generation, id, position, layout. A bag, which is a row of a table without a key, has two counts in
 * place of the position. Position: 0 for none; 2 · length + 1 and UTF-8; or 2 · length + 2 and numbers of `DIGITS` digits each, where it is made of digits, which
 * begin with many zeros in the positions of databases. Cell: 0 for NULL, else ((length << 1) | isToken) + 1 and that many bytes of UTF-8; a token is a number or boolean of JSON.
 * Numbers are unsigned LEB128.
 */
import type { Row, RowValue } from '../../events.ts';

/** `moved`: deleted, with the cells that the row had when it went on under another key. */
const KINDS = ['deleted', 'row', 'bag', 'moved'] as const;

interface Head {
  /** A row counts if its generation is at least that of its table: `KeptTable.least`. */
  readonly generation: number;
  /** Names the row while its key has one, whatever its content. No other row has had it. 0: there is no row. */
  readonly id: number;
  /** Index of the layout. */
  readonly layout: number;
  /** Where the cells begin. */
  readonly at: number;
}
export type PackedRow =
  | (Head & { readonly kind: 'deleted' | 'row' | 'moved'; readonly position: string | undefined })
  /** `older`: how many equal rows there were before the generation; `count`: how many have come in it. */
  | (Head & { readonly kind: 'bag'; readonly older: number; readonly count: number });

/** As a number they are exact. */
const DIGITS = 14;
const ALL_DIGITS = /^\d+$/;

/** A layout without cells. */
const NO_CONTENT = Uint8Array.of(0);

/** Writes into one buffer, which grows and is used again: `take` copies. */
export class RowWriter {
  #bytes = Buffer.allocUnsafe(4096);
  #at = 0;

  /** @param content undefined: none */
  row(kind: 'deleted' | 'row' | 'moved', generation: number, id: number, position: string | undefined, content?: Uint8Array): void {
    this.#begin(kind, generation, id);
    this.#position(position);
    this.#content(content ?? NO_CONTENT);
  }

  bag(generation: number, id: number, older: number, count: number, content: Uint8Array): void {
    this.#begin('bag', generation, id);
    this.#number(older);
    this.#number(count);
    this.#content(content);
  }

  /** Begins a content, of which the cells follow. */
  content(layout: number): void {
    this.#at = 0;
    this.#number(layout);
  }

  cell(value: RowValue): void {
    if (value === null) {
      this.#number(0);
      return;
    }
    const isToken = typeof value !== 'string';
    const text = isToken ? value.json : value;
    const length = Buffer.byteLength(text);
    this.#number(length * 2 + Number(isToken) + 1);
    this.#text(text, length);
  }

  take(): Buffer {
    const taken = Buffer.from(this.#bytes.subarray(0, this.#at));
    this.#at = 0;
    return taken;
  }

  #begin(kind: PackedRow['kind'], generation: number, id: number): void {
    this.#at = 0;
    this.#reserve(1);
    this.#bytes[this.#at++] = KINDS.indexOf(kind);
    this.#number(generation);
    this.#number(id);
  }

  #position(position: string | undefined): void {
    if (position === undefined) this.#number(0);
    else if (ALL_DIGITS.test(position)) {
      this.#number(2 * position.length + 2);
      for (let at = 0; at < position.length; at += DIGITS) this.#number(Number(position.slice(at, at + DIGITS)));
    } else {
      const length = Buffer.byteLength(position);
      this.#number(2 * length + 1);
      this.#text(position, length);
    }
  }

  #content(content: Uint8Array): void {
    this.#reserve(content.length);
    this.#bytes.set(content, this.#at);
    this.#at += content.length;
  }

  #number(value: number): void {
    this.#reserve(8);
    let left = value;
    for (; left >= 0x80; left = Math.floor(left / 0x80)) this.#bytes[this.#at++] = (left % 0x80) | 0x80;
    this.#bytes[this.#at++] = left;
  }

  #text(text: string, length: number): void {
    this.#reserve(length);
    this.#bytes.write(text, this.#at, 'utf8');
    this.#at += length;
  }

  #reserve(length: number): void {
    if (this.#at + length <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafe(2 * (this.#at + length));
    this.#bytes.copy(larger, 0, 0, this.#at);
    this.#bytes = larger;
  }
}

class Numbers {
  readonly bytes: Buffer;
  at: number;

  constructor(bytes: Buffer, at: number) {
    this.bytes = bytes;
    this.at = at;
  }

  next(): number {
    let value = 0;
    for (let scale = 1; ; scale *= 0x80) {
      const byte = this.bytes[this.at++] as number;
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return value;
    }
  }
}

export function headOf(bytes: Buffer): PackedRow {
  const kind = KINDS[bytes[0] as number] as PackedRow['kind'];
  const numbers = new Numbers(bytes, 1);
  const [generation, id] = [numbers.next(), numbers.next()];
  if (kind === 'bag') {
    const [older, count, layout] = [numbers.next(), numbers.next(), numbers.next()];
    return { kind, generation, id, older, count, layout, at: numbers.at };
  }
  const position = positionIn(numbers);
  const layout = numbers.next();
  return { kind, generation, id, position, layout, at: numbers.at };
}

function positionIn(numbers: Numbers): string | undefined {
  const code = numbers.next();
  if (code === 0) return undefined;
  const length = (code - 1) >> 1;
  if (code % 2 === 1) {
    const from = numbers.at;
    numbers.at += length;
    return numbers.bytes.toString('utf8', from, numbers.at);
  }
  let position = '';
  while (position.length < length) position += String(numbers.next()).padStart(Math.min(DIGITS, length - position.length), '0');
  return position;
}

/** Layout and cells: equal for rows that say the same. */
export const contentOf = (bytes: Buffer, { layout, at }: Head): Buffer => bytes.subarray(at - lengthOf(layout));

const lengthOf = (number: number): number => (number < 0x80 ? 1 : 1 + lengthOf(Math.floor(number / 0x80)));

/**
 * Calls `take` with each cell: its index in the layout, its text as one-byte UTF-8 (null: NULL), and whether that is a token of JSON.
 *
 * @param at where the cells begin
 */
export function readCells(
  bytes: Buffer,
  at: number,
  columns: number,
  take: (index: number, text: string | null, isToken: boolean) => void,
): void {
  const numbers = new Numbers(bytes, at);
  for (let index = 0; index < columns; index++) {
    const code = numbers.next();
    if (code === 0) {
      take(index, null, false);
      continue;
    }
    const from = numbers.at;
    numbers.at += (code - 1) >> 1;
    take(index, bytes.toString('latin1', from, numbers.at), ((code - 1) & 1) === 1);
  }
}

/** The row as events have it. */
export function rowOf(bytes: Buffer, at: number, layout: readonly string[]): Row {
  const row: Record<string, RowValue> = {};
  readCells(bytes, at, layout.length, (index, text, isToken) => {
    const value = text === null ? null : Buffer.from(text, 'latin1').toString('utf8');
    row[layout[index] as string] = value === null || !isToken ? value : { json: value };
  });
  return row;
}
