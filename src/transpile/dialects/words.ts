/** What the dialects spell differently in the functions that both define. */
import type { Spelling } from '../sql.ts';

/** What bodies of functions are made of. */
export interface Words extends Spelling {
  /** A function of texts that gives a text, unless another type is named. @param parameters with a type behind the name, if it is no text */
  define(name: string, parameters: readonly string[], body: string, type?: 'int' | 'double'): string;
  /** The same for a function whose arguments are made once, however often the body has them: calls stand in calls. */
  defineOnce: Words['define'];
  /** Without any of the characters at both ends. */
  trim(value: string, characters: string): string;
  trimStart(value: string, characters: string): string;
  startsWith(value: string, start: string): string;
  endsWith(value: string, end: string): string;
  /** `true` or `false`. */
  booleanText(condition: string): string;
  /** As `quadmill_uri_part`, for what stands within other functions. */
  encodeUri(value: string): string;
  toText(number: string): string;
  toDouble(value: string): string;
  sha256(value: string): string;
  /** The bytes of a text in hexadecimal digits. */
  hex(value: string): string;
  /** Each character that is not kept, replaced. @param kept a class of characters @param other SQL of the character `c` */
  eachOther(value: string, kept: string, other: string): string;
  /** The nearest double of a number with many digits, in the form of `NUMBER`, with as few digits as tell it from others. */
  shortestDouble(value: string): string;
}
