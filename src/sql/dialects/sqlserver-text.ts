/** Looks at the text of a query in Transact-SQL: whether it can be anything else than one query is decided here, before the server sees it. */

/**
 * A comment or white space, a quoted text or name, a word or variable, or one character. Comments nest, so their end is searched for by `commentEnd`.
 *
 * @see https://learn.microsoft.com/en-us/sql/t-sql/language-elements/slash-star-comment-transact-sql
 */
const TOKEN =
  /(?<space>\s+|--[^\n]*)|(?<comment>\/\*)|(?<quoted>'(?:[^']|'')*'|"(?:[^"]|"")*"|\[(?:[^\]]|\]\])*\])|(?<word>[\w@#$\u0080-\uffff]+)|(?<open>['"[])|[^]/y;

export interface Outline {
  /** Without trailing semicolons and comments. */
  readonly text: string;
  /** What is wrong with its quotes, comments and parentheses; undefined: nothing. */
  readonly broken: string | undefined;
  /** It begins with WITH. */
  readonly withClause: boolean;
  /** Where the query proper begins: behind the common table expressions. */
  readonly body: number;
  /** It has an ORDER BY outside of parentheses and windows. */
  readonly orders: boolean;
  /** The order is one of OFFSET, or the query has TOP or FOR XML, so that it may stand in parentheses. */
  readonly offset: boolean;
  /** Where its OPTION (…) begins, which is its end; undefined: it has none. */
  readonly hints: number | undefined;
}

export function outlineOf(sql: string): Outline {
  /** Words and parentheses outside of parentheses, with their place. */
  const top: { readonly word: string; readonly at: number }[] = [];
  let depth = 0;
  let end = 0;
  let broken: string | undefined;
  let semicolon = false;
  for (TOKEN.lastIndex = 0; TOKEN.lastIndex < sql.length; ) {
    const at = TOKEN.lastIndex;
    const { 0: token, groups = {} } = TOKEN.exec(sql) as RegExpExecArray;
    if (groups.space !== undefined) continue;
    if (groups.comment !== undefined) {
      const last = commentEnd(sql, at);
      if (last === undefined) broken ??= 'a comment that does not end';
      TOKEN.lastIndex = last ?? sql.length;
      continue;
    }
    if (token === ';') {
      semicolon = true;
      continue;
    }
    if (semicolon) broken ??= 'something behind a semicolon';
    if (groups.open !== undefined) broken ??= `a ${token} that is not closed`;
    if (token === ')' && --depth < 0) {
      broken ??= 'a ) without its (';
      depth = 0;
    }
    if (depth === 0) top.push({ word: groups.word?.toUpperCase() ?? (groups.quoted === undefined ? token : '""'), at });
    if (token === '(') depth++;
    end = TOKEN.lastIndex;
  }
  if (depth > 0) broken ??= 'a ( that is not closed';
  const words = top.map(({ word }) => word);
  const has = (first: string, second?: string): boolean =>
    words.some((word, i) => word === first && (second === undefined || words[i + 1] === second));
  const withClause = words[0] === 'WITH';
  const select = withClause ? top.find(({ word }) => word === 'SELECT') : top[0];
  return {
    text: sql.slice(0, end),
    broken:
      broken ?? (withClause && !isCommonTables(words.slice(0, words.indexOf('SELECT'))) ? 'a WITH that no SELECT follows' : undefined),
    withClause,
    body: select?.at ?? 0,
    orders: has('ORDER', 'BY'),
    offset: has('OFFSET') || has('TOP') || has('FOR', 'XML') || has('FOR', 'JSON'),
    hints: words.slice(-3).join(' ') === 'OPTION ( )' ? top.at(-3)?.at : undefined,
  };
}

/** `WITH name (columns) AS (query), …`: without the contents of parentheses. */
const isCommonTables = (words: readonly string[]): boolean =>
  /^WITH(?: (?!AS )[^\s(),]+(?: \( \))? AS \( \)(?: ,(?= )|$))+$/.test(words.join(' '));

/**
 * The query within parentheses, with names for its columns. Its own parentheses are closed and nothing stands behind a semicolon, so whatever it is stands
 * between these parentheses, and the server takes nothing there but one query: no INTO, no EXEC, no second statement.
 */
export function enclosed({ text, body, hints, orders, offset }: Outline, columns: number): string {
  const names = Array.from({ length: columns }, (_, i) => `c${i + 1}`);
  const order = orders && !offset ? '\nOFFSET 0 ROWS' : '';
  return `${text.slice(0, body)}SELECT * FROM (${text.slice(body, hints)}${order}\n) AS q (${names.join(', ')})`;
}

/** The end of a comment with the comments within it; undefined: it has none. */
function commentEnd(sql: string, from: number): number | undefined {
  let depth = 0;
  const mark = /\/\*|\*\//g;
  mark.lastIndex = from;
  for (let found = mark.exec(sql); found !== null; found = mark.exec(sql)) {
    depth += found[0] === '/*' ? 1 : -1;
    if (depth === 0) return mark.lastIndex;
  }
  return undefined;
}
