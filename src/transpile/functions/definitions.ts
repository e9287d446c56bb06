/**
 * Functions of mappings as functions of SQL: their bodies, which give the same text as `src/functions` for every text, or end the job.
 *
 * Positions and lengths count UTF-16 code units there and characters here. They agree for texts without characters beyond U+FFFF; others end the
 * job (`units`).
 */

import { EXACT_DIGITS, SAFE_EXPONENT } from '../dialects/dialect.ts';
import { DATE } from '../dialects/lexical.ts';
import type { Words } from '../dialects/words.ts';
import type { Definer } from '../row.ts';
import type { Sql } from '../sql.ts';
import { caseTables } from './letter-case.ts';

/** Year, month, day, hour, minute and second, each in digits. */
const REWRITTEN = '^([+-]?[0-9]+)-([0-9]+)-([0-9]+)T([0-9]+):([0-9]+):([0-9]+)\\z';

interface Definition {
  /** With a type behind the name, if it is no text. */
  readonly takes: readonly string[];
  readonly gives?: 'double';
  readonly body: (by: Words) => string;
  /** Functions that the body calls. */
  readonly uses?: readonly FunctionName[];
}

/** White space in JavaScript. */
export const SPACE =
  '\t\n\v\f\r \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000\ufeff';
const SPACES = '[\\t\\n\\x0B\\f\\r \\x{A0}\\x{1680}\\x{2000}-\\x{200A}\\x{2028}\\x{2029}\\x{202F}\\x{205F}\\x{3000}\\x{FEFF}]';
const NUMBER = '^[+-]?(?:[0-9]+(?:\\.[0-9]*)?|\\.[0-9]+)(?:[eE][+-]?[0-9]+)?\\z';

const failure = (by: Words, message: string): string => by.fail(`${by.text(`quadmill: record/term: ${message}: `)} || x`);

/** With the letters of ASCII by the engine, and others by the tables of JavaScript. */
function inCase(by: Words, name: 'upper' | 'lower'): string {
  const { from, to, expanding } = caseTables(name);
  const sharp = name === 'upper' ? `replace(x, 'ß', 'SS')` : 'x';
  return `CASE WHEN ${by.matches('x', '^[\\x00-\\x7F]*\\z')} THEN ${name}(x)
    WHEN ${by.matches('x', `[${expanding}]`)} THEN ${failure(by, `the ${name} case of a letter is several letters, or depends on those beside it`)}
    ELSE translate(${sharp}, ${by.text(from)}, ${by.text(to)}) END`;
}

const comparison =
  (operator: '<' | '>' | '='): ((by: Words) => string) =>
  (by) =>
    by.booleanText(`quadmill_number(x) ${operator} quadmill_number(y)`);

const DEFINITIONS = {
  upper: { takes: ['x'], body: (by) => inCase(by, 'upper') },
  lower: { takes: ['x'], body: (by) => inCase(by, 'lower') },
  capitalize: { takes: ['x'], body: () => 'quadmill_upper(left(x, 1)) || substring(x, 2)', uses: ['upper'] },
  upper_url: {
    takes: ['x'],
    body: (by) =>
      `CASE WHEN ${by.matches('x', '^[hH][tT][tT][pP][sS]?://')} THEN quadmill_upper(x) ELSE 'http://' || quadmill_upper(x) END`,
    uses: ['upper'],
  },
  trim: { takes: ['x'], body: (by) => by.trim('x', SPACE) },
  normalize_space: { takes: ['x'], body: (by) => by.replacePattern(by.trim('x', SPACE), `${SPACES}+`, ' ') },
  units: {
    takes: ['x'],
    body: (by) =>
      `CASE WHEN ${by.matches('x', '[\\x{10000}-\\x{10FFFF}]')} THEN ${failure(by, 'a function counts the characters of a text with one beyond U+FFFF')} ELSE x END`,
  },
  length: { takes: ['x'], body: (by) => by.toText('length(quadmill_units(x))'), uses: ['units'] },
  /** `t` is null for the end. */
  substring: {
    takes: ['x', 'f INT', 't INT'],
    body: () => `CASE WHEN (CASE WHEN f < 0 THEN length(quadmill_units(x)) + f ELSE f END) BETWEEN 0 AND length(quadmill_units(x))
    AND coalesce(CASE WHEN t < 0 THEN length(x) + t ELSE t END, length(x)) >= (CASE WHEN f < 0 THEN length(x) + f ELSE f END)
    THEN substring(x, (CASE WHEN f < 0 THEN length(x) + f ELSE f END) + 1, coalesce(CASE WHEN t < 0 THEN length(x) + t ELSE t END, length(x)) - (CASE WHEN f < 0 THEN length(x) + f ELSE f END)) END`,
    uses: ['units'],
  },
  /** Null beside a null: so are those below whose last branch has another text. */
  chomp: {
    takes: ['x', 'y'],
    body: (by) => `CASE WHEN y <> '' AND ${by.endsWith('x', 'y')} THEN left(x, length(x) - length(y)) WHEN y IS NOT NULL THEN x END`,
  },
  remove_prefix: {
    takes: ['x', 'y'],
    body: (by) => `CASE WHEN ${by.startsWith('x', 'y')} THEN substring(x, length(y) + 1) WHEN y IS NOT NULL THEN x END`,
  },
  before: { takes: ['x', 'y'], body: () => `CASE WHEN y = '' THEN left(x, 0) WHEN contains(x, y) THEN left(x, instr(x, y) - 1) END` },
  after: { takes: ['x', 'y'], body: () => `CASE WHEN y = '' THEN x WHEN contains(x, y) THEN substring(x, instr(x, y) + length(y)) END` },
  pad_start: {
    takes: ['x', 'n INT', 'y'],
    body: () => `CASE WHEN length(quadmill_units(x)) >= n OR quadmill_units(y) = '' THEN x WHEN y IS NOT NULL THEN lpad(x, n, y) END`,
    uses: ['units'],
  },
  pad_end: {
    takes: ['x', 'n INT', 'y'],
    body: () => `CASE WHEN length(quadmill_units(x)) >= n OR quadmill_units(y) = '' THEN x WHEN y IS NOT NULL THEN rpad(x, n, y) END`,
    uses: ['units'],
  },
  replace: { takes: ['x', 'y', 'z'], body: () => `CASE WHEN y = '' AND z IS NOT NULL THEN x ELSE replace(x, y, z) END` },
  contains: { takes: ['x', 'y'], body: (by) => by.booleanText('contains(x, y)') },
  starts_with: { takes: ['x', 'y'], body: (by) => by.booleanText(by.startsWith('x', 'y')) },
  ends_with: { takes: ['x', 'y'], body: (by) => by.booleanText(by.endsWith('x', 'y')) },
  equal: { takes: ['x', 'y'], body: (by) => by.booleanText('x = y') },
  not_equal: { takes: ['x', 'y'], body: (by) => by.booleanText('x <> y') },
  text_before: { takes: ['x', 'y'], body: (by) => by.booleanText('x < y') },
  index_of: {
    takes: ['x', 'y'],
    body: (by) => `CASE WHEN y = '' THEN '0' ELSE ${by.toText('instr(quadmill_units(x), y) - 1')} END`,
    uses: ['units'],
  },
  equal_ignoring_case: {
    takes: ['x', 'y'],
    body: (by) => by.booleanText('quadmill_lower(quadmill_upper(x)) = quadmill_lower(quadmill_upper(y))'),
    uses: ['upper', 'lower'],
  },
  encode_uri: { takes: ['x'], body: (by) => by.encodeUri('x') },
  local_name: { takes: ['x'], body: (by) => by.replacePattern('x', '^(?s).*[#/:]', '') },
  is_uuid: { takes: ['x'], body: (by) => by.booleanText(by.matches('x', '^[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\\z')) },
  characters: { takes: ['x', 'y', 'z'], body: () => 'translate(x, y, z)' },
  number: {
    takes: ['x'],
    gives: 'double',
    // DuckDB makes the conversion also where the branch is not taken, unless the text is one in any case.
    body: (by) =>
      `CASE WHEN x IS NULL THEN NULL WHEN quadmill_is_number(x) = 'true' THEN ${by.toDouble(`quadmill_trim(x)`)} ELSE ${by.toDouble(failure(by, 'a text is not a number'))} END`,
    uses: ['is_number', 'trim'],
  },
  /** Those that are too large are none. */
  is_number: {
    takes: ['x'],
    body: (by) =>
      `CASE WHEN ${by.matches('quadmill_trim(x)', NUMBER)} THEN ${by.booleanText(`abs(${by.toDouble('quadmill_trim(x)')}) < ${by.toDouble("'Infinity'")}`)} ELSE 'false' END`,
    uses: ['trim'],
  },
  /**
   * In plain digits, as `numberText` writes the number. A decimal of so few digits is the shortest one of its double.
   */
  number_text: {
    takes: ['x'],
    body: (by) =>
      `CASE WHEN x IS NULL THEN NULL WHEN quadmill_is_number(x) = 'false' THEN ${failure(by, 'a text is not a number')} ELSE quadmill_plain_digits(${plainForm(by)}) END`,
    uses: ['is_number', 'trim', 'plain_digits'],
  },
  plain_digits: {
    takes: ['x'],
    body: (by) => {
      const [d, e] = ['quadmill_digits(x)', 'quadmill_exponent(x)'];
      return `CASE WHEN ${d} = '' THEN '0' WHEN length(${d}) > ${EXACT_DIGITS} OR abs(${e}) > ${SAFE_EXPONENT} THEN ${failure(by, `a number has more than ${EXACT_DIGITS} digits, or is too large or too small`)}
    ELSE CASE WHEN ${by.startsWith('x', "'-'")} THEN '-' ELSE '' END || CASE WHEN ${e} < 0 THEN '0.' || repeat('0', -${e} - 1) || ${d}
    WHEN length(${d}) <= ${e} + 1 THEN ${d} || repeat('0', ${e} + 1 - length(${d})) ELSE left(${d}, ${e} + 1) || '.' || substring(${d}, ${e} + 2) END END`;
    },
  },
  absolute: { takes: ['x'], body: () => `replace(quadmill_number_text(x), '-', '')`, uses: ['number_text'] },
  least: {
    takes: ['x', 'y'],
    body: () =>
      'CASE WHEN quadmill_number(x) <= quadmill_number(y) THEN quadmill_number_text(x) WHEN quadmill_number(x) > quadmill_number(y) THEN quadmill_number_text(y) END',
    uses: ['number', 'number_text'],
  },
  greatest: {
    takes: ['x', 'y'],
    body: () =>
      'CASE WHEN quadmill_number(x) >= quadmill_number(y) THEN quadmill_number_text(x) WHEN quadmill_number(x) < quadmill_number(y) THEN quadmill_number_text(y) END',
    uses: ['number', 'number_text'],
  },
  floor: { takes: ['x'], body: (by) => integral(by, 'floor(quadmill_number(x))'), uses: ['number'] },
  ceil: { takes: ['x'], body: (by) => integral(by, 'ceil(quadmill_number(x))'), uses: ['number'] },
  truncate: {
    takes: ['x'],
    body: (by) => integral(by, 'CASE WHEN quadmill_number(x) < 0 THEN ceil(quadmill_number(x)) ELSE floor(quadmill_number(x)) END'),
    uses: ['number'],
  },
  /** Halves go up. The difference of a number and its floor is exact, the sum with a half is not. */
  nearest: {
    takes: ['x'],
    body: (by) =>
      integral(by, 'floor(quadmill_number(x)) + CASE WHEN quadmill_number(x) - floor(quadmill_number(x)) >= 0.5 THEN 1 ELSE 0 END'),
    uses: ['number'],
  },
  round: {
    takes: ['x'],
    body: (by) =>
      `quadmill_nearest(CASE WHEN contains(x, '.') THEN replace(x, ',', '') ELSE ${by.replacePattern('x', '^([^,]*),', '$1.')} END)`,
    uses: ['nearest'],
  },
  /** Of a date that `functions/dates.ts` has rewritten; null if it has none, or no such date. */
  date_time: {
    takes: ['x', 'r'],
    body: (by) => {
      const field = (at: number): string => `right('0' || ${by.extract('r', REWRITTEN, at)}, 2)`;
      const made = `${by.extract('r', REWRITTEN, 1)} || '-' || ${field(2)} || '-' || ${field(3)} || 'T' || ${field(4)} || ':' || ${field(5)} || ':' || ${field(6)}`;
      return `CASE WHEN r IS NULL THEN NULL WHEN NOT (${by.matches(by.extract('r', REWRITTEN, 1), '^[0-9]{4}\\z')}) THEN ${failure(by, 'a year is not four digits')}
    WHEN ${by.matches(made, `^${DATE}T(?:[01][0-9]|2[0-3])(?::[0-5][0-9]){2}\\z`)} THEN ${made} END`;
    },
  },
  date: { takes: ['x', 'r'], body: () => 'left(quadmill_date_time(x, r), 10)', uses: ['date_time'] },
  checked_date_time: {
    takes: ['x', 'r'],
    body: (by) =>
      `CASE WHEN x IS NOT NULL AND quadmill_date_time(x, r) IS NULL THEN ${failure(by, 'a text is no date of the pattern')} ELSE quadmill_date_time(x, r) END`,
    uses: ['date_time'],
  },
  checked_date: { takes: ['x', 'r'], body: () => 'left(quadmill_checked_date_time(x, r), 10)', uses: ['checked_date_time'] },
  numbers_equal: { takes: ['x', 'y'], body: comparison('='), uses: ['number'] },
  less_than: { takes: ['x', 'y'], body: comparison('<'), uses: ['number'] },
  greater_than: { takes: ['x', 'y'], body: comparison('>'), uses: ['number'] },
  boolean: {
    takes: ['x'],
    body: (by) => `CASE WHEN ${by.matches('quadmill_trim(x)', '^(?:[tT][rR][uU][eE]|1)\\z')} THEN 'true'
    WHEN ${by.matches('quadmill_trim(x)', '^(?:[fF][aA][lL][sS][eE]|0)\\z')} THEN 'false' WHEN x IS NOT NULL THEN ${failure(by, 'a text is not a boolean')} END`,
    uses: ['trim'],
  },
  not: {
    takes: ['x'],
    body: () => `CASE quadmill_boolean(x) WHEN 'true' THEN 'false' WHEN 'false' THEN 'true' END`,
    uses: ['boolean'],
  },
  /** Of booleans beside each other. */
  every: { takes: ['x'], body: (by) => `CASE WHEN x <> '' THEN ${by.booleanText(`NOT contains(x, 'false')`)} END` },
  some: { takes: ['x'], body: (by) => `CASE WHEN x <> '' THEN ${by.booleanText(`contains(x, 'true')`)} END` },
  odd: {
    takes: ['x'],
    body: (by) => `CASE WHEN x <> '' THEN ${by.booleanText(`(length(x) - length(replace(x, 'true', ''))) % 8 = 4`)} END`,
  },
  md5: { takes: ['x'], body: () => 'md5(x)' },
  sha1: { takes: ['x'], body: () => 'sha1(x)' },
  sha256: { takes: ['x'], body: (by) => by.sha256('x') },
  escape_html: { takes: ['x'], body: () => escapedMarkup('x') },
  escape_xml: { takes: ['x'], body: (by) => `replace(${escapedMarkup('x')}, ${by.text("'")}, '&apos;')` },
  escape_csv: {
    takes: ['x'],
    body: (by) => `CASE WHEN ${by.matches('x', '[",\\r\\n]')} THEN '"' || replace(x, '"', '""') || '"' ELSE x END`,
  },
} as const satisfies Readonly<Record<string, Omit<Definition, 'uses'> & { readonly uses?: readonly string[] }>>;

/** Of a number as functions read it: the form of `NUMBER` of the dialects. */
const plainForm = (by: Words): string =>
  by.replacePattern(
    // The first group, and a zero: there are no ten groups.
    by.replacePattern(by.replacePattern('quadmill_trim(x)', '^[+]', ''), '^(-?)[.]', '$10.'),
    '[.]([eE]|\\z)',
    '$1',
  );

/** A double without decimals in digits. Casts are made also where their branch is not taken. */
function integral(by: Words, made: string): string {
  const bound = '9007199254740992';
  return `CASE WHEN abs(quadmill_number(x)) >= ${bound} THEN ${failure(by, 'a number is too large for an exact integer')}
    WHEN x IS NOT NULL THEN ${by.toText(`CAST(least(greatest(${made}, -${bound}), ${bound}) AS BIGINT)`)} END`;
}

const escapedMarkup = (x: string): string =>
  [
    ['&', '&amp;'],
    ['<', '&lt;'],
    ['>', '&gt;'],
    ['"', '&quot;'],
  ].reduce((sql, [from, to]) => `replace(${sql}, '${from}', '${to}')`, x);

export type FunctionName = keyof typeof DEFINITIONS;

/** The functions that a job defines, beside those that every job has. */
export class Definitions implements Definer {
  readonly #used = new Set<FunctionName>();

  /** A call of a function. */
  call(name: FunctionName, ...to: readonly Sql[]): Sql {
    this.#add(name);
    return { kind: 'apply', name, to };
  }

  /** What is called by others comes before them. */
  #add(name: FunctionName): void {
    if (this.#used.has(name)) return;
    for (const other of (DEFINITIONS[name] as Definition).uses ?? []) this.#add(other);
    this.#used.add(name);
  }

  statements(by: Words): readonly string[] {
    return [...this.#used].map((name) => {
      const { takes, body, gives } = DEFINITIONS[name] as Definition;
      return by.defineOnce(name, takes, body(by), gives);
    });
  }
}
