/** Finds the terms in N-Quads lines as the engine writes them: one space between terms, ` .` at the end. */
import { excerpt, Fault } from '../core/fault.ts';
import { findNotInIri, fromBytes, unescapeTerm } from '../core/text.ts';

/** The subject of the line that begins at `from`, as a token that is unique for the subject within the same text. */
export function subjectAt(lines: string, from: number): string {
  // Without a line behind it, the end of a quoted triple is the end of the text.
  if (isQuoted(lines, from)) return lines.slice(from, (afterNode(lines, from) || lines.length + 1) - 1);
  const end = lines.indexOf(lines.charCodeAt(from) === LESS ? '> ' : ' ', from);
  if (end === -1) return lines.slice(from);
  return lines.slice(from, lines.charCodeAt(from) === LESS ? end + 1 : end);
}

/** A statement's terms as tokens of N-Quads; `graph` is empty for the default graph. */
export type TakeStatement = (subject: string, predicate: string, object: string, graph: string) => void;

/**
 * Passes the terms of every line on, for formats whose readers are strict.
 *
 * @throws Fault sink/failed — an IRI with a character that is not allowed in IRIs (rml:UnsafeIRI), or a line that is not a statement
 */
export function eachStatement(lines: string, take: TakeStatement): void {
  for (let from = 0; from < lines.length; ) {
    const end = lines.indexOf('\n', from) + 1 || lines.length;
    const starts = startsAt(lines, from, end);
    if (starts === undefined) {
      if (lines.slice(from, end).trim() !== '') throw notConvertible(`${excerpt(fromBytes(lines.slice(from, end)))} is no statement`);
    } else {
      const [predicate, object, rest] = starts;
      const graph = lines.charCodeAt(rest) === DOT ? '' : lines.slice(rest, afterResource(lines, rest) - 1);
      take(
        checked(lines.slice(from, predicate - 1)),
        checked(lines.slice(predicate, object - 1)),
        checkedObject(lines.slice(object, rest - 1)),
        checked(graph),
      );
    }
    from = end;
  }
}

/** Where predicate and object of the line in [`from`, `end`) begin, and what follows the object; undefined: it is no statement. */
function startsAt(lines: string, from: number, end: number): readonly [predicate: number, object: number, rest: number] | undefined {
  const predicate = afterNode(lines, from);
  const object = predicate === 0 ? 0 : afterResource(lines, predicate);
  const rest = object === 0 ? 0 : afterObject(lines, object);
  return rest === 0 || rest >= end ? undefined : [predicate, object, rest];
}

/** The terms of one statement as they are written, and what follows the object: the graph, the full stop, the end of the line. */
export function splitLine(line: string): readonly [subject: string, predicate: string, object: string, rest: string] {
  const starts = startsAt(line, 0, line.length);
  if (starts === undefined) throw new Error('a line is no statement');
  const [predicate, object, rest] = starts;
  return [line.slice(0, predicate - 1), line.slice(predicate, object - 1), line.slice(object, rest - 1), line.slice(rest)];
}

export const QUOTE_START = '<< ';

/** Whether a quoted triple, `<< s p o >>`, begins at `from`. */
export const isQuoted = (text: string, from = 0): boolean => text.startsWith(QUOTE_START, from);

/** Whether a triple term of RDF 1.2, `<<( s p o )>>`, begins at `from`. */
export const isTripleTerm = (text: string, from = 0): boolean => text.startsWith('<<( ', from);

/** The terms of a quoted triple or a triple term, which may be such themselves. */
export function termsOfQuoted(quoted: string): readonly [subject: string, predicate: string, object: string] {
  const length = isQuoted(quoted) ? QUOTE_START.length : QUOTE_START.length + 1;
  const predicate = afterNode(quoted, length);
  const object = afterResource(quoted, predicate);
  return [quoted.slice(length, predicate - 1), quoted.slice(predicate, object - 1), quoted.slice(object, -length)];
}

/** Whether a term is a triple, in RDF-star or in RDF 1.2. */
export const isTriple = (term: string): boolean => isQuoted(term) || isTripleTerm(term);

/** A triple as a term of the same kind, with other terms in it. */
export function mapTriple(triple: string, node: (term: string) => string, object = node): string {
  const [s, p, o] = termsOfQuoted(triple);
  const inner = `${node(s)} ${node(p)} ${object(o)}`;
  return isQuoted(triple) ? `<< ${inner} >>` : `<<( ${inner} )>>`;
}

/** An IRI with its escapes replaced, also within triples; anything else unchanged. @throws as `eachStatement` */
export function checked(term: string): string {
  if (isTriple(term)) return mapTriple(term, checked, checkedObject);
  if (term.charCodeAt(0) !== LESS || findNotInIri(term.slice(1, -1)) === -1) return term;
  const decoded = unescapeTerm(term.slice(1, -1));
  if (findNotInIri(decoded) === -1) return `<${decoded}>`;
  throw notConvertible(`The IRI ${excerpt(fromBytes(term))} holds a character that no IRI may hold`);
}

/** The same for an object: a literal has a datatype. */
export function checkedObject(term: string): string {
  if (term.charCodeAt(0) !== QUOTE) return checked(term);
  const datatype = term.lastIndexOf('"') + 3;
  return datatype >= term.length || term.charCodeAt(datatype) !== LESS ? term : term.slice(0, datatype) + checked(term.slice(datatype));
}

const notConvertible = (reason: string): Fault =>
  new Fault('sink/failed', `The statements cannot be converted: ${reason}`, {
    hint: 'IRIs of term type UnsafeIRI may hold what only the format nquads lets through',
  });

const LESS = 60;
const QUOTE = 34;
const BACKSLASH = 92;
const DOT = 46;

const afterObject = (lines: string, from: number): number =>
  lines.charCodeAt(from) === QUOTE ? afterLiteral(lines, from) : afterNode(lines, from);

function afterNode(lines: string, from: number): number {
  if (isQuoted(lines, from)) return afterTriple(lines, from + QUOTE_START.length, '>> ');
  return isTripleTerm(lines, from) ? afterTriple(lines, from + QUOTE_START.length + 1, ')>> ') : afterResource(lines, from);
}

/** The position after the end of a triple whose subject begins at `from`; 0 if there is none. */
function afterTriple(lines: string, from: number, close: string): number {
  const predicate = afterNode(lines, from);
  const object = predicate === 0 ? 0 : afterResource(lines, predicate);
  const end = object === 0 ? 0 : afterObject(lines, object);
  return end !== 0 && lines.startsWith(close, end) ? end + close.length : 0;
}

/** The position after the space that ends an IRI or a blank node; 0 if there is none. An unsafe IRI may contain spaces. */
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
