/** What a column type of a product means: how its values compare, and their natural datatype. */
import { XSD } from '../../core/value.ts';
import type { Column, Family } from '../database.ts';

/** The members of `Column` that follow from the type alone. @see https://www.w3.org/TR/r2rml/#natural-mapping */
export interface Natural {
  readonly family: Family;
  /** Local name in XML Schema; absent: values are plain strings. */
  readonly datatype?: string;
  readonly canonical?: (text: string) => string;
  readonly exact: boolean;
  /** The type has values that the datatype lacks, so `canonical` may throw. */
  readonly partial?: true;
}

export const plain = (family: Family, exact: boolean): Natural => ({ family, exact });

export const typed = (family: Family, datatype: string, exact: boolean, canonical?: (text: string) => string): Natural => ({
  family,
  datatype,
  exact,
  ...(canonical === undefined ? {} : { canonical }),
});

/** For a type with values that the datatype lacks. */
export const partly = (...args: Parameters<typeof typed>): Natural => ({ ...typed(...args), partial: true });

/** A column whose values are no arrays. */
export const naturalColumn = (name: string, type: string, { family, datatype, canonical, exact, partial }: Natural): Column => ({
  name,
  type,
  family,
  datatype: datatype === undefined ? undefined : XSD + datatype,
  canonical,
  partial: partial === true,
  elements: undefined,
  exact,
});
