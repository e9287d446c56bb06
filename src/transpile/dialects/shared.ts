/** Functions of SQL that both dialects define alike: their bodies, over what the dialects spell differently. */
import { XSD } from '../../core/value.ts';
import {
  EXACT_DIGITS,
  type Form,
  literalColumn,
  NUMBER,
  RECORD,
  type Readable,
  ROW,
  SAFE_EXPONENT,
  textColumn,
  UCSCHAR,
  UNRESERVED,
  valueColumn,
} from './dialect.ts';
import type { Words } from './words.ts';

/** Texts in the place of others, one after the other; most values have none of them. */
function replaced(by: Words, pattern: string, pairs: readonly (readonly [string, string])[]): string {
  const made = pairs.reduce((sql, [from, to]) => `replace(${sql}, ${by.text(from)}, ${by.text(to)})`, 'x');
  return `CASE WHEN ${by.matches('x', pattern)} THEN ${made} ELSE x END`;
}

/** What terms need: `TextFunction`, and numbers of JSON. */
export function termFunctions(by: Words): readonly string[] {
  const percent = by.replacePattern(by.hex('c'), '(..)', '%$1');
  const group = (at: number): string => by.extract('x', NUMBER, at);
  const exponent = by.extract('x', NUMBER, 4);
  return [
    by.define('iri_part', ['x'], by.eachOther('x', UNRESERVED + UCSCHAR, percent)),
    by.define('uri_part', ['x'], by.eachOther('x', UNRESERVED, percent)),
    by.define('iri_to_uri', ['x'], by.eachOther('x', '\\x00-\\x7F', percent)),
    by.define('label', ['x'], by.eachOther('x', 'A-Za-z0-9', `lower(${by.replacePattern(by.hex('c'), '(..)', '_$1')})`)),
    by.define(
      'unsafe_iri',
      ['x'],
      replaced(by, '[<>"\\\\\\n\\r]', [
        ['\\', '\\u005C'],
        ['<', '\\u003C'],
        ['>', '\\u003E'],
        ['"', '\\u0022'],
        ['\n', '\\u000A'],
        ['\r', '\\u000D'],
      ]),
    ),
    by.define(
      'literal',
      ['x'],
      replaced(by, '["\\\\\\n\\r]', [
        ['\\', '\\\\'],
        ['"', '\\"'],
        ['\n', '\\n'],
        ['\r', '\\r'],
      ]),
    ),
    by.define('digits', ['x'], by.trim(`${group(2)} || ${group(3)}`, '0')),
    by.define(
      'exponent',
      ['x'],
      `coalesce(CAST(nullif(${exponent}, '') AS INT), 0) + length(${group(2)}) - 1
    - (length(${group(2)} || ${group(3)}) - length(${by.trimStart(`${group(2)} || ${group(3)}`, '0')}))`,
      'int',
    ),
    by.define(
      'double_of',
      ['s', 'd', 'e INT'],
      `CASE WHEN d = '' THEN s || '0.0E0' ELSE s || left(d, 1) || '.' || CASE WHEN length(d) = 1 THEN '0' ELSE substring(d, 2) END || 'E' || ${by.toText('e')} END`,
    ),
    by.define('plain_double', ['x'], `quadmill_double_of(${group(1)}, quadmill_digits(x), quadmill_exponent(x))`),
    by.define(
      'double',
      ['x'],
      `CASE WHEN quadmill_digits(x) = '' THEN quadmill_plain_double(x)
    WHEN abs(quadmill_exponent(x)) > ${SAFE_EXPONENT} THEN ${by.fail(`'quadmill: record/term: a number is too large or too small: ' || x`)}
    WHEN length(quadmill_digits(x)) <= ${EXACT_DIGITS} THEN quadmill_plain_double(x)
    ELSE ${by.shortestDouble('x')} END`,
    ),
    by.define(
      'json_canonical',
      ['x'],
      `CASE WHEN x IN ('true', 'false') THEN x WHEN ${by.matches('x', '[.eE]')} THEN quadmill_double(x) WHEN x = '-0' THEN '0' ELSE x END`,
    ),
    by.define(
      'json_word',
      ['x'],
      `'"' || quadmill_json_canonical(x) || CASE WHEN x IN ('true', 'false') THEN '"^^<${XSD}boolean>'
    WHEN ${by.matches('x', '[.eE]')} THEN '"^^<${XSD}double>' ELSE '"^^<${XSD}integer>' END`,
    ),
  ];
}

/** A member of JSON as a text: `json_value` in canonical form, `json_literal` as a literal. @param isWord whether `x` is a number, true or false */
export const jsonFunctions = (by: Words, word: string, isWord: string): readonly string[] => [
  by.define('json_value', ['x'], `CASE WHEN ${isWord} THEN quadmill_json_canonical(${word}) ELSE quadmill_json_text(x) END`),
  by.define(
    'json_literal',
    ['x'],
    `CASE WHEN ${isWord} THEN quadmill_json_word(${word}) ELSE '"' || quadmill_literal(quadmill_json_text(x)) || '"' END`,
  ),
];

const COLUMNS: Readonly<Record<Form, (at: number) => string>> = { text: textColumn, value: valueColumn, literal: literalColumn };

/** The columns of a reference with one value. @param prefix what their names begin with */
export const jsonColumns = (value: string, forms: ReadonlySet<Form>, at: number, prefix: string): readonly string[] =>
  [...forms].map((form) => `quadmill_json_${form}(${value}) AS ${prefix}${COLUMNS[form](at)}`);

/**
 * The query of records, with the column `ROW` if the view has it: a hash of the record, or of the columns of CSV that are read, and a number among the
 * records with an equal one. Records with an equal hash are interchangeable, so it does not matter which of them has which number.
 */
export function withRowNames(by: Words, rows: string, { areNamed, ...source }: Readable): string {
  if (!areNamed) return rows;
  const part = (name: string): string => `coalesce(${by.toText(`length(${name})`)} || ':' || ${name}, '-')`;
  const content = source.kind === 'json' ? by.toText(RECORD) : ["''", ...source.columns.map((_, at) => part(textColumn(at)))].join(' || ');
  const number = by.toText('row_number() OVER (PARTITION BY row_hash ORDER BY row_hash)');
  return `SELECT *, row_hash || '_' || ${number} AS ${ROW} FROM (SELECT *, ${by.sha256(content)} AS row_hash FROM (${rows}))`;
}
