/** Facts about a SPARQL request that need no parser. */

const PROLOGUE = /^\s*(?:BASE|PREFIX\s+[^\s:]*:|VERSION)\s+/i;
/** Depends on time, on chance, or on the order of solutions, which no store promises. */
const NONDETERMINISTIC =
  /(?<![:?$])\b(?:NOW|RAND|UUID|STRUUID|SAMPLE|GROUP_CONCAT|SUM|AVG|MIN|MAX)\s*\(|(?<![:?$])\b(?:LIMIT|OFFSET)\s+\d|\\u/i;
/** LIMIT over solutions that are all equal: it asks only whether there are any. */
const EXISTENCE = /SELECT\s*\(\s*\d+\s+AS\s+\?\w+\s*\)\s*WHERE\s*(\{(?:[^{}]|\{[^{}]*\})*\})\s*LIMIT\s+\d+/gi;

export type QueryForm = 'SELECT' | 'ASK' | 'CONSTRUCT' | 'DESCRIBE';

/** The first keyword after the prologue; undefined: not one of a query. */
export function queryForm(query: string): QueryForm | undefined {
  let rest = keywords(query);
  for (let found = PROLOGUE.exec(rest); found !== null; found = PROLOGUE.exec(rest)) rest = rest.slice(found[0].length);
  return /^\s*(SELECT|ASK|CONSTRUCT|DESCRIBE)\b/i.exec(rest)?.[1]?.toUpperCase() as QueryForm | undefined;
}

/** Whether replaying an update on the same data is certain to give the same data (up to labels of blank nodes). */
export const isRepeatable = (update: string): boolean =>
  !NONDETERMINISTIC.test(update) || !NONDETERMINISTIC.test(keywords(update).replace(EXISTENCE, '$1'));

/** The keywords of a text: comments, strings and IRIs are removed. A loop, since texts may have many megabytes. */
function keywords(text: string): string {
  const parts: string[] = [];
  const begin = /[#"'<]/g;
  let from = 0;
  for (let found = begin.exec(text); found !== null; found = begin.exec(text)) {
    const end = endOf(text, found.index);
    if (end === undefined) continue;
    parts.push(text.slice(from, found.index));
    from = end;
    begin.lastIndex = end;
  }
  parts.push(text.slice(from));
  return parts.join(' ');
}

/** Where the comment, string or IRI that begins at `at` ends; undefined: a `<` that compares. */
function endOf(text: string, at: number): number | undefined {
  const first = text[at] as string;
  if (first === '#') return searchFrom(/[\n\r]/g, text, at)?.index ?? text.length;
  if (first === '<') return searchFrom(/<[^<>"{}|^`\\\s]*>/y, text, at)?.end;
  const mark = text.startsWith(first.repeat(3), at) ? first.repeat(3) : first;
  for (let from = at + mark.length; ; ) {
    const end = text.indexOf(mark, from);
    if (end < 0) return text.length;
    let escapes = 0;
    while (end - escapes > from && text[end - escapes - 1] === '\\') escapes++;
    if (escapes % 2 === 0) return end + mark.length;
    from = end + 1;
  }
}

function searchFrom(pattern: RegExp, text: string, at: number): { readonly index: number; readonly end: number } | undefined {
  pattern.lastIndex = at;
  const found = pattern.exec(text);
  return found === null ? undefined : { index: found.index, end: found.index + found[0].length };
}
