/**
 * The text that a term map writes, byte by byte: its constant text as in the output, and holes for the values of a record.
 *
 * All proofs about terms rest on this: which terms can be equal (plan/overlaps.ts), and in which references a term is injective
 * (plan/injectivity.ts). It describes what `terms/generate.ts` does, and must follow it.
 */

import { guardUnsafeIri, hasScheme, toBytes } from '../core/text.ts';
import type { Expression, TemplatePart, TermMap } from '../mapping/model/model.ts';
import { schemeOf } from '../mapping/model/template.ts';

export interface WrittenTerm {
  /** iri; blank nodes by the beginning of their labels; literals with what is known of their language or datatype. */
  readonly kind: string;
  /** Two forms if the value decides whether the base is prepended, else one. */
  readonly forms: readonly (readonly Piece[])[];
  /** Whether values are percent-encoded; they then produce no byte of `SEPARATOR`. */
  readonly encoded: boolean;
}

/** Constant bytes, or a hole for a value. */
export type Piece = string | Hole;

export interface Hole {
  /** undefined: the written text does not correspond to one value of a reference. */
  readonly reference: string | undefined;
}

/**
 * The ASCII characters that percent-encoding never writes. `%` is not one of them, since encoding produces it. Neither is a byte from 0x80:
 * IRIs keep `ucschar`.
 */
export const SEPARATOR = /[^A-Za-z0-9\-._~%\u0080-\u{10ffff}]/u;

/** @param base for relative IRIs: that of the triples map, else that of the run */
export function writtenTerm(term: TermMap, base: string): WrittenTerm {
  const { expression, termType } = term;
  switch (termType) {
    case 'literal':
      return { kind: literalKind(term), forms: [piecesOf(expression, hasNaturalDatatype(term) ? lost : kept)], encoded: false };
    case 'blank': {
      const origin = expression.kind === 'constant' || expression.kind === 'fresh' ? expression.kind : 'value';
      return { kind: `blank ${origin}`, forms: [piecesOf(expression, origin === 'fresh' ? lost : kept)], encoded: false };
    }
    default:
      return writtenIri(expression, termType, base);
  }
}

/** Whether each value brings the datatype of its literal, in canonical form: `1.0` and `1.00` are one double. */
export const hasNaturalDatatype = ({ termType, expression, language, datatype }: TermMap): boolean =>
  termType === 'literal' && expression.kind === 'reference' && language === undefined && datatype === undefined;

const kept = (reference: string): Hole => ({ reference });
const lost = (): Hole => ({ reference: undefined });

function writtenIri(expression: Expression, termType: Exclude<TermMap['termType'], 'literal' | 'blank'>, base: string): WrittenTerm {
  const unsafe = termType === 'unsafe-iri' || termType === 'unsafe-uri';
  const encoded = expression.kind === 'template' && !unsafe;
  // A URI percent-encodes `é`, and since `%` is not encoded, a value may already contain the same sequence.
  const pieces = piecesOf(expression, termType === 'unsafe-uri' || (termType === 'uri' && !encoded) ? lost : kept);
  const guard = (form: readonly Piece[]): readonly Piece[] =>
    unsafe ? form.map((piece) => (typeof piece === 'string' ? guardUnsafeIri(piece) : piece)) : form;
  const absolute = guard(pieces);
  const relative = guard([toBytes(base), ...pieces]);
  const forms = { template: [absolute], none: [relative], value: [absolute, relative] };
  return { kind: 'iri', forms: forms[schemeOf(partsOf(expression), encoded)], encoded };
}

function literalKind({ language, datatype }: TermMap): string {
  if (language !== undefined) return language.kind === 'constant' ? `literal@${language.term.value}` : 'literal';
  const type = datatype?.expression;
  // With the base prepended, a relative IRI may equal another literal's IRI.
  return type?.kind === 'constant' && hasScheme(type.term.value) ? `literal^^${type.term.value}` : 'literal';
}

const piecesOf = (expression: Expression, hole: (reference: string) => Hole): readonly Piece[] =>
  partsOf(expression).map((part) => (part.kind === 'text' ? toBytes(part.text) : hole(part.reference)));

/** Any expression as a template. */
function partsOf(expression: Expression): readonly TemplatePart[] {
  switch (expression.kind) {
    case 'constant':
      return [{ kind: 'text', text: expression.term.value }];
    case 'reference':
      return [expression];
    case 'template':
      return expression.parts;
    case 'fresh':
      return [{ kind: 'reference', reference: '' }];
  }
}
