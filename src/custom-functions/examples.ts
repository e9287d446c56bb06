/** Tries the examples of a description. */
import { excerpt, Fault } from '../core/fault.ts';
import { fromBytes, toBytes } from '../core/text.ts';
import type { Values } from '../core/value.ts';
import { compileCall, type Read } from '../functions/compile.ts';
import type { Example, ExampleValue, FunctionDefinition } from '../functions/definition.ts';

/** @throws Fault functions/invalid — the message lists every example that gives something else, or fails */
export function tryExamples(definitions: readonly FunctionDefinition[]): void {
  const wrong = definitions.flatMap((definition) => definition.examples.flatMap((example) => problemOf(definition, example) ?? []));
  if (wrong.length > 0) throw new Fault('functions/invalid', wrong.join('\n'));
}

function problemOf(definition: FunctionDefinition, { given, gives }: Example): string | undefined {
  const call = `${definition.name}(${given.map(shown).join(', ')})`;
  const args = new Map(definition.parameters.map(({ iri }, i): [string, Read] => [iri, constantRead(given[i])]));
  try {
    const found = textsOf(compileCall(definition, args, undefined)(undefined, 0));
    const wanted = [gives].flat().flatMap((one) => (one === null || one === undefined ? [] : [String(one)]));
    if (found.length === wanted.length && found.every((text, i) => text === wanted[i])) return undefined;
    return `The example ${call} gives ${shown(found)}, and ${shown(wanted)} is expected`;
  } catch (error) {
    return `The example ${call} fails: ${Fault.of(error).message}`;
  }
}

const constantRead = (given: ExampleValue): Read => {
  const texts = [given].flat().flatMap((one) => (one === null || one === undefined ? [] : [toBytes(String(one))]));
  return () => (texts.length === 0 ? null : texts);
};

const textsOf = (values: Values): readonly string[] =>
  (values === null ? [] : [values].flat()).map((value) => fromBytes(typeof value === 'string' ? value : value.text));

function shown(value: ExampleValue): string {
  if (value === null || value === undefined) return 'nothing';
  if (!Array.isArray(value)) return excerpt(String(value));
  return value.length === 0 ? 'nothing' : value.map((one) => excerpt(String(one))).join(', ');
}
