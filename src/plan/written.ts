/**
 * What a term map writes, byte by byte: its constant text as it stands in the output, and holes where a record's values go.
 *
 * Whatever planning proves about terms rests on this: which of them can be equal (plan/overlaps.ts), and which values can be read
 * back off a term (plan/injectivity.ts). It says what `terms/generate.ts` does, and must follow it.
 */

import { guardUnsafeIri, hasScheme, toBytes } from '../core/text.ts';
import type { Expression, TemplatePart, TermMap } from '../mapping/model/model.ts';
import { schemeOf } from '../mapping/model/template.ts';

export interface WrittenTerm {
  /** iri; blank nodes by the beginning of their labels; literals with what is known of their language or datatype. */
  readonly kind: string;
  /** Two where the value decides whether the base stands in front, else one. */
  readonly forms: readonly (readonly Piece[])[];
  /** Whether values are percent-encoded: they give no byte of `SEPARATOR` then. */
  readonly encoded: boolean;
}

/** Constant bytes, or where a value goes. */
export type Piece = string | Hole;

export interface Hole {
  /** undefined: what is written there does not lead back to one value of a reference. */
  readonly reference: string | undefined;
}

/**
 * The ASCII characters that percent-encoding does not let through. `%` is not one of them: it stands in what encoding writes. Nor is a
 * byte from 0x80: IRIs keep `ucschar`.
 */
export const SEPARATOR = /[^A-Za-z0-9\-._~%\u0080-\u{10ffff}]/u;

/** @param base of relative IRIs: the triples map's own, else the run's */
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

/** Whether each value brings the datatype of its literal, in that datatype's canonical form: `1.0` and `1.00` are one double. */
export const hasNaturalDatatype = ({ termType, expression, language, datatype }: TermMap): boolean =>
  termType === 'literal' && expression.kind === 'reference' && language === undefined && datatype === undefined;

const kept = (reference: string): Hole => ({ reference });
const lost = (): Hole => ({ reference: undefined });

function writtenIri(expression: Expression, termType: Exclude<TermMap['termType'], 'literal' | 'blank'>, base: string): WrittenTerm {
  const unsafe = termType === 'unsafe-iri' || termType === 'unsafe-uri';
  const encoded = expression.kind === 'template' && !unsafe;
  // A URI has percent-encodings for `é`, and without encoding of `%` a value may have the same ones.
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
  // A relative IRI may be, with the base in front, the one that another literal has.
  return type?.kind === 'constant' && hasScheme(type.term.value) ? `literal^^${type.term.value}` : 'literal';
}

const piecesOf = (expression: Expression, hole: (reference: string) => Hole): readonly Piece[] =>
  partsOf(expression).map((part) => (part.kind === 'text' ? toBytes(part.text) : hole(part.reference)));

/** Every expression as a template. */
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
