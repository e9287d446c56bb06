/** Term maps and their expressions → terms over rows. */
import { XSD } from '../../core/value.ts';
import { fileKey } from '../../mapping/model/expressions.ts';
import type { Expression as MappedExpression, Origin, TermMap } from '../../mapping/model/model.ts';
import type { Column, Expression, Operator, RowTerm } from '../algebra.ts';
import type { Leaf } from '../expressions.ts';

/** What a reference reads of a row. */
export type LeafOf = (reference: string, origin: Origin) => Leaf;

/** What blank nodes of a row are labelled by. */
export interface RowIdentity {
  /** Id of the triples map, which they belong to. */
  readonly map: string;
  readonly columns: readonly Column[];
}

/** @param rows those of the triples map, or of one with the same records */
export const identityOf = (map: string, rows: Operator): RowIdentity => ({ map, columns: identitiesIn(rows) });

function identitiesIn(rows: Operator): readonly Column[] {
  switch (rows.kind) {
    case 'scan':
      return [rows.identity];
    case 'unnest':
      return [...identitiesIn(rows.input), rows.index];
    case 'join':
      return [...identitiesIn(rows.left), ...(rows.ordinal === undefined ? [] : [rows.ordinal])];
    default:
      return identitiesIn(rows.input);
  }
}

/** @param leaf what a reference reads */
export function termOf(of: TermMap, leaf: LeafOf, base: string, row: RowIdentity): RowTerm {
  const { origin, termType: type, expression, language, datatype } = of;
  if (expression.kind === 'constant' && isFixed(of))
    return { kind: 'constant', origin: expression.origin, term: constantOf(of), type, base };
  const value = expressionOf(expression, leaf, row);
  switch (type) {
    case 'blank':
      return { kind: 'blank', origin, value };
    case 'literal': {
      if (language === undefined && datatype === undefined) return { kind: 'literal', origin, value, ...marksOf(expression, base) };
      return {
        kind: 'literal',
        origin,
        value,
        language: language === undefined ? undefined : expressionOf(language, leaf, row),
        datatype: datatype === undefined ? undefined : termOf(datatype, leaf, base, row),
      };
    }
    default:
      return { kind: 'iri', origin, type, value, base };
  }
}

/** The language or the datatype that a constant has by itself, also under a condition. */
function marksOf(expression: MappedExpression, base: string): Pick<Extract<RowTerm, { kind: 'literal' }>, 'language' | 'datatype'> {
  if (expression.kind === 'conditional') return marksOf(expression.value, base);
  if (expression.kind !== 'constant' || expression.term.kind !== 'literal') return { language: undefined, datatype: undefined };
  const { origin, term } = expression;
  if (term.language !== undefined) return { language: { kind: 'constant', origin, text: term.language }, datatype: undefined };
  if (term.datatype === `${XSD}string`) return { language: undefined, datatype: undefined };
  const datatype = { kind: 'iri', value: term.datatype } as const;
  return { language: undefined, datatype: { kind: 'constant', origin, term: datatype, type: 'iri', base } };
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

export function expressionOf(of: MappedExpression, leaf: LeafOf, row: RowIdentity): Expression {
  const { origin } = of;
  const inner = (expression: MappedExpression): Expression => expressionOf(expression, leaf, row);
  switch (of.kind) {
    case 'constant':
      return { kind: 'constant', origin, text: of.term.value };
    case 'reference':
      return leaf(of.reference, origin);
    case 'template':
      return { kind: 'template', origin, parts: of.parts.map((part) => (part.kind === 'text' ? part.text : leaf(part.reference, origin))) };
    case 'fresh':
      return { kind: 'row', origin, ...row };
    case 'call': {
      const inputs = of.execution.inputs.map(({ parameter, value, table }) => ({
        parameter,
        value: inner(value),
        ...(table === undefined ? {} : { file: fileKey(table.file) }),
      }));
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
