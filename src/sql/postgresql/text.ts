/** Checks of untrusted SQL texts before the server sees them; everything else is left to the server. */

/** A quoted text or name, the beginning of a comment, white space, a semicolon, or anything else. */
const TOKEN =
  /(?<text>\b[eE]'(?:[^'\\]|\\.|'')*'|'[^']*'|"[^"]*"|(?<![\w$\u0080-\uffff])\$(?<tag>(?:[A-Za-z_\u0080-\uffff][\w\u0080-\uffff]*)?)\$[^]*?\$\k<tag>\$)|(?<space>--[^\n]*|\s+)|(?<comment>\/\*)|(?<end>;)|[^]/gs;

/** Without trailing semicolons and what follows them. */
export function withoutSemicolon(sql: string): string {
  const token = new RegExp(TOKEN);
  /** Start of the trailing semicolons; undefined: something follows them. */
  let end: number | undefined;
  for (let found = token.exec(sql); found !== null; found = token.exec(sql)) {
    const { space, comment, end: semicolon } = found.groups as Record<string, string | undefined>;
    if (space !== undefined) continue;
    if (comment !== undefined) token.lastIndex = endOfComment(sql, found.index);
    else if (semicolon !== undefined) end ??= found.index;
    else end = undefined;
  }
  return sql.slice(0, end);
}

/** Comments nest. */
function endOfComment(sql: string, start: number): number {
  const mark = /\/\*|\*\//g;
  mark.lastIndex = start;
  let depth = 0;
  for (let found = mark.exec(sql); found !== null; found = mark.exec(sql)) {
    depth += found[0] === '/*' ? 1 : -1;
    if (depth === 0) return mark.lastIndex;
  }
  return sql.length;
}
