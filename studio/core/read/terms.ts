/** Term maps of the normal form → expressions and terms of a document. What the canvas does not draw has a reason. */
import type * as Normal from '../../../src/mapping/model/model.ts';
import { isLanguageTag } from '../../../src/mapping/vocabulary/language-tag.ts';
import type { Expression, FieldRef, Id, Path, TermType } from '../document.ts';
import { isAbsoluteIri } from '../elements/iris.ts';
import { isRandom } from '../elements/random.ts';
import { samePath } from '../levels.ts';
import type { ReadPath } from './paths.ts';
import { Undrawn } from './undrawn.ts';
import type { ViewNames } from './views.ts';

/** What references are relative to. */
export interface Scope {
  readonly input: Id;
  readonly iterator: Path;
  readonly path: ReadPath;
  /** Of a logical view: references are names of its fields. */
  readonly names: ViewNames | undefined;
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
      if (ref !== undefined) return { kind: 'field', ref };
      const text = writtenAt(expression.reference, scope);
      return text === undefined ? new Undrawn('a field of a logical view that is not drawn') : { kind: 'written', text };
    }
    case 'template': {
      const parts = expression.parts.map((part) => (part.kind === 'text' ? part.text : fieldOf(part.reference, scope)));
      if (parts.some((part) => part === undefined)) return new Undrawn('a template with a path that is not drawn');
      return { kind: 'template', parts: parts as (string | FieldRef)[] };
    }
    case 'fresh':
      return scope.names === undefined ? { kind: 'fresh' } : new Undrawn('a blank node for each row of a logical view');
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

/** A path that is written out, from the records of the triples map. */
function writtenAt(reference: string, { names, iterator }: Scope): string | undefined {
  if (names === undefined) return reference;
  const found = names.written.get(reference);
  return found !== undefined && samePath(found.within, iterator) ? found.text : undefined;
}

function readCall({ execution, returns }: Extract<Normal.Expression, { kind: 'call' }>, scope: Scope): Expression | Undrawn {
  if (scope.names !== undefined && isRandom(execution.function)) return new Undrawn('a random value for each row of a logical view');
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
