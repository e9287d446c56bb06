/** What can be told of a SPARQL request without understanding it. */

const PROLOGUE = /^\s*(?:BASE|PREFIX\s+[^\s:]*:|VERSION)\s+/i;
/** Of time, of chance, or dependent on the order in which solutions come, which no store promises. */
const FLEETING = /(?<![:?$])\b(?:NOW|RAND|UUID|STRUUID|SAMPLE|GROUP_CONCAT|SUM|AVG|MIN|MAX)\s*\(|(?<![:?$])\b(?:LIMIT|OFFSET)\s+\d|\\u/i;
/** A choice among solutions that are all the same: whether there are any. */
const SAME_CHOICE = /SELECT\s*\(\s*\d+\s+AS\s+\?\w+\s*\)\s*WHERE\s*(\{(?:[^{}]|\{[^{}]*\})*\})\s*LIMIT\s+\d+/gi;

export type QueryForm = 'SELECT' | 'ASK' | 'CONSTRUCT' | 'DESCRIBE';

/** The first word behind the prologue; undefined: it is not that of a query. */
export function queryForm(query: string): QueryForm | undefined {
  let rest = words(query);
  for (let found = PROLOGUE.exec(rest); found !== null; found = PROLOGUE.exec(rest)) rest = rest.slice(found[0].length);
  return /^\s*(SELECT|ASK|CONSTRUCT|DESCRIBE)\b/i.exec(rest)?.[1]?.toUpperCase() as QueryForm | undefined;
}

/** Whether an update, carried out again on the same data, is sure to give the same data (up to labels of blank nodes). */
export const isRepeatable = (update: string): boolean => !FLEETING.test(update) || !FLEETING.test(words(update).replace(SAME_CHOICE, '$1'));

/** The text without comments, strings and IRIs: what is left are words of the language. A loop, since texts may have many megabytes. */
function words(text: string): string {
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

/** Behind what begins at `at`; undefined: it is none of these, but a `<` that compares. */
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
