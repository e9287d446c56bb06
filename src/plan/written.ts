/**
 * The text that a term writes, byte by byte: its constant text as in the output, and holes for the values of a row.
 *
 * All proofs about terms rest on this: which terms can be equal (plan/overlaps.ts), and in which references a term is injective
 * (plan/injectivity.ts). It describes what `terms/encode.ts` does, and must follow it.
 */

import { guardUnsafeIri, hasScheme, toBytes } from '../core/text.ts';
import type { Collection, Expression, Operator, RowTerm, Term } from './algebra.ts';
import { definitionOf, isInCell, leafKey, unconditional } from './expressions.ts';

export type WrittenTerm = WrittenValue | WrittenTriples;

/** Quoted triples, each `<< subject predicate object >>`. */
export interface WrittenTriples {
  readonly kind: 'quoted';
  readonly triples: readonly Readonly<Record<'subject' | 'predicate' | 'object', WrittenTerm>>[];
}

export interface WrittenValue {
  /** iri; blank nodes by the beginning of their labels; literals with what is known of their language or datatype; `anything`. */
  readonly kind: string;
  /** Two forms if the value decides whether the base is prepended, else one. */
  readonly forms: readonly (readonly Piece[])[];
  /** Whether values are percent-encoded; they then produce no byte of `SEPARATOR`. */
  readonly encoded: boolean;
}

/** Constant bytes, or a hole for a value. */
export type Piece = string | Hole;

export interface Hole {
  /** Key of what is read (`leafKey`); undefined: the written text does not correspond to one value of a reference. */
  readonly reference: string | undefined;
}

/**
 * The ASCII characters that percent-encoding never writes. `%` is not one of them, since encoding produces it. Neither is a byte from 0x80:
 * IRIs keep `ucschar`.
 */
export const SEPARATOR = /[^A-Za-z0-9\-._~%\u0080-\u{10ffff}]/u;

/** @param rows the rows of the term, for what stands in their cells */
export function writtenTerm(of: Term, rows?: Operator): WrittenTerm {
  const term = rows === undefined || !isInCell(of) ? (of as RowTerm) : definitionOf(of, rows);
  switch (term.kind) {
    case 'quoted':
      return {
        kind: 'quoted',
        triples: term.triples.map(({ subject, predicate, object }) => ({
          subject: writtenTerm(subject),
          predicate: writtenTerm(predicate),
          object: writtenTerm(object),
        })),
      };
    case 'constant':
      return writtenConstant(term);
    case 'literal':
      return { kind: literalKind(term), forms: [piecesOf(term.value, hasNaturalDatatype(term) ? lost : kept)], encoded: false };
    case 'blank': {
      const isRow = unconditional(term.value).kind === 'row';
      return { kind: isRow ? 'blank row' : 'blank value', forms: [piecesOf(term.value, isRow ? lost : kept)], encoded: false };
    }
    case 'iri':
      return writtenIri(term);
    case 'head':
      return writtenHead(term.collection);
  }
}

/** A term that is made of triples: as it is planned, or as it is written. */
type Triples<T> = T & { readonly triples: readonly { readonly subject: T; readonly object: T }[] };

const isTriples = <T extends object>(term: T): term is Triples<T> => 'triples' in term;

/**
 * The triples that have a reifier in RDF 1.2 (`nquads/reified.ts`), where a term is the subject of a statement: its own first, then those of
 * triples within it.
 */
export const reifiedAsSubject = <T extends object>(term: T): readonly Triples<T>[] =>
  isTriples(term) ? [term, ...reifiedAsObject(term)] : [];

/** The same where a term is the object: it is a triple term, which has none itself. */
export const reifiedAsObject = <T extends object>(term: T): readonly Triples<T>[] =>
  isTriples(term) ? term.triples.flatMap(({ subject, object }) => [...reifiedAsSubject(subject), ...reifiedAsObject(object)]) : [];

/** What any term may equal. */
const ANYTHING: WrittenValue = { kind: 'anything', forms: [[{ reference: undefined }]], encoded: false };

/** An empty list is `rdf:nil`, whatever its head would be. */
const writtenHead = (collection: Collection): WrittenTerm =>
  collection.as === 'list' && collection.allowEmpty ? ANYTHING : writtenSubject(collection);

/** The subject of what a collection states, of its first node if it is a list. */
export function writtenSubject({ head, row, number }: Collection): WrittenTerm {
  if (head !== undefined) return writtenTerm(head);
  const then = unconditional(row);
  const map = then.kind === 'row' ? then.map : '';
  // The labels of a gather map are its own: `terms/collections.ts`.
  return { kind: `blank gather ${number} of ${map}`, forms: [[{ reference: undefined }]], encoded: false };
}

function writtenConstant({ term, type, base }: Extract<RowTerm, { kind: 'constant' }>): WrittenValue {
  const text = toBytes(term.value);
  switch (type) {
    case 'literal': {
      const { language, datatype } = term as Extract<typeof term, { kind: 'literal' }>;
      return { kind: language === undefined ? datatypeKind(datatype) : `literal@${language}`, forms: [[text]], encoded: false };
    }
    case 'blank':
      return { kind: 'blank constant', forms: [[text]], encoded: false };
    default: {
      const iri = hasScheme(text) ? text : toBytes(base) + text;
      return { kind: 'iri', forms: [[isUnsafe(type) ? guardUnsafeIri(iri) : iri]], encoded: false };
    }
  }
}

/** Whether each value brings the datatype of its literal, in canonical form: `1.0` and `1.00` are one double. */
export function hasNaturalDatatype(term: Term): boolean {
  if (term.kind !== 'literal' || term.language !== undefined || term.datatype !== undefined) return false;
  const { kind } = unconditional(term.value);
  return kind === 'read' || kind === 'cell' || kind === 'call';
}

const kept = (reference: string): Hole => ({ reference });
const lost = (): Hole => ({ reference: undefined });

const isUnsafe = (type: string): boolean => type === 'unsafe-iri' || type === 'unsafe-uri';

function writtenIri({ type, value, base }: Extract<RowTerm, { kind: 'iri' }>): WrittenValue {
  const unsafe = isUnsafe(type);
  const encoded = unconditional(value).kind === 'template' && !unsafe;
  // A URI percent-encodes `é`, and since `%` is not encoded, a value may already contain the same sequence.
  const pieces = piecesOf(value, type === 'unsafe-uri' || (type === 'uri' && !encoded) ? lost : kept);
  const guard = (form: readonly Piece[]): readonly Piece[] =>
    unsafe ? form.map((piece) => (typeof piece === 'string' ? guardUnsafeIri(piece) : piece)) : form;
  const absolute = guard(pieces);
  const relative = guard([toBytes(base), ...pieces]);
  const forms = { template: [absolute], none: [relative], value: [absolute, relative] };
  return { kind: 'iri', forms: forms[schemeOf(templateParts(value), encoded)], encoded };
}

function literalKind({ language, datatype }: Extract<RowTerm, { kind: 'literal' }>): string {
  if (language !== undefined) return language.kind === 'constant' ? `literal@${language.text}` : 'literal';
  return datatype?.kind === 'constant' ? datatypeKind(datatype.term.value) : 'literal';
}

/** With the base prepended, a relative IRI may equal another literal's IRI. */
const datatypeKind = (iri: string): string => (hasScheme(iri) ? `literal^^${iri}` : 'literal');

const piecesOf = (expression: Expression, hole: (reference: string) => Hole): readonly Piece[] =>
  templateParts(expression).map((part) => {
    if (typeof part === 'string') return toBytes(part);
    return part.reference === undefined ? { reference: undefined } : hole(part.reference);
  });

/** Any expression as a template. What a function gives is no value of a reference. */
function templateParts(expression: Expression): readonly (string | Hole)[] {
  switch (expression.kind) {
    case 'constant':
      return [expression.text];
    case 'read':
    case 'cell':
      return [{ reference: leafKey(expression) }];
    case 'template':
      return expression.parts.map((part) => (typeof part === 'string' ? part : { reference: leafKey(part) }));
    case 'row':
    case 'call':
      return [{ reference: undefined }];
    case 'conditional':
      return templateParts(expression.value);
  }
}

/**
 * The origin of the scheme in the IRIs of a template: the constant beginning of the template; none, so that all IRIs are relative; or the
 * value, as in `{prefix}:{id}`, which is absolute for `urn` and relative for `1`.
 *
 * @param encoded whether values are percent-encoded, and thus contain no colon
 * @see https://www.w3.org/TR/r2rml/#dfn-term-generation-rules (a value that is not an absolute IRI is prefixed with the base IRI)
 */
export function schemeOf(parts: readonly (string | object)[], encoded = true): 'template' | 'none' | 'value' {
  const [first] = parts;
  if (typeof first === 'string' && hasScheme(first)) return 'template';
  // A value may contribute letters of the scheme.
  const value = encoded ? 'a' : 'a:';
  return hasScheme(parts.map((part) => (typeof part === 'string' ? part : value)).join('')) ? 'value' : 'none';
}
