/**
 * Functions: executions in today's vocabulary, and function values in that of FNML.
 *
 * @see https://kg-construct.github.io/rml-fnml/spec/docs/
 */
import { Fault } from '../../core/fault.ts';
import { splitSheet } from '../../core/input/formats.ts';
import { hasScheme } from '../../core/text.ts';
import type { FunctionDefinition } from '../../functions/definition.ts';
import { functionLibrary } from '../../functions/library.ts';
import type { Report } from '../model/diagnostics.ts';
import { nodeId, type Statement } from '../model/graph.ts';
import type { Expression, FileSource, FunctionExecution, FunctionInput, Origin } from '../model/model.ts';
import { shorten } from '../vocabulary/namespaces.ts';
import type { NodeRole, Property } from '../vocabulary/vocabulary.ts';
import { type Context, describeTerm, type MappingNode, nodeOf, only, orList, withArticle } from './node.ts';
import { checkPrefix, unquoted } from './slips.ts';
import { readsOtherRecords } from './source/logical-source.ts';

type Call = Extract<Expression, { kind: 'call' }>;

/** Expressions hold calls, and calls hold expressions: the reader of expressions passes itself to that of calls. */
export interface ExpressionReader {
  /** The expression map of a statement such as `rml:inputValueMap`. */
  map(context: Context, statement: Statement, role: NodeRole): Expression | undefined;
  /** The constant of a statement; `map`: the property that takes a node. */
  constant(context: Context, statement: Statement, map: string | undefined): Extract<Expression, { kind: 'constant' }> | undefined;
}

/** The call that `rml:functionExecution` or `fnml:functionValue` makes of an expression map. */
export function readCall(
  context: Context,
  node: MappingNode,
  statement: Statement,
  property: 'functionExecution' | 'functionValue',
  reader: ExpressionReader,
): Call | undefined {
  const { report, executions } = context;
  const before = report.errors;
  const id = nodeId(statement.object) ?? '';
  const known = executions.get(id);
  if (known === 'reading') {
    report.error('circle', statement.origin, `the function execution ${shorten(id)} is an argument of itself`);
    return undefined;
  }
  if (known === undefined) {
    executions.set(id, 'reading');
    executions.set(
      id,
      property === 'functionExecution' ? readExecution(context, statement, reader) : readFunctionValue(context, statement, reader),
    );
  }
  const execution = executions.get(id);
  const returns = iriOf(context, only(context, node, 'return', 'returnMap'), 'return map', reader);
  if (typeof execution !== 'object' || report.errors > before) return undefined;
  const call: Call = { kind: 'call', origin: statement.origin, execution, returns };
  return checkCall(context, call) ? call : undefined;
}

/** The call that `fnml:functionValue` makes of a join condition. */
export function readComparison(context: Context, statement: Statement, reader: ExpressionReader): Call | undefined {
  const execution = readFunctionValue(context, statement, reader);
  if (execution === 'invalid') return undefined;
  const call: Call = { kind: 'call', origin: statement.origin, execution, returns: undefined };
  return checkCall(context, call) ? call : undefined;
}

function readExecution(context: Context, statement: Statement, reader: ExpressionReader): FunctionExecution | 'invalid' {
  const { report } = context;
  const before = report.errors;
  const node = nodeOf(context, statement, 'function execution');
  if (node === undefined) return 'invalid';
  const named = only(context, node, 'function', 'functionMap');
  if (named === undefined && node.valid)
    report.error('missing-function', node.origin, 'a function execution names no function', 'add rml:function <…>');
  const iri = iriOf(context, named, 'function map', reader);
  const inputs = node.all('input').map((input) => readInput(context, input, reader));
  if (iri === undefined || !node.valid || report.errors > before) return 'invalid';
  return executionOf(
    context,
    node.origin,
    iri,
    inputs.filter((input) => input !== undefined),
  );
}

function executionOf(context: Context, origin: Origin, iri: string, inputs: readonly FunctionInput[]): FunctionExecution {
  const definition = definitionOf(context, iri);
  const deterministic = definition?.deterministic ?? true;
  return { origin, function: iri, deterministic, inputs: definition === undefined ? inputs : withTables(definition, inputs) };
}

/** Adds the table to the input that names its file. `checkCall` reports an argument that is missing or no constant. */
function withTables(definition: FunctionDefinition, inputs: readonly FunctionInput[]): readonly FunctionInput[] {
  const { parameterOf } = functionLibrary();
  const parts = new Map(
    inputs.flatMap(({ parameter, value }) => {
      const part = parameterOf(definition, parameter)?.ofTable;
      return part === undefined || value.kind !== 'constant' ? [] : [[part, value] as const];
    }),
  );
  const named = parts.get('file');
  if (named === undefined) return inputs;
  const delimiter = parts.get('delimiter')?.term.value;
  const csv = { headerRows: 0, ...(delimiter === undefined ? {} : { delimiter }) };
  const columnOf = (part: 'from' | 'to'): number => Number(parts.get(part)?.term.value);
  const file = { ...FILE, origin: named.origin, ...splitSheet(named.term.value), csv };
  const table = { file, from: columnOf('from'), to: columnOf('to') };
  return inputs.map((input) => (input.value === named ? { ...input, table } : input));
}

/** A file in which a function looks values up: all its rows are data. */
const FILE = {
  kind: 'file',
  ids: [],
  root: { kind: 'mapping' },
  formulation: 'csv',
  iterator: undefined,
  iteratorOrigin: undefined,
  nulls: [],
  encoding: undefined,
  compression: 'none',
  namespaces: {},
} as const satisfies Partial<FileSource>;

function readInput(context: Context, statement: Statement, reader: ExpressionReader): FunctionInput | undefined {
  const { report } = context;
  const node = nodeOf(context, statement, 'input');
  if (node === undefined) return undefined;
  const { origin } = node;
  const before = report.errors;
  const named = only(context, node, 'parameter', 'parameterMap');
  const given = only(context, node, 'inputValue', 'inputValueMap');
  if (named === undefined && node.valid) report.error('incomplete-input', origin, 'an input names no parameter', 'add rml:parameter <…>');
  if (given === undefined && node.valid)
    report.error('incomplete-input', origin, 'an input has no value', 'add rml:inputValueMap […] or rml:inputValue "…"');
  const parameter = iriOf(context, named, 'parameter map', reader);
  if (parameter === undefined || given === undefined || report.errors > before) return undefined;
  const value = given.property.endsWith('Map')
    ? reader.map(context, given, 'input value map')
    : reader.constant(context, given, 'rml:inputValueMap');
  return value === undefined ? undefined : { origin, parameter, value };
}

/** The IRI that a property such as `rml:function` names, or the constant of its map. */
function iriOf(context: Context, statement: Statement | undefined, role: NodeRole, reader: ExpressionReader): string | undefined {
  if (statement === undefined) return undefined;
  const { report } = context;
  const before = report.errors;
  const found = statement.property.endsWith('Map') ? reader.map(context, statement, role) : reader.constant(context, statement, undefined);
  if (found === undefined || report.errors > before) return undefined;
  if (found.kind === 'constant' && found.term.kind === 'iri') return found.term.value;
  const message =
    found.kind === 'constant'
      ? `${withArticle(role)} takes an IRI, found ${describeTerm(found.term)}`
      : `${withArticle(role)} must be constant, since calls are checked before any record is read`;
  const hint = found.kind === 'constant' ? unquoted(context, found.term, found.origin) : undefined;
  report.error('wrong-value', statement.origin, message, hint ?? 'write an IRI in <…>');
  return undefined;
}

// ---------------------------------------------------------------- FNML as it was

const FNO = ['https://w3id.org/function/ontology#', 'http://w3id.org/function/ontology#'];
const EXECUTES: ReadonlySet<string> = new Set(FNO.map((namespace) => `${namespace}executes`));

/** A triples map whose predicates are `fno:executes` and the parameters, and whose objects are the function and the arguments. */
function readFunctionValue(context: Context, statement: Statement, reader: ExpressionReader): FunctionExecution | 'invalid' {
  const { report } = context;
  const before = report.errors;
  const node = nodeOf(context, statement, 'function value');
  if (node === undefined) return 'invalid';
  const other = only(context, node, 'logicalSource');
  if (other !== undefined && readsOtherRecords(context, other) !== undefined)
    report.error(
      'not-supported',
      other.origin,
      'the arguments of a function come from another logical source, and the function is not that of an object map',
      'join the sources: rr:parentTriplesMap',
    );
  let iri: string | undefined;
  const inputs: FunctionInput[] = [];
  for (const pair of node.all('predicateObjectMap')) {
    const map = nodeOf(context, pair, 'predicate object map');
    if (map === undefined) continue;
    const parameter = iriOf(context, only(context, map, 'predicate', 'predicateMap'), 'predicate map', reader);
    if (parameter === undefined) {
      if (report.errors === before) report.error('incomplete-input', map.origin, 'an input names no parameter', 'add rr:predicate <…>');
      continue;
    }
    const values = valuesOf(context, map, reader);
    const [first] = values;
    if (!EXECUTES.has(parameter)) inputs.push(...values.map((value) => ({ origin: map.origin, parameter, value })));
    else if (first?.kind === 'constant' && (first.term.kind === 'iri' || hasScheme(first.term.value))) {
      const { term, origin } = first;
      if (term.kind === 'iri' || checkPrefix(context, term.value, origin) !== 'wrong') iri = term.value;
    } else report.error('wrong-value', map.origin, 'fno:executes takes the IRI of a function', 'write it in <…>');
  }
  if (iri === undefined && report.errors === before)
    report.error('missing-function', node.origin, 'a function value names no function', 'add a predicate object map for fno:executes');
  return iri === undefined || report.errors > before ? 'invalid' : executionOf(context, node.origin, iri, inputs);
}

function valuesOf(context: Context, map: MappingNode, reader: ExpressionReader): readonly Expression[] {
  const read = (property: Property): readonly Statement[] => map.all(property);
  return [
    ...read('objectMap').map((statement) => reader.map(context, statement, 'object map')),
    ...read('object').map((statement) => reader.constant(context, statement, 'rr:objectMap')),
  ].filter((value) => value !== undefined);
}

// ---------------------------------------------------------------- checks

/**
 * Whether the parameters take the constants that they are given: what one cannot take would reject every record. And whether those that take
 * constants alone are given one.
 */
function checkConstants(report: Report, definition: FunctionDefinition, inputs: readonly FunctionInput[]): boolean {
  const { constantProblem, parameterOf, shortName } = functionLibrary();
  const before = report.errors;
  for (const { parameter, value } of inputs) {
    if (value.kind !== 'constant') {
      if (parameterOf(definition, parameter)?.ofTable === undefined) continue;
      const message = `${definition.name} takes ${shortName(parameter)} as a constant: a run reads the file before its first record`;
      report.error('invalid-call', value.origin, message, JOIN_INSTEAD);
      continue;
    }
    const problem = constantProblem(definition, parameter, value.term.value);
    if (problem === undefined) continue;
    const hint = problem.hint === undefined ? undefined : asDiagnostic(problem.hint);
    report.error(
      'invalid-call',
      value.origin,
      `${definition.name} cannot take this ${shortName(parameter)}: ${asDiagnostic(problem.message)}`,
      hint,
    );
  }
  return report.errors === before;
}

const definitionOf = (context: Context, iri: string): FunctionDefinition | undefined =>
  context.functions?.find(iri) ?? functionLibrary().findFunction(iri);

const JOIN_INSTEAD =
  'write the constant. Where it depends on the record, make the file the logical source of another triples map, and join it by rr:parentTriplesMap';

/** A fault is a sentence, a diagnostic is not. */
const asDiagnostic = (sentence: string): string => sentence.charAt(0).toLowerCase() + sentence.slice(1).replace(/\.$/, '');

/** Functions of IDLab that read files or call servers, and what does the same here. */
const READING: ReadonlyMap<string, string> = new Map([
  [
    'idlab-fn:multipleLookup',
    'it reads a CSV file, and compares several columns: make the file the logical source of another triples map, and join it by rr:parentTriplesMap with several conditions',
  ],
  ['idlab-fn:readFile', 'it reads a file, and functions read none: make the file a logical source'],
  ['idlab-fn:dbpediaSpotlight', 'it calls a server, and functions call none: a custom function in Java can (docs/custom-functions.md)'],
]);

/** Whether there is such a function, with such parameters and results. */
function checkCall(context: Context, { origin, execution, returns }: Call): boolean {
  const { report } = context;
  const { compileCall, shortName, suggestFunctions } = functionLibrary();
  const definition = definitionOf(context, execution.function);
  if (definition === undefined) {
    const name = shortName(execution.function);
    const near = suggestFunctions(execution.function, context.functions?.definitions);
    const others = near.length === 0 ? 'docs/functions.md lists all functions' : `did you mean ${orList(near)}?`;
    report.error('unknown-function', execution.origin, `there is no function ${name}`, READING.get(name) ?? others);
    return false;
  }
  try {
    const given = new Map<string, (() => null)[]>();
    for (const { parameter } of execution.inputs) given.set(parameter, [...(given.get(parameter) ?? []), () => null]);
    compileCall(definition, given, returns);
    if (definition.parameters.some(({ isPattern }) => isPattern)) context.hasRegExps = true;
    return checkConstants(report, definition, execution.inputs);
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    report.error('invalid-call', origin, asDiagnostic(error.message), error.hint === undefined ? undefined : asDiagnostic(error.hint));
    return false;
  }
}
