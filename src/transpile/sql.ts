/** SQL expressions as data: what both dialects print. Each is a text or null; null is no value. */

export type Sql =
  | { readonly kind: 'column'; readonly name: string }
  | { readonly kind: 'text'; readonly text: string }
  /** Null if one of the parts is. */
  | { readonly kind: 'concat'; readonly parts: readonly Sql[] }
  /** A function that the job defines. */
  | { readonly kind: 'apply'; readonly name: string; readonly to: readonly Sql[] }
  /** A function of both engines: the first that is not null; all that are not null, with the first between them. */
  | { readonly kind: 'native'; readonly name: 'coalesce' | 'concat_ws'; readonly to: readonly Sql[] }
  /** The first branch that holds; null if none does and there is no `otherwise`. */
  | { readonly kind: 'case'; readonly branches: readonly Branch[]; readonly otherwise: Sql | undefined }
  /** Every match replaced. @param replacement `$1` for the first group */
  | { readonly kind: 'replaced'; readonly value: Sql; readonly pattern: string; readonly replacement: string }
  /** A group of the first match; an empty text if there is none. */
  | { readonly kind: 'extracted'; readonly value: Sql; readonly pattern: string; readonly group: number }
  /** Ends the job. */
  | { readonly kind: 'fail'; readonly message: Sql }
  /** SQL of one dialect. */
  | { readonly kind: 'raw'; readonly sql: string };

export interface Branch {
  readonly when: Condition;
  readonly then: Sql;
}

/** Never null, except over null values. */
export type Condition =
  /** Some part of the value matches. The pattern means the same in RE2 and in Java: no look-around, no `$`. */
  | { readonly kind: 'matches'; readonly value: Sql; readonly pattern: string }
  | { readonly kind: 'is-null'; readonly value: Sql }
  /** Of a column with an array; none in the place of an array is none. */
  | { readonly kind: 'has-value'; readonly array: string }
  | { readonly kind: 'is-one-of'; readonly value: Sql; readonly texts: readonly string[] }
  /** Null beside a null. */
  | { readonly kind: 'are-equal'; readonly left: Sql; readonly right: Sql }
  | { readonly kind: 'not'; readonly condition: Condition }
  | { readonly kind: 'any'; readonly conditions: readonly Condition[] };

/** Functions of text that every job defines before its queries: `quadmill_iri_part`, … See `src/core/text.ts` for what each writes. Null for null. */
export type TextFunction = 'iri_part' | 'uri_part' | 'iri_to_uri' | 'unsafe_iri' | 'literal' | 'label';

export const text = (value: string): Sql => ({ kind: 'text', text: value });
export const column = (name: string): Sql => ({ kind: 'column', name });
export const raw = (sql: string): Sql => ({ kind: 'raw', sql });
export const NULL: Sql = raw('NULL');
export const apply = (name: TextFunction, to: Sql): Sql => ({ kind: 'apply', name, to: [to] });
export const matches = (value: Sql, pattern: string): Condition => ({ kind: 'matches', value, pattern });
export const not = (condition: Condition): Condition => ({ kind: 'not', condition });
export const isNull = (value: Sql): Condition => ({ kind: 'is-null', value });
export const isOneOf = (value: Sql, texts: readonly string[]): Condition => ({ kind: 'is-one-of', value, texts });
export const any = (...conditions: readonly Condition[]): Condition => ({ kind: 'any', conditions });
export const every = (...conditions: readonly Condition[]): Condition => not(any(...conditions.map(not)));
export const areEqual = (left: Sql, right: Sql): Condition => ({ kind: 'are-equal', left, right });

/** Texts beside each other are one, and concatenations within are flat. */
export function concat(...parts: readonly Sql[]): Sql {
  const flat: Sql[] = [];
  for (const part of parts.flatMap((one) => (one.kind === 'concat' ? one.parts : [one]))) {
    const last = flat.at(-1);
    if (part.kind === 'text' && last?.kind === 'text') flat[flat.length - 1] = text(last.text + part.text);
    else if (part.kind !== 'text' || part.text !== '') flat.push(part);
  }
  const [only] = flat;
  if (only === undefined) return text('');
  return flat.length === 1 ? only : { kind: 'concat', parts: flat };
}

export const when = (condition: Condition, then: Sql, otherwise?: Sql): Sql => ({
  kind: 'case',
  branches: [{ when: condition, then }],
  otherwise,
});

/** Ends the job where a value does not hold; a null stays null, since it fulfils no condition. */
export const failWhen = (condition: Condition, message: string, value: Sql, otherwise: Sql): Sql =>
  when(condition, { kind: 'fail', message: concat(text(`${message}: `), value) }, otherwise);

/** How a dialect writes what the two write differently. */
export interface Spelling {
  text(value: string): string;
  identifier(name: string): string;
  matches(value: string, pattern: string): string;
  fail(message: string): string;
  /** A group of the first match; an empty text if there is none. */
  extract(value: string, pattern: string, group: number): string;
  /** Every match is replaced. @param replacement `$1` for the first group */
  replacePattern(value: string, pattern: string, replacement: string): string;
  /** Whether an array has a value. */
  hasValue(array: string): string;
}

export function printSql(sql: Sql, by: Spelling): string {
  switch (sql.kind) {
    case 'column':
      return by.identifier(sql.name);
    case 'text':
      return by.text(sql.text);
    case 'concat':
      return `(${sql.parts.map((part) => printSql(part, by)).join(' || ')})`;
    case 'apply':
      return `quadmill_${sql.name}(${sql.to.map((one) => printSql(one, by)).join(', ')})`;
    case 'native':
      return `${sql.name}(${sql.to.map((one) => printSql(one, by)).join(', ')})`;
    case 'case': {
      const branches = sql.branches.map(({ when: condition, then }) => ` WHEN ${printCondition(condition, by)} THEN ${printSql(then, by)}`);
      return `CASE${branches.join('')}${sql.otherwise === undefined ? '' : ` ELSE ${printSql(sql.otherwise, by)}`} END`;
    }
    case 'replaced':
      return by.replacePattern(printSql(sql.value, by), sql.pattern, sql.replacement);
    case 'extracted':
      return by.extract(printSql(sql.value, by), sql.pattern, sql.group);
    case 'fail':
      return by.fail(printSql(sql.message, by));
    case 'raw':
      return sql.sql;
  }
}

export function printCondition(condition: Condition, by: Spelling): string {
  switch (condition.kind) {
    case 'matches':
      return by.matches(printSql(condition.value, by), condition.pattern);
    case 'is-null':
      return `${printSql(condition.value, by)} IS NULL`;
    case 'has-value':
      return by.hasValue(condition.array);
    case 'is-one-of':
      return `${printSql(condition.value, by)} IN (${condition.texts.map((one) => by.text(one)).join(', ')})`;
    case 'are-equal':
      return `${printSql(condition.left, by)} = ${printSql(condition.right, by)}`;
    case 'not':
      return `NOT (${printCondition(condition.condition, by)})`;
    case 'any':
      return `(${condition.conditions.map((one) => printCondition(one, by)).join(' OR ')})`;
  }
}

/** A balanced tree: engines go through a chain by recursion, and a mapping may have thousands of triples maps. */
export function unionOf(queries: readonly string[]): string {
  const [first = ''] = queries;
  if (queries.length < 2) return `(${first})`;
  const half = Math.ceil(queries.length / 2);
  const sides = [queries.slice(0, half), queries.slice(half)].map((side) => (side.length === 1 ? unionOf(side) : `(${unionOf(side)})`));
  return sides.join('\nUNION ALL\n');
}
