/** SQL texts of strangers, as far as they must be looked at before the server sees them: everything else is the server's to judge. */

/** A quoted text or name, a comment's beginning, white space, a semicolon, or anything else. */
const TOKEN =
  /(?<text>\b[eE]'(?:[^'\\]|\\.|'')*'|'[^']*'|"[^"]*"|(?<![\w$\u0080-\uffff])\$(?<tag>(?:[A-Za-z_\u0080-\uffff][\w\u0080-\uffff]*)?)\$[^]*?\$\k<tag>\$)|(?<space>--[^\n]*|\s+)|(?<comment>\/\*)|(?<end>;)|[^]/gs;

/** Without the semicolons at its end and what stands behind them. */
export function withoutSemicolon(sql: string): string {
  const token = new RegExp(TOKEN);
  /** Where the semicolons that end the text begin; undefined: something stands behind them. */
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
