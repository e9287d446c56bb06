/** The names that occur twice in an object of a JSON text: `JSON.parse` keeps the last value and says nothing. */
export function repeatedKeys(json: string): readonly string[] {
  const repeated: string[] = [];
  /** By open bracket: the names so far of an object, undefined for an array. */
  const open: (Set<string> | undefined)[] = [];
  const token = /"(?:[^"\\]|\\.)*"|[{}[\]:,]|[^\s"{}[\]:,]+/gs;
  for (let found = token.exec(json); found !== null; found = token.exec(json)) {
    const [text] = found;
    if (text === '{') open.push(new Set());
    else if (text === '[') open.push(undefined);
    else if (text === '}' || text === ']') open.pop();
    else if (text.startsWith('"') && /^\s*:/.test(json.slice(token.lastIndex, token.lastIndex + 8))) {
      const name = JSON.parse(text) as string;
      const names = open.at(-1);
      if (names === undefined) throw new Error(`the name ${text} stands outside of an object`);
      if (names.has(name)) repeated.push(name);
      names.add(name);
    }
  }
  return repeated;
}
