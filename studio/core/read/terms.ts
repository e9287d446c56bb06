/** Term maps of the normal form → expressions and terms of a document. What the canvas does not draw has a reason. */
import type * as Normal from '../../../src/mapping/model/model.ts';
import { isLanguageTag } from '../../../src/mapping/vocabulary/language-tag.ts';
import type { Expression, FieldRef, Id, Path, TermType } from '../document.ts';
import { isAbsoluteIri } from '../elements/iris.ts';
import type { ReadPath } from './paths.ts';

/** Why something is kept as text. */
export class Undrawn {
  readonly reason: string;

  constructor(reason: string) {
    this.reason = reason;
  }
}

/** What references are relative to. */
export interface Scope {
  readonly input: Id;
  readonly iterator: Path;
  readonly path: ReadPath;
  /** Where IRIs that the text writes without a scheme begin; undefined: the text declares a base. */
  readonly relative: string | undefined;
}

export interface Term {
  readonly value: Expression;
  readonly termType: TermType;
  readonly datatype?: string;
  readonly language?: string;
}

const XSD_STRING = 'http://www.w3.org/2001/XMLSchema#string';

export function readTerm(map: Normal.TermMap, scope: Scope): Term | Undrawn {
  if (map.gather !== undefined) return new Undrawn('a list or container');
  if ((map.targets?.length ?? 0) > 0) return new Undrawn('a logical target');
  const { expression, termType } = map;
  const value = readExpression(expression, scope);
  if (value instanceof Undrawn) return value;
  const language = map.language === undefined ? ofConstant(expression).language : constantOf(map.language);
  const datatype = map.datatype === undefined ? ofConstant(expression).datatype : constantOf(map.datatype.expression);
  if (map.datatype !== undefined && (map.datatype.targets?.length ?? 0) > 0) return new Undrawn('a logical target');
  if (map.language !== undefined && language === undefined) return new Undrawn('a language that is not constant');
  if (map.datatype !== undefined && datatype === undefined) return new Undrawn('a datatype that is not constant');
  if (datatype !== undefined && !isAbsoluteIri(datatype)) return new Undrawn('an IRI that is not absolute');
  if (language !== undefined && !isLanguageTag(language)) return new Undrawn('a language that is no tag');
  return { value, termType, ...(language !== undefined ? { language } : datatype !== undefined && { datatype }) };
}

/** The language or datatype of a constant literal. */
function ofConstant(expression: Normal.Expression): { readonly language?: string; readonly datatype?: string } {
  if (expression.kind !== 'constant' || expression.term.kind !== 'literal') return {};
  const { language, datatype } = expression.term;
  if (language !== undefined) return { language };
  return datatype === XSD_STRING ? {} : { datatype };
}

export const constantOf = (expression: Normal.Expression): string | undefined =>
  expression.kind === 'constant' ? expression.term.value : undefined;

export function readExpression(expression: Normal.Expression, scope: Scope): Expression | Undrawn {
  switch (expression.kind) {
    case 'constant': {
      const { kind, value } = expression.term;
      if (kind === 'blank') return new Undrawn('a constant blank node');
      if (kind === 'iri' && scope.relative !== undefined && value.startsWith(scope.relative)) return new Undrawn('a relative IRI');
      return { kind: 'constant', value };
    }
    case 'reference': {
      const ref = fieldOf(expression.reference, scope);
      return ref === undefined ? { kind: 'written', text: expression.reference } : { kind: 'field', ref };
    }
    case 'template': {
      const parts = expression.parts.map((part) => (part.kind === 'text' ? part.text : fieldOf(part.reference, scope)));
      if (parts.some((part) => part === undefined)) return new Undrawn('a template with a path that is not drawn');
      return { kind: 'template', parts: parts as (string | FieldRef)[] };
    }
    case 'fresh':
      return { kind: 'fresh' };
    case 'call':
      return readCall(expression, scope);
    case 'conditional':
      return new Undrawn('a condition');
  }
}

function fieldOf(reference: string, { input, path }: Scope): FieldRef | undefined {
  const steps = path(reference);
  return steps === undefined ? undefined : { input, path: steps };
}

function readCall({ execution, returns }: Extract<Normal.Expression, { kind: 'call' }>, scope: Scope): Expression | Undrawn {
  const given: { parameter: string; value: Expression }[] = [];
  for (const { parameter, value } of execution.inputs) {
    const read = readExpression(value, scope);
    if (read instanceof Undrawn) return read;
    if (value.kind === 'constant' && value.term.kind !== 'literal') return new Undrawn('an argument that is an IRI');
    if (value.kind === 'constant' && Object.keys(ofConstant(value)).length > 0)
      return new Undrawn('an argument with a datatype or language');
    given.push({ parameter, value: read });
  }
  return { kind: 'call', function: execution.function, arguments: given, ...(returns !== undefined && { returns }) };
}
