/** Checks of untrusted SQL texts before the server sees them; everything else is left to the server. */

/**
 * A quoted text or name, a comment, white space, a word, or one character. Comments that MySQL executes (`/*!`, `/*M!`) are not comments
 * here.
 */
const tokensOf = (backslashes: boolean): RegExp => {
  const quoted = (mark: string): string => (backslashes ? `${mark}(?:[^${mark}\\\\]|\\\\.)*${mark}?` : `${mark}[^${mark}]*${mark}?`);
  const comment = '--(?=[\\s\\x00-\\x1f]|$)[^\\n]*|#[^\\n]*|/\\*(?!M?!)[^]*?(?:\\*/|$)|/\\*M?!\\d*|\\*/';
  return new RegExp(
    `(?<text>${quoted("'")}|${quoted('"')}|\`[^\`]*\`?)|(?<space>${comment}|\\s+)|(?<word>[\\w$\\u0080-\\uffff]+)|[^]`,
    'gs',
  );
};

export interface Looked {
  /** Without trailing semicolons and what follows them. */
  readonly text: string;
  /** `FOR UPDATE` and the like. */
  readonly locks: boolean;
}

/** @param backslashes whether a backslash is an escape within quotes, according to the session's sql_mode */
export function lookAt(sql: string, backslashes: boolean): Looked {
  const words: string[] = [];
  /** Start of the trailing semicolons; undefined: something follows them. */
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
