/** Term maps and their expressions → terms over rows. */
import { XSD } from '../../core/value.ts';
import type { Expression as MappedExpression, Origin, TermMap } from '../../mapping/model/model.ts';
import type { Expression, RowTerm } from '../algebra.ts';
import type { Leaf } from '../expressions.ts';

/** What a reference reads of a row. */
export type LeafOf = (reference: string, origin: Origin) => Leaf;

/**
 * @param leaf what a reference reads
 * @param map id of the triples map, which per-record blank nodes belong to
 */
export function termOf(of: TermMap, leaf: LeafOf, base: string, map: string): RowTerm {
  const { origin, termType: type, expression, language, datatype } = of;
  if (expression.kind === 'constant' && isFixed(of))
    return { kind: 'constant', origin: expression.origin, term: constantOf(of), type, base };
  const value = expressionOf(expression, leaf, map);
  switch (type) {
    case 'blank':
      return { kind: 'blank', origin, value };
    case 'literal':
      return {
        kind: 'literal',
        origin,
        value,
        language: language === undefined ? undefined : expressionOf(language, leaf, map),
        datatype: datatype === undefined ? undefined : termOf(datatype, leaf, base, map),
      };
    default:
      return { kind: 'iri', origin, type, value, base };
  }
}

/** Whether the language and datatype of a constant are the same for every record. */
const isFixed = ({ language, datatype }: TermMap): boolean =>
  [language, datatype?.expression].every((expression) => expression === undefined || expression.kind === 'constant');

/** The constant of a term map, with the language or datatype of the term map. */
function constantOf({ termType, expression, language, datatype }: TermMap) {
  const { term } = expression as Extract<MappedExpression, { kind: 'constant' }>;
  if (termType !== 'literal') return term;
  const own = term.kind === 'literal' ? term : undefined;
  return {
    kind: 'literal' as const,
    value: term.value,
    language: language?.kind === 'constant' ? language.term.value : own?.language,
    datatype: datatype?.expression.kind === 'constant' ? datatype.expression.term.value : (own?.datatype ?? `${XSD}string`),
  };
}

export function expressionOf(of: MappedExpression, leaf: LeafOf, map: string): Expression {
  const { origin } = of;
  const inner = (expression: MappedExpression): Expression => expressionOf(expression, leaf, map);
  switch (of.kind) {
    case 'constant':
      return { kind: 'constant', origin, text: of.term.value };
    case 'reference':
      return leaf(of.reference, origin);
    case 'template':
      return { kind: 'template', origin, parts: of.parts.map((part) => (part.kind === 'text' ? part.text : leaf(part.reference, origin))) };
    case 'fresh':
      return { kind: 'row', origin, map };
    case 'call': {
      const inputs = of.execution.inputs.map(({ parameter, value }) => ({ parameter, value: inner(value) }));
      return {
        kind: 'call',
        origin,
        execution: { function: of.execution.function, deterministic: of.execution.deterministic, inputs },
        returns: of.returns,
      };
    }
    case 'conditional':
      return { kind: 'conditional', origin, condition: inner(of.condition), value: inner(of.value) };
  }
}
