/**
 * What a reference yields for one record.
 *
 * Text is UTF-8 carried as a one-byte string (see `text.ts`). A plain string is a value without a natural datatype;
 * a `TypedValue` has one (JSON numbers and booleans, later SQL columns). `null` means no value, an array several.
 * Strings, not objects, are the common case on purpose: a CSV cell travels from the reader to the output unwrapped.
 */

/** A value with its natural datatype, in the canonical lexical form of that datatype. */
export class TypedValue {
  readonly text: string;
  /** IRI of the natural datatype, for example `http://www.w3.org/2001/XMLSchema#integer`. */
  readonly datatype: string;
  /** As the source writes it (`655.50`, where `text` is `6.555E2`): for a term map that names a datatype of its own. */
  readonly written: string;

  constructor(text: string, datatype: string, written: string = text) {
    this.text = text;
    this.datatype = datatype;
    this.written = written;
  }
}

export type Value = string | TypedValue;

/** No value, one, or several in document order. An empty array means no value, too. */
export type Values = null | Value | readonly Value[];

/** Reads one reference of one record. Made once for a scan by its source; called for every record. */
export type Accessor = (record: unknown) => Values;

export const XSD = 'http://www.w3.org/2001/XMLSchema#';
