/** Checks the text of an SQL query: one SELECT, as the products read it, without the trailing semicolon. */

export type ReadQuery =
  | { readonly kind: 'query'; readonly sql: string }
  /** `found` describes the text if it is not one SELECT. */
  | { readonly kind: 'fault'; readonly found: string; readonly hint: string | undefined };

/**
 * Tokens of each product. The first group is white space or a comment, the second a semicolon; what no alternative matches is an
 * unterminated quote. The products differ in escapes within quotes, in their own kinds of quotes, and in comments.
 */
const PRODUCTS = {
  postgresql:
    /(\s+|--.*|\/\*[\s\S]*?\*\/)|(;)|[eE]'(?:[^'\\]|\\[\s\S]|'')*'|'(?:[^']|'')*'|"(?:[^"]|"")*"|\$((?:[^\W\d]\w*)?)\$[\s\S]*?\$\3\$|[\w$]+|[^'"]/y,
  mysql:
    /(\s+|--(?=\s|$).*|#.*|\/\*(?![!+])[\s\S]*?\*\/)|(;)|'(?:[^'\\]|\\[\s\S]|'')*'|"(?:[^"\\]|\\[\s\S]|"")*"|`(?:[^`]|``)*`|[\w$]+|[^'"`]/y,
  // These are asked only whether a semicolon stands in a `[name]` or in Oracle's `q'[…]'`. DuckDB's quotes are among those of PostgreSQL.
  sqlite: /(\s+|--.*|\/\*[\s\S]*?\*\/)|(;)|'(?:[^']|'')*'|"(?:[^"]|"")*"|`(?:[^`]|``)*`|\[[^\]]*\]|[\w$]+|[^'"`[]/y,
  sqlserver: /(\s+|--.*|\/\*[\s\S]*?\*\/)|(;)|'(?:[^']|'')*'|"(?:[^"]|"")*"|\[(?:[^\]]|\]\])*\]|[\w@#$]+|[^'"[]/y,
  oracle:
    /(\s+|--.*|\/\*[\s\S]*?\*\/)|(;)|[nN]?[qQ]'(?:\[[\s\S]*?\]|\{[\s\S]*?\}|\([\s\S]*?\)|<[\s\S]*?>|([^\s[{(<])[\s\S]*?\3)'|'(?:[^']|'')*'|"[^"]*"|[\w$#]+|[^'"]/y,
} as const;

interface Outline {
  /** Start of the first token that is not a comment; the text's length if there is none. */
  readonly start: number;
  /** End of the last such token. */
  readonly end: number;
  /** Whether there is a semicolon between the two. */
  readonly several: boolean;
}

/** Keywords that begin a query with a result set. */
const SELECT = /(?:select|with|values|table)\b|\(/iy;

/** A text is rejected only if all products that can tokenise it agree; otherwise it goes to the database unchanged. */
export function readQuery(text: string): ReadQuery {
  const [outline, ...others] = [outlineOf(text, PRODUCTS.postgresql), outlineOf(text, PRODUCTS.mysql)].filter((read) => read !== undefined);
  const agree = others.every(({ start, end, several }) => start === outline?.start && end === outline.end && several === outline.several);
  if (outline === undefined || !agree) return { kind: 'query', sql: text.trim() };
  const { start, end } = outline;
  const isOne = [PRODUCTS.sqlite, PRODUCTS.sqlserver, PRODUCTS.oracle].some((tokens) => outlineOf(text, tokens)?.several === false);
  const several = outline.several && !isOne;
  if (start === end) return { kind: 'fault', found: text.trim() === '' ? 'an empty text' : 'nothing but comments', hint: undefined };
  if (several) return { kind: 'fault', found: 'several statements', hint: 'write one query for each logical source, without ; between' };
  SELECT.lastIndex = start;
  if (!SELECT.test(text)) {
    const found = text.slice(start, end).replace(/\s+/g, ' ');
    const excerpt = JSON.stringify(found.length > 40 ? `${found.slice(0, 40)}…` : found);
    return { kind: 'fault', found: excerpt, hint: 'a query only reads; a whole table is named with rml:SQL2008Table or rr:tableName' };
  }
  return { kind: 'query', sql: text.slice(0, end).trimStart() };
}

/** undefined: the product cannot tokenise the text. */
function outlineOf(text: string, tokens: RegExp): Outline | undefined {
  let start = -1;
  let end = text.length;
  let ended = false;
  let several = false;
  tokens.lastIndex = 0;
  while (tokens.lastIndex < text.length) {
    const at = tokens.lastIndex;
    const token = tokens.exec(text);
    if (token === null) return undefined;
    if (token[1] !== undefined) continue;
    if (token[2] !== undefined) {
      ended = start >= 0;
      continue;
    }
    if (start < 0) start = at;
    several ||= ended;
    end = tokens.lastIndex;
  }
  return start < 0 ? { start: text.length, end: text.length, several } : { start, end, several };
}
