/** Looks at the text of a query before the server sees it: Oracle runs some statements when it parses them. */

/** A comment or white space, a quoted text (also with other delimiters, `q'[…]'`) or name, a word, or one character. */
const TOKEN =
  /(?<space>\s+|--[^\n]*|\/\*[^]*?\*\/)|n?q'(?:\[[^]*?\]|\{[^]*?\}|\([^]*?\)|<[^]*?>|([^\s[{(<])[^]*?\2)'|'(?:[^']|'')*'|"[^"]*"|(?<word>[\w$#\u0080-\uffff]+)|[^]/gi;

export interface Outline {
  /** Without a trailing semicolon, and what follows it. */
  readonly text: string;
  /** It begins as a query, and defines no functions. */
  readonly isQuery: boolean;
}

export function outlineOf(sql: string): Outline {
  const words: string[] = [];
  let end: number | undefined;
  let several = false;
  for (const { 0: token, index, groups } of sql.matchAll(TOKEN)) {
    if (groups?.space !== undefined) continue;
    if (token === ';') end ??= index;
    else {
      several ||= end !== undefined;
      words.push(groups?.word?.toUpperCase() ?? token);
    }
  }
  const [first = '', second = ''] = words.filter((word) => word !== '(');
  const isQuery = /^(?:SELECT|WITH)$/.test(first) && !(first === 'WITH' && /^(?:FUNCTION|PROCEDURE)$/.test(second)) && !several;
  return { text: sql.slice(0, end), isQuery };
}
