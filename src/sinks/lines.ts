/** Finds terms in lines of N-Quads as the engine writes them: one space between terms, ` .` at the end. */

/** Position of the graph's term in the line `[from, end)`; -1 when it stands in the default graph or is empty. */
export function graphStart(lines: string, from: number, end: number): number {
  const predicate = afterResource(lines, from);
  const object = afterResource(lines, predicate);
  if (predicate === 0 || object === 0) return -1;
  const graph = lines.charCodeAt(object) === QUOTE ? afterLiteral(lines, object) : afterResource(lines, object);
  return graph === 0 || graph >= end || lines.charCodeAt(graph) === DOT ? -1 : graph;
}

/** The subject of the line that begins at `from`; that of another line in the same text is the same if and only if this one is. */
export function subjectAt(lines: string, from: number): string {
  const end = lines.indexOf(lines.charCodeAt(from) === LESS ? '> ' : ' ', from);
  if (end === -1) return lines.slice(from);
  return lines.slice(from, lines.charCodeAt(from) === LESS ? end + 1 : end);
}

const LESS = 60;
const QUOTE = 34;
const BACKSLASH = 92;
const DOT = 46;

/** Just behind the space that ends an IRI or a blank node; 0 when there is none. An unsafe IRI may hold spaces. */
const afterResource = (lines: string, from: number): number =>
  lines.charCodeAt(from) === LESS ? behind(lines, '> ', from) : behind(lines, ' ', from);

function afterLiteral(lines: string, from: number): number {
  let quote = lines.indexOf('"', from + 1);
  while (quote !== -1 && isEscaped(lines, quote)) quote = lines.indexOf('"', quote + 1);
  if (quote === -1) return 0;
  return lines.startsWith('^^<', quote + 1) ? behind(lines, '> ', quote) : behind(lines, ' ', quote);
}

function behind(lines: string, mark: string, from: number): number {
  const found = lines.indexOf(mark, from);
  return found === -1 ? 0 : found + mark.length;
}

function isEscaped(lines: string, at: number): boolean {
  let backslashes = 0;
  while (lines.charCodeAt(at - 1 - backslashes) === BACKSLASH) backslashes++;
  return backslashes % 2 === 1;
}
