/** Finds where a text stops being JSON, since the engine's own message does not always say. */

export interface JsonError {
  /** 1-based. */
  readonly line: number;
  /** 1-based, in characters. */
  readonly column: number;
  readonly expected: string;
}

const SPACE = /[ \t\n\r]*/y;
const STRING = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y;
const SCALAR = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y;

/** The first place at which `text` is not JSON (RFC 8259), or undefined when it is JSON. */
export function findJsonError(text: string): JsonError | undefined {
  let at = 0;
  const take = (token: RegExp): boolean => {
    token.lastIndex = at;
    const found = token.test(text);
    if (found) at = token.lastIndex;
    return found;
  };
  const error = (expected: string): JsonError => {
    const before = text.slice(0, at);
    const lineStart = before.lastIndexOf('\n') + 1;
    return { line: before.split('\n').length, column: [...text.slice(lineStart, at)].length + 1, expected };
  };

  /** Closing brackets of the open objects and arrays, innermost last. */
  const open: ('}' | ']')[] = [];
  let wants: 'value' | 'key' | 'value or ]' | 'key or }' | 'separator' = 'value';
  for (;;) {
    take(SPACE);
    const next = text[at];
    const closing = open[open.length - 1];
    if (wants === 'separator' && closing === undefined) return next === undefined ? undefined : error('the end of the text');
    if (next !== undefined && next === closing && (wants === 'separator' || wants === 'value or ]' || wants === 'key or }')) {
      open.pop();
      at++;
      wants = 'separator';
    } else if (wants === 'separator') {
      if (next !== ',') return error(`',' or '${closing}'`);
      at++;
      wants = closing === '}' ? 'key' : 'value';
    } else if (wants === 'key' || wants === 'key or }') {
      if (next !== '"') return error(wants === 'key' ? 'a name in double quotes' : "a name in double quotes or '}'");
      if (!take(STRING)) return error('a string that is well-formed and ends');
      take(SPACE);
      if (text[at] !== ':') return error("':'");
      at++;
      wants = 'value';
    } else if (next === '{' || next === '[') {
      open.push(next === '{' ? '}' : ']');
      at++;
      wants = next === '{' ? 'key or }' : 'value or ]';
    } else if (next === '"') {
      if (!take(STRING)) return error('a string that is well-formed and ends');
      wants = 'separator';
    } else if (take(SCALAR)) wants = 'separator';
    else return error(wants === 'value' ? 'a value' : "a value or ']'");
  }
}
