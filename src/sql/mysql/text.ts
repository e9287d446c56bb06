/** SQL texts of strangers, as far as they must be looked at before the server sees them: everything else is the server's to judge. */

/** A quoted text or name, a comment, white space, a word, or one character. Comments that MySQL runs (`/*!`, `/*M!`) are none. */
const tokensOf = (backslashes: boolean): RegExp => {
  const quoted = (mark: string): string => (backslashes ? `${mark}(?:[^${mark}\\\\]|\\\\.)*${mark}?` : `${mark}[^${mark}]*${mark}?`);
  const comment = '--(?=[\\s\\x00-\\x1f]|$)[^\\n]*|#[^\\n]*|/\\*(?!M?!)[^]*?(?:\\*/|$)|/\\*M?!\\d*|\\*/';
  return new RegExp(
    `(?<text>${quoted("'")}|${quoted('"')}|\`[^\`]*\`?)|(?<space>${comment}|\\s+)|(?<word>[\\w$\\u0080-\\uffff]+)|[^]`,
    'gs',
  );
};

export interface Looked {
  /** Without the semicolons at its end and what stands behind them. */
  readonly text: string;
  /** `FOR UPDATE` and its like. */
  readonly locks: boolean;
}

/** @param backslashes whether a backslash is an escape between quotes, which the session's sql_mode says */
export function lookAt(sql: string, backslashes: boolean): Looked {
  const words: string[] = [];
  /** Where the semicolons that end the text begin; undefined: something stands behind them. */
  let end: number | undefined;
  for (const { 0: token, index, groups } of sql.matchAll(tokensOf(backslashes))) {
    if (groups?.space !== undefined) continue;
    if (token === ';') end ??= index;
    else {
      end = undefined;
      words.push(groups?.word?.toUpperCase() ?? ',');
    }
  }
  return { text: sql.slice(0, end), locks: /\bFOR (?:UPDATE|SHARE)\b|\bLOCK IN SHARE MODE\b/.test(words.join(' ')) };
}
