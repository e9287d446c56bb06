/**
 * The grammar of one line of N-Quads, on bytes.
 *
 * A line whose terms and full stop can be separated is a statement; if one of its terms must not be sent to a store, it has a `problem`.
 * Terms of RDF 1.2 (triple terms, base directions) and RDF-star are such terms, unless the reader takes triples as terms. Any other line is
 * not N-Quads.
 *
 * @see https://www.w3.org/TR/n-quads/#sec-grammar
 */
import { excerpt } from '../core/fault.ts';
import { detach, fromBytes } from '../core/text.ts';
import { iriProblem, isLabel, isLanguageTag, keptLabel, scanIri, type TermProblem } from './check.ts';
import { canonicalLiteral, decodedIri } from './escapes.ts';

const TAB = 9;
const LF = 10;
const CR = 13;
const SPACE = 32;
const QUOTE = 34;
const HASH = 35;
const OPEN = 40;
const CLOSE = 41;
const DOT = 46;
const COLON = 58;
const LESS = 60;
const GREATER = 62;
const AT = 64;
const BACKSLASH = 92;
const CARET = 94;
const UNDERSCORE = 95;

/**
 * By byte: ends plain text of a literal (1), allowed in a language tag (2), in a blank node label (4), after a backslash of canonical
 * N-Quads (8).
 */
const KINDS = new Uint8Array(256);
const ENDS_TEXT = 1;
const IN_TAG = 2;
const IN_LABEL = 4;
const CANONICAL_ESCAPE = 8;
for (let byte = 0; byte < 256; byte++) {
  const character = String.fromCharCode(byte);
  KINDS[byte] =
    (byte < 32 || byte === 127 || byte === QUOTE || byte === BACKSLASH ? ENDS_TEXT : 0) |
    (/[A-Za-z0-9-]/.test(character) ? IN_TAG : 0) |
    (/[A-Za-z0-9_:.-]/.test(character) || byte >= 0x80 ? IN_LABEL : 0) |
    (/["\\nrtbf]/.test(character) ? CANONICAL_ESCAPE : 0);
}

const XSD_STRING = '<http://www.w3.org/2001/XMLSchema#string>';
const LANG_STRING = '<http://www.w3.org/1999/02/22-rdf-syntax-ns#langString>';

const RDF_1_2 = { at: 0, hint: 'Stores are given RDF 1.1; write the statement without it' };
const TRIPLE_TERM_HINT =
  'The embedded store, Apache Jena Fuseki and property graphs take such terms; for another target, write the statement without it';
const DATATYPE_HINT = 'N-Quads has no prefixes: write the datatype in full, as ^^<http://www.w3.org/2001/XMLSchema#integer>';
const LANGUAGE_HINT = 'Expected a BCP 47 tag such as "en" or "pt-BR"';

/** Bytes behind a language tag. */
const ENDS_TAG: ReadonlySet<number> = new Set([TAB, LF, CR, SPACE, QUOTE, HASH, CLOSE, DOT, LESS, GREATER]);

/** Cache of recent IRIs: most predicates, datatypes and graphs repeat. Each is one string, not a slice of a larger one. */
const RECENT = 1024;
const RECENT_BYTES = 512;

/** Maximum nesting of triple terms. */
const MAX_DEPTH = 100;

/** The position where a line stops being N-Quads, and what is expected there. */
export class NotNQuads extends Error {
  readonly at: number;
  readonly expected: string;
  readonly hint: string | undefined;

  constructor(at: number, expected: string, hint?: string) {
    super(`${expected} expected`);
    this.at = at;
    this.expected = expected;
    this.hint = hint;
  }
}

export class LineReader {
  /** Canonical terms of the last line; meaningless if it has a `problem`. */
  subject = '';
  predicate = '';
  object = '';
  graph = '';
  /** The first term of the line that must not be sent to a store; `at` is a byte position. */
  problem: TermProblem | undefined;
  /** Position of the full stop if it directly follows a blank node label, else -1: in a truncated file it may be part of the label. */
  touchingStop = -1;

  readonly #skolem: ((label: string) => string) | undefined;
  readonly #takesTriples: boolean;
  readonly #recent: string[] = new Array(RECENT).fill('');
  #bytes: Uint8Array = new Uint8Array(0);
  #text = '';
  /** Of the last term: its canonical text, and the end of a blank node label. */
  #term = '';
  #labelEnd = -1;

  /** @param takesTriples whether `<< s p o >>` and, as objects, `<<( s p o )>>` are terms without a problem */
  constructor(skolem: ((label: string) => string) | undefined, takesTriples: boolean) {
    this.#skolem = skolem;
    this.#takesTriples = takesTriples;
  }

  /** `bytes` are complete lines, each with its line end; `text` is the same as one-byte text. */
  load(bytes: Uint8Array, text: string): void {
    this.#bytes = bytes;
    this.#text = text;
    // Slices of the last text would keep it alive.
    this.subject = '';
  }

  /**
   * Reads the statement that begins at `from`.
   *
   * @returns the position of the line's end
   * @throws NotNQuads
   */
  read(from: number): number {
    const bytes = this.#bytes;
    this.problem = undefined;
    this.#labelEnd = -1;
    let at = from;
    // Statements about one subject are usually adjacent: an equal subject is neither checked nor sliced again.
    if (bytes[at] === LESS && this.subject !== '' && this.#text.startsWith(this.subject, at)) at += this.subject.length;
    else {
      at = this.#node(at, 'a subject, which is an IRI or a blank node,');
      this.subject = this.#term;
      if (this.subject.startsWith('<<(')) this.#reject(NO_SUBJECT, from);
    }
    at = this.#blanks(at);
    if (bytes[at] !== LESS || bytes[at + 1] === LESS) throw new NotNQuads(at, 'a predicate, which is an IRI,');
    at = this.#repeatedIri(at);
    this.predicate = this.#term;
    at = this.#blanks(at);
    at = bytes[at] === QUOTE ? this.#literal(at) : this.#node(at, 'an object');
    this.object = this.#term;
    at = this.#blanks(at);
    this.graph = '';
    if (bytes[at] !== DOT) {
      if (bytes[at] === QUOTE)
        throw new NotNQuads(at, 'a graph or a full stop', 'A graph is named by an IRI or a blank node, not by a literal');
      at = bytes[at] === LESS && bytes[at + 1] !== LESS ? this.#repeatedIri(at) : this.#node(at, 'a graph or a full stop');
      this.graph = this.#term;
      if (this.graph.startsWith('<<')) this.#reject({ message: 'A quoted triple is no name of a graph', at: 0 }, at);
      at = this.#blanks(at);
      if (bytes[at] !== DOT) throw new NotNQuads(at, 'a full stop');
    }
    this.touchingStop = at === this.#labelEnd ? at : -1;
    // If a line has a problem, its terms are not usable.
    if (this.problem !== undefined) this.subject = '';
    return this.end(at + 1);
  }

  /** The end of the line after its last term. @throws NotNQuads */
  end(from: number): number {
    const bytes = this.#bytes;
    let at = this.#blanks(from);
    if (bytes[at] === HASH) while (bytes[at] !== LF && bytes[at] !== CR) at++;
    if (bytes[at] !== LF && bytes[at] !== CR) throw new NotNQuads(at, 'the end of the line');
    return at;
  }

  #blanks(from: number): number {
    const bytes = this.#bytes;
    let at = from;
    while (bytes[at] === SPACE || bytes[at] === TAB) at++;
    return at;
  }

  #reject(problem: TermProblem, at: number): void {
    this.problem ??= { ...problem, at };
  }

  #node(at: number, expected: string, depth = 0): number {
    const bytes = this.#bytes;
    if (bytes[at] === LESS) return bytes[at + 1] === LESS ? this.#tripleTerm(at, depth) : this.#iri(at);
    if (bytes[at] !== UNDERSCORE) throw new NotNQuads(at, expected);
    return this.#blank(at);
  }

  // ---------------------------------------------------------------- IRIs

  #iri(at: number): number {
    const end = scanIri(this.#bytes, at + 1);
    if (end < 0) return this.#oddIri(at);
    this.#term = this.#text.slice(at, end + 1);
    return end + 1;
  }

  #repeatedIri(at: number): number {
    const bytes = this.#bytes;
    const end = scanIri(bytes, at + 1);
    if (end < 0) return this.#oddIri(at);
    const length = end + 1 - at;
    const slot = (length * 37 + (bytes[end - 1] as number) * 11 + (bytes[end - 3] as number) * 5) % RECENT;
    const known = this.#recent[slot] as string;
    if (known.length === length && this.#text.startsWith(known, at)) this.#term = known;
    else {
      this.#term = this.#text.slice(at, end + 1);
      if (length <= RECENT_BYTES) this.#recent[slot] = this.#term = detach(this.#term);
    }
    return end + 1;
  }

  /** An IRI with escapes, or an invalid one. */
  #oddIri(at: number): number {
    const bytes = this.#bytes;
    let end = at + 1;
    while (bytes[end] !== GREATER) {
      if (bytes[end] === LF || bytes[end] === CR || bytes[end] === LESS) throw new NotNQuads(end, 'the ">" that closes an IRI');
      end++;
    }
    const written = this.#text.slice(at + 1, end);
    const iri = written.includes('\\') ? decodedIri(written) : written;
    const problem = typeof iri === 'string' ? iriProblem(iri) : iri;
    if (problem !== undefined) this.#reject(problem, at + 1 + (typeof iri !== 'string' || iri === written ? problem.at : 0));
    this.#term = `<${iri}>`;
    return end + 1;
  }

  // ---------------------------------------------------------------- blank nodes

  #blank(at: number): number {
    const bytes = this.#bytes;
    if (bytes[at + 1] !== COLON) throw new NotNQuads(at + 1, 'the colon of a blank node');
    const from = at + 2;
    let end = from;
    while (((KINDS[bytes[end] as number] as number) & IN_LABEL) !== 0) end++;
    while (end > from && bytes[end - 1] === DOT) end--;
    if (end === from) throw new NotNQuads(end, 'the label of a blank node');
    const label = this.#text.slice(from, end);
    if (!isLabel(label)) this.#reject({ message: `${excerpt(fromBytes(label))} is no label of a blank node`, at: 0 }, from);
    this.#term = this.#skolem === undefined ? keptLabel(label) : `<${this.#skolem(label)}>`;
    this.#labelEnd = end;
    return end;
  }

  // ---------------------------------------------------------------- literals

  #literal(at: number): number {
    const bytes = this.#bytes;
    let close = at + 1;
    let canonical = true;
    while (true) {
      while (((KINDS[bytes[close] as number] as number) & ENDS_TEXT) === 0) close++;
      const byte = bytes[close];
      if (byte === QUOTE) break;
      if (byte === BACKSLASH) close++;
      if (bytes[close] === LF || bytes[close] === CR) throw new NotNQuads(close, 'the quote that closes a literal');
      if (byte !== BACKSLASH || ((KINDS[bytes[close] as number] as number) & CANONICAL_ESCAPE) === 0) canonical = false;
      close++;
    }
    const next = this.#blanks(close + 1);
    let end = close + 1;
    let suffix = '';
    if (bytes[next] === AT) {
      end = this.#language(next + 1);
      suffix = `@${this.#term}`;
    } else if (bytes[next] === CARET) {
      if (bytes[next + 1] !== CARET) throw new NotNQuads(next + 1, 'the "^^" before a datatype');
      end = this.#datatype(this.#blanks(next + 2));
      suffix = this.#term;
    }
    if (canonical && end === close + 1 + suffix.length) this.#term = this.#text.slice(at, end);
    else {
      const text = canonical ? this.#text.slice(at + 1, close) : canonicalLiteral(this.#text.slice(at + 1, close));
      if (typeof text !== 'string') this.#reject(text, at + 1 + text.at);
      this.#term = `"${text}"${suffix}`;
    }
    return end;
  }

  /** Stores the tag in `#term`. */
  #language(from: number): number {
    const bytes = this.#bytes;
    let end = from;
    while (((KINDS[bytes[end] as number] as number) & IN_TAG) !== 0) end++;
    // What goes on with another character, as in `en_US`, is no tag as a whole.
    while (!ENDS_TAG.has(bytes[end] as number)) end++;
    const tag = this.#text.slice(from, end);
    if (/[^-]--[A-Za-z]/.test(tag)) this.#reject({ ...RDF_1_2, message: 'A literal with a base direction is a term of RDF 1.2' }, from);
    else if (!isLanguageTag(tag))
      this.#reject({ message: `${excerpt(fromBytes(tag))} is not a language tag`, at: 0, hint: LANGUAGE_HINT }, from);
    this.#term = tag;
    return end;
  }

  /** Stores `^^<datatype>` in `#term`, or nothing for a plain string. */
  #datatype(from: number): number {
    if (this.#bytes[from] !== LESS) throw new NotNQuads(from, 'a datatype, which is an IRI,', DATATYPE_HINT);
    const end = this.#repeatedIri(from);
    if (this.#term === LANG_STRING)
      this.#reject({ message: 'A literal of type rdf:langString has no language', at: 0, hint: LANGUAGE_HINT }, from);
    this.#term = this.#term === XSD_STRING ? '' : `^^${this.#term}`;
    return end;
  }

  // ---------------------------------------------------------------- RDF 1.2

  /** `<<( s p o )>>`, and `<< s p o >>` of RDF-star. */
  #tripleTerm(at: number, depth: number): number {
    const bytes = this.#bytes;
    if (depth > MAX_DEPTH) throw new NotNQuads(at, `at most ${MAX_DEPTH} levels of triple terms`);
    if (!this.#takesTriples)
      this.#reject(
        { at: 0, hint: TRIPLE_TERM_HINT, message: 'A triple term is a term of RDF 1.2 or RDF-star, which the target does not take' },
        at,
      );
    const closed = bytes[at + 2] === OPEN;
    let next = this.#blanks(at + (closed ? 3 : 2));
    next = this.#blanks(this.#node(next, 'a subject of a triple term', depth + 1));
    const subject = this.#term;
    if (subject.startsWith('<<(')) this.#reject(NO_SUBJECT, at);
    if (bytes[next] !== LESS || bytes[next + 1] === LESS) throw new NotNQuads(next, 'a predicate of a triple term');
    next = this.#blanks(this.#repeatedIri(next));
    const predicate = this.#term;
    next = bytes[next] === QUOTE ? this.#literal(next) : this.#node(next, 'an object of a triple term', depth + 1);
    next = this.#blanks(next);
    const terms = `${subject} ${predicate} ${this.#term}`;
    if (closed && bytes[next++] !== CLOSE) throw new NotNQuads(next - 1, 'the ")>>" that closes a triple term');
    for (const last = next + 2; next < last; next++)
      if (bytes[next] !== GREATER) throw new NotNQuads(next, 'the ">>" that closes a triple term');
    this.#term = closed ? `<<( ${terms} )>>` : `<< ${terms} >>`;
    return next;
  }
}

const NO_SUBJECT: TermProblem = {
  message: 'A triple term of RDF 1.2 is the object of a statement, never its subject',
  at: 0,
  hint: 'Name the triple with rdf:reifies, or write << … >> as in RDF-star',
};
