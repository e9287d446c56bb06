/**
 * The values of a reference in one record.
 *
 * Text is UTF-8 in a one-byte string (see `text.ts`). A plain string is a value without a natural datatype; a `TypedValue` has one (JSON
 * numbers and booleans, SQL columns). `null` means no value, an array means several. The common case is a string, not an object, on
 * purpose: a CSV cell travels from the reader to the output unwrapped.
 */

/** A value with its natural datatype, in the canonical lexical form of that datatype. */
export class TypedValue {
  readonly text: string;
  /** IRI of the natural datatype, for example `http://www.w3.org/2001/XMLSchema#integer`. */
  readonly datatype: string;
  /** The text as written in the source (`655.50`, where `text` is `6.555E2`): for term maps that state a datatype. */
  readonly written: string;

  constructor(text: string, datatype: string, written: string = text) {
    this.text = text;
    this.datatype = datatype;
    this.written = written;
  }
}

export type Value = string | TypedValue;

/** No value, one, or several in document order. An empty array also means no value. */
export type Values = null | Value | readonly Value[];

/** Returns the values of one reference in a record. Created once per scan by the source, called for every record. */
export interface Accessor {
  (record: unknown): Values;
  /** The same values as they are written, if the source has these without the canonical forms. */
  written?: (record: unknown) => null | string | readonly string[];
}

export const XSD = 'http://www.w3.org/2001/XMLSchema#';
