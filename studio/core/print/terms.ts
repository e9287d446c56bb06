/** Expressions of a document → term maps. */
import type { RdfTerm } from '../../../src/mapping/model/model.ts';
import type { Individual } from '../../../src/mapping/vocabulary/vocabulary.ts';
import type { Expression, FieldRef, TermType } from '../document.ts';
import { type GraphWriter, individual, iri, literal, type Properties } from './graph.ts';

/** A field, or a path that is written already, as a reference; undefined: the record does not lead there. */
export type WriteReference = (read: FieldRef | string) => string | undefined;

export interface Term {
  readonly value: Expression;
  readonly termType: TermType;
  readonly datatype?: string | undefined;
  readonly language?: string | undefined;
}

const TERM_TYPES: Readonly<Record<TermType, Individual>> = {
  iri: 'IRI',
  uri: 'URI',
  'unsafe-iri': 'UnsafeIRI',
  'unsafe-uri': 'UnsafeURI',
  blank: 'BlankNode',
  literal: 'Literal',
};

/** The constant itself; undefined: the term is none. */
export function constantOf({ value, termType, datatype, language }: Term): RdfTerm | undefined {
  if (value.kind !== 'constant') return undefined;
  return termType === 'literal' ? literal(value.value, { datatype, language }) : iri(value.value);
}

/** Thrown where a record does not lead to a field; `print` says so at its element. The message says what to do. */
export class OutOfReach extends Error {}

const NO_WAY = 'it reads a field that its records do not lead to: use fields of one level';

/** The properties of a term map. @param isObject its default is a literal for what is no template */
export function termProperties(writer: GraphWriter, term: Term, reference: WriteReference, isObject: boolean): Properties {
  const { value, termType, datatype, language } = term;
  const constant = constantOf(term);
  if (constant !== undefined)
    return [
      ['constant', constant],
      ['termType', termType === 'literal' || termType === 'iri' ? undefined : individual(TERM_TYPES[termType])],
    ];
  const isText = value.kind === 'field' || value.kind === 'written' || value.kind === 'call';
  const usual: TermType = isObject && (isText || datatype !== undefined || language !== undefined) ? 'literal' : 'iri';
  return [
    ...expressionProperties(writer, value, reference),
    ['termType', termType === usual ? undefined : individual(TERM_TYPES[termType])],
    ['datatype', datatype === undefined ? undefined : iri(datatype)],
    ['language', language === undefined ? undefined : literal(language)],
  ];
}

/** The properties of an expression map. */
export function expressionProperties(writer: GraphWriter, value: Expression, reference: WriteReference): Properties {
  const written = (read: FieldRef | string): string => {
    const text = reference(read);
    if (text === undefined) throw new OutOfReach(NO_WAY);
    return text;
  };
  switch (value.kind) {
    case 'constant':
      return [['constant', literal(value.value)]];
    case 'field':
      return [['reference', literal(written(value.ref))]];
    case 'written':
      return [['reference', literal(written(value.text))]];
    case 'template': {
      const text = value.parts.map((part) => (typeof part === 'string' ? escaped(part) : `{${escaped(written(part))}}`)).join('');
      return [['template', literal(text)]];
    }
    case 'fresh':
      return [];
    case 'call': {
      const inputs = value.arguments.map(({ parameter, value: given }) =>
        writer.blank([
          ['parameter', iri(parameter)],
          given.kind === 'constant'
            ? ['inputValue', literal(given.value)]
            : ['inputValueMap', writer.blank(expressionProperties(writer, given, reference))],
        ]),
      );
      const execution = writer.blank([['function', iri(value.function)], ...inputs.map((input) => ['input', input] as const)]);
      return [
        ['functionExecution', execution],
        ['return', value.returns === undefined ? undefined : iri(value.returns)],
      ];
    }
  }
}

const escaped = (text: string): string => text.replace(/[{}\\]/g, '\\$&');
