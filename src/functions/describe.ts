/** The functions as FnO descriptions in Turtle. @see https://w3id.org/function/spec */
import type { FunctionDefinition, Parameter, ParameterType, Return, ReturnType } from './definition.ts';
import { NAMESPACES, shortName } from './names.ts';

const PREFIXES: Readonly<Record<string, string>> = {
  dcterms: 'http://purl.org/dc/terms/',
  fno: 'https://w3id.org/function/ontology#',
  rdfs: 'http://www.w3.org/2000/01/rdf-schema#',
  owl: 'http://www.w3.org/2002/07/owl#',
  xsd: 'http://www.w3.org/2001/XMLSchema#',
  ...NAMESPACES,
};

const TYPES: Readonly<Record<ReturnType | ParameterType, string>> = {
  string: 'xsd:string',
  integer: 'xsd:integer',
  number: 'xsd:decimal',
  boolean: 'xsd:boolean',
  date: 'xsd:date',
  dateTime: 'xsd:dateTime',
  list: 'rdf:List',
  any: 'rdfs:Resource',
  lazy: 'rdfs:Resource',
};

/** A Turtle document with every function, and each parameter and return once. */
export function describeFunctions(definitions: readonly FunctionDefinition[]): string {
  const uses = new Map<string, Parameter[]>();
  for (const parameter of definitions.flatMap(({ parameters }) => parameters)) {
    uses.set(parameter.iri, [...(uses.get(parameter.iri) ?? []), parameter]);
  }
  const returns = new Map(definitions.flatMap((definition) => definition.returns.map((one) => [one.iri, one] as const)));
  const prefixes = Object.entries(PREFIXES).map(([prefix, namespace]) => `@prefix ${prefix}: <${namespace}> .`);
  return [
    prefixes.join('\n'),
    ...definitions.map(functionTurtle),
    ...[...uses.values()].map(parameterTurtle),
    ...[...returns.values()].map(returnTurtle),
    '',
  ].join('\n\n');
}

type Property = readonly [name: string, value: string];

function functionTurtle(definition: FunctionDefinition): string {
  const { iri, name, does, parameters, returns, aliases } = definition;
  return subject(iri, 'fno:Function', name.slice(name.indexOf(':') + 1), [
    ['dcterms:description', literal(does)],
    ['fno:expects', list(parameters.map((one) => shortName(one.iri)))],
    ['fno:returns', list(returns.map((one) => shortName(one.iri)))],
    ...(aliases.length === 0 ? [] : [['owl:sameAs', aliases.map(shortName).join(', ')] as const]),
  ]);
}

/** From what says most to what says least: a function may take a parameter more freely than another. */
const STRICTEST: readonly ParameterType[] = ['boolean', 'integer', 'number', 'list', 'string', 'any'];

/** One parameter as all functions have it that share it. */
function parameterTurtle(uses: readonly Parameter[]): string {
  const first = uses[0] as Parameter;
  const type = STRICTEST.find((one) => uses.some((use) => use.type === one)) ?? first.type;
  const isRequired = uses.every(({ needs }) => needs === 'value' || needs === 'argument');
  return subject(first.iri, 'fno:Parameter', first.name, [
    ['fno:predicate', predicateOf(first)],
    ['fno:type', TYPES[type]],
    ['fno:required', `"${isRequired}"^^xsd:boolean`],
  ]);
}

function returnTurtle(one: Return): string {
  return subject(one.iri, 'fno:Output', one.name, [
    ['fno:predicate', predicateOf(one)],
    ['fno:type', TYPES[one.type]],
  ]);
}

function subject(iri: string, type: string, name: string, properties: readonly Property[]): string {
  const all: readonly Property[] = [['a', type], ['fno:name', literal(name)], ['rdfs:label', literal(name)], ...properties];
  return `${shortName(iri)}\n${all.map(([property, value]) => `  ${property} ${value}`).join(' ;\n')} .`;
}

/** The name that an execution gives the value by: GREL and IDLab have one beside that of the parameter. */
function predicateOf({ iri, aliases }: { readonly iri: string; readonly aliases: readonly string[] }): string {
  const namespace = iri.slice(0, Math.max(iri.lastIndexOf('#'), iri.lastIndexOf('/')) + 1);
  return shortName(aliases.find((alias) => alias.startsWith(namespace)) ?? iri);
}

const list = (names: readonly string[]): string => (names.length === 0 ? '()' : `( ${names.join(' ')} )`);
const literal = (text: string): string => `"${text.replace(/["\\]/g, '\\$&').replaceAll('\n', '\\n')}"`;
