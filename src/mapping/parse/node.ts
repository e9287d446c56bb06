/**
 * A node of the mapping in the role that the property leading to it gives it.
 *
 * Every statement of a node in an RML namespace is checked here, once per role: unknown terms, misplaced terms, and terms of features that
 * are not supported yet.
 */
import { didYouMean } from '../../core/nearest.ts';
import type { CustomFunctions } from '../../functions/definition.ts';
import type { Report } from '../model/diagnostics.ts';
import { type Graph, nodeId, type Statement } from '../model/graph.ts';
import {
  type FunctionExecution,
  formatOrigin,
  type LogicalSource,
  type LogicalTarget,
  type LogicalView,
  type Origin,
  type RdfTerm,
  type TriplesMap,
} from '../model/model.ts';
import { type KnownTerm, localName, lookUp, shorten } from '../vocabulary/namespaces.ts';
import type { Prefixes } from '../vocabulary/near-namespaces.ts';
import { CLASSES, type Class, HARMLESS, type NodeRole, PROPERTIES, type Property } from '../vocabulary/vocabulary.ts';
import { unquoted } from './slips.ts';

const RDF = 'http://www.w3.org/1999/02/22-rdf-syntax-ns#';
export const RDF_TYPE = `${RDF}type`;

/** An XPath expression of a mapping. */
export interface XPathUse {
  readonly expression: string;
  readonly origin: Origin;
  readonly namespaces: Readonly<Record<string, string>>;
}

/** Shared state of reading a mapping. */
export interface Context {
  readonly graph: Graph;
  readonly report: Report;
  /** Functions beside the built-in ones. */
  readonly functions: CustomFunctions | undefined;
  readonly prefixes: Prefixes;
  /** Ids of the nodes that were read in some role; the others are checked for unknown terms at the end. */
  readonly visited: Set<string>;
  /** Function executions by node id. */
  readonly executions: Map<string, FunctionExecution | 'reading' | 'invalid'>;
  /** Ids of the maps that are being read as members of a gather map. */
  readonly gathering: Set<string>;
  /** Logical views by node id. */
  readonly views: Map<string, LogicalView | 'reading' | 'invalid'>;
  /** Logical targets by node id; undefined: not valid. */
  readonly targets: Map<string, LogicalTarget | undefined>;
  /** XPath expressions that only the XPath library can check. */
  readonly xpaths: XPathUse[];
  /** Whether an expression has regular expressions. */
  hasRegExps: boolean;
  /** Sources and views whose own expressions have been checked. */
  readonly checked: Set<LogicalSource | LogicalView>;
  /** Views with structural annotations, which are read after all views: they may name any of them. */
  readonly annotated: { readonly view: LogicalView; readonly annotations: readonly Statement[] }[];
  /** The triples map that is read. `source`: what its references refer to; undefined: not valid. */
  reading: Pick<TriplesMap, 'id' | 'dialect' | 'baseIri'> & { readonly source: LogicalSource | LogicalView | undefined };
  /** Triples maps that no node describes, by id: those of functions whose arguments come from another logical source. */
  readonly madeMaps: Map<string, TriplesMap>;
}

export interface MappingNode {
  readonly id: string;
  readonly role: NodeRole;
  /** Where the node is described, or where it is named if it has no description. */
  readonly origin: Origin;
  /** False when one of its statements was reported: a missing property may then be the reported one. */
  readonly valid: boolean;
  readonly classes: ReadonlySet<Class>;
  /** The statements of a property, in document order. */
  all(property: Property): readonly Statement[];
}

/** `a triples map`, `an object map`. */
export const withArticle = (role: NodeRole): string => `${/^[aeiou]/.test(role) ? 'an' : 'a'} ${role}`;

const UNDEFINED_HINT = 'correct the IRI, or give the document that describes it as a mapping, too';

/** The node that a statement points to; undefined, with a diagnostic, for a literal and for an IRI without a description. */
export function nodeOf(context: Context, statement: Statement, role: NodeRole): MappingNode | undefined {
  const { graph, report } = context;
  const id = nodeId(statement.object);
  if (id === undefined) {
    const found = describeTerm(statement.object);
    report.error(
      'wrong-value',
      statement.origin,
      `${shorten(statement.property)} leads to ${withArticle(role)}, found ${found}`,
      unquoted(context, statement.object, statement.origin),
    );
    return undefined;
  }
  if (!graph.has(id) && statement.object.kind === 'iri') {
    const near = didYouMean(shorten(id), [...graph.keys()].filter((other) => !other.startsWith('_:')).map(shorten), localName);
    report.error(
      'undefined-node',
      statement.origin,
      `nothing is said about ${shorten(id)}, which should be ${withArticle(role)}`,
      near ?? UNDEFINED_HINT,
    );
    return undefined;
  }
  return readNode(context, id, role, statement.origin);
}

/** Whether a statement points to a node with a property. */
export const leadsToNodeWith = ({ graph }: Context, { object }: Statement, name: Property): boolean =>
  graph.get(nodeId(object) ?? '')?.statements.some(({ property }) => lookUp('properties', property)?.name === name) ?? false;

/** The id of the triples map that a statement such as `rml:parentTriplesMap <…>` points to; undefined, with a diagnostic, for a literal. */
export function triplesMapOf(context: Context, statement: Statement): string | undefined {
  const { property, object, origin } = statement;
  const id = nodeId(object);
  if (id === undefined) {
    const message = `${shorten(property)} leads to a triples map, found ${describeTerm(object)}`;
    context.report.error('wrong-value', origin, message, unquoted(context, object, origin) ?? 'write an IRI in <…>');
  }
  return id;
}

/** Reads a node by its id and checks it in its role. */
export function readNode(context: Context, id: string, role: NodeRole, named: Origin): MappingNode {
  const { graph, report, visited } = context;
  visited.add(id);
  const node = graph.get(id);
  const before = report.errors;
  const properties = new Map<Property, Statement[]>();
  const classes = new Set<Class>();
  for (const statement of node?.statements ?? []) {
    if (statement.property === RDF_TYPE) {
      const name = checkClass(report, statement, role);
      if (name !== undefined) classes.add(name);
      continue;
    }
    const property = checkProperty(report, statement, role);
    if (property === undefined) continue;
    const statements = properties.get(property);
    if (statements === undefined) properties.set(property, [statement]);
    else statements.push(statement);
  }
  return {
    id,
    role,
    origin: node?.origin ?? named,
    valid: report.errors === before,
    classes,
    all: (property) => properties.get(property) ?? [],
  };
}

/** The property of a statement if it is one of the vocabulary that may occur here. Reports those that may not. */
function checkProperty(report: Report, statement: Statement, role: NodeRole): Property | undefined {
  const term = lookUp('properties', statement.property);
  if (term === undefined) return undefined;
  if (term.name === undefined) {
    reportUnknownProperty(report, term, statement.propertyOrigin);
    return undefined;
  }
  const roles: readonly NodeRole[] = PROPERTIES[term.name];
  reportOlder(report, term, statement.propertyOrigin);
  if (statement.object.kind === 'iri') reportOlder(report, lookUp('individuals', statement.object.value), statement.origin);
  if (!roles.includes(role)) {
    const harmless: readonly NodeRole[] = HARMLESS[term.name] ?? [];
    if (term.dialect !== 'rml' && harmless.includes(role)) {
      const hint = `remove it: it belongs on ${listOf(roles)}`;
      report.warning('misplaced-term', statement.propertyOrigin, `${term.short} has no effect on ${withArticle(role)}`, hint);
      return undefined;
    }
    const message = `${term.short} does not belong on ${withArticle(role)}`;
    report.error('misplaced-term', statement.propertyOrigin, message, `it belongs on ${listOf(roles)}`);
    return undefined;
  }
  return term.name;
}

/** Expressions have many roles. */
const listOf = (roles: readonly NodeRole[]): string =>
  roles.length > 8 ? 'a term map or another expression map' : orList(roles.map(withArticle));

function checkClass(report: Report, statement: Statement, role: NodeRole): Class | undefined {
  if (statement.object.kind !== 'iri') return undefined;
  const term = lookUp('classes', statement.object.value);
  if (term === undefined) return undefined;
  if (term.name === undefined) {
    reportUnknownClass(report, term, statement);
    return undefined;
  }
  const roles: readonly NodeRole[] = CLASSES[term.name];
  if (roles.length > 0 && !roles.includes(role)) {
    // A class has no effect on the mapping, so a wrong one gives a warning, not an error.
    report.warning('misplaced-term', statement.origin, `${term.short} is not ${withArticle(role)}, as which this node is used`);
  }
  return term.name;
}

/** Reports unknown terms on nodes to which no known property leads, for example because that property is misspelt. */
export function checkUnvisited({ graph, report, visited }: Context): void {
  for (const node of graph.values()) {
    if (visited.has(node.id)) continue;
    for (const statement of node.statements) {
      const isClass = statement.property === RDF_TYPE && statement.object.kind === 'iri';
      const term = isClass ? lookUp('classes', statement.object.value) : lookUp('properties', statement.property);
      if (term === undefined || term.name !== undefined) continue;
      // An individual such as rml:CSV is named, not described; a vocabulary file that describes it is fine.
      if (isClass && lookUp('individuals', statement.object.value)?.name !== undefined) continue;
      if (isClass) reportUnknownClass(report, term, statement);
      else reportUnknownProperty(report, term, statement.propertyOrigin);
    }
  }
}

function reportUnknownProperty(report: Report, { short, elsewhere, others }: KnownTerm<unknown>, origin: Origin): void {
  if (elsewhere === undefined) reportUnknown(report, 'property', short, origin, others());
  else report.error('unknown-term', origin, `there is no property ${short}`, elsewhere);
}

/** Legacy mappings contain invented classes (`rr:Subject`), which have no effect. */
function reportUnknownClass(report: Report, term: KnownTerm<unknown>, { origin }: Statement): void {
  const isMisspelt = term.others().some((other) => other.toLowerCase() === term.short.toLowerCase());
  if (term.dialect === 'rml' && !isMisspelt) {
    reportUnknown(report, 'class', term.short, origin, term.others());
    return;
  }
  const hint = didYouMean(term.short, term.others(), localName) ?? 'remove it: it has no effect';
  report.warning('unknown-term', origin, `there is no class ${term.short}`, hint);
}

function reportOlder(report: Report, term: KnownTerm<unknown> | undefined, origin: Origin): void {
  if (term?.instead !== undefined) report.warning('older-term', origin, `${term.short} is not a current term`, `write ${term.instead}`);
}

/** Reports an IRI in an RML namespace that is not a term; `otherwise` is the hint if no term is near. */
export function reportUnknown(
  report: Report,
  kind: string,
  short: string,
  origin: Origin,
  others: readonly string[],
  otherwise?: string,
): void {
  report.error('unknown-term', origin, `there is no ${kind} ${short}`, didYouMean(short, others, localName) ?? otherwise);
}

/** For people: the last segment of the IRI, or the line in the document. */
export function nameOfNode({ id, origin }: MappingNode): string {
  const segment = id.startsWith('_:') ? undefined : /[^/#]+(?=[/#]*$)/.exec(id)?.[0];
  return segment ?? `${origin.document.split(/[/\\]/).at(-1)}:${origin.line}`;
}

/** The only statement with one of `properties`; further ones are reported. */
export function only(context: Context, node: MappingNode, ...properties: readonly Property[]): Statement | undefined {
  const found = properties.flatMap((property) => node.all(property));
  // With several properties, the first statement in document order wins.
  const inOrder = found.length > 1 ? context.graph.get(node.id)?.statements.filter((statement) => found.includes(statement)) : found;
  const [first, second] = inOrder ?? found;
  if (first !== undefined && second !== undefined) {
    const names = [...new Set([shorten(first.property), shorten(second.property)])];
    const message = names.length === 1 ? `a second ${names[0]}` : `${names[1]} beside ${names[0]}`;
    context.report.error(
      'too-many',
      second.origin,
      `${message} on one ${node.role}, which may have one of them`,
      first.origin.document === second.origin.document
        ? `the other is on line ${first.origin.line}`
        : `the other is ${formatOrigin(first.origin)}`,
    );
  }
  return first;
}

/**
 * The items of the list that a statement leads to, in order; undefined, with a diagnostic, for what is no list.
 *
 * @param expected what the statement takes, for the diagnostic
 */
export function readList(
  { graph, report, visited }: Context,
  list: Statement,
  expected = 'a list',
  hint = 'write its items in parentheses',
): readonly Statement[] | undefined {
  const items: Statement[] = [];
  const passed = new Set<string>();
  for (let { object } = list; !(object.kind === 'iri' && object.value === `${RDF}nil`); ) {
    const id = nodeId(object);
    const statements = graph.get(id ?? '')?.statements ?? [];
    const [first, ...others] = statements.filter(({ property }) => property === `${RDF}first`);
    const [rest, ...ends] = statements.filter(({ property }) => property === `${RDF}rest`);
    if (id === undefined || passed.has(id) || first === undefined || rest === undefined || others.length + ends.length > 0) {
      const message = `${shorten(list.property)} takes ${expected}, found ${describeTerm(list.object)}`;
      report.error('wrong-value', list.origin, message, hint);
      return undefined;
    }
    passed.add(id);
    visited.add(id);
    items.push(first);
    ({ object } = rest);
  }
  return items;
}

/** The text of a literal; undefined, with a diagnostic, for anything else. */
export function literalText(context: Context, statement: Statement, expected: string): string | undefined {
  if (statement.object.kind === 'literal') return statement.object.value;
  const message = `${shorten(statement.property)} takes ${expected}, found ${describeTerm(statement.object)}`;
  context.report.error('wrong-value', statement.origin, message, 'write it in quotes');
  return undefined;
}

export function describeTerm(term: RdfTerm): string {
  switch (term.kind) {
    case 'iri':
      return shorten(term.value);
    case 'blank':
      return 'a blank node';
    case 'literal':
      return `the text ${JSON.stringify(term.value.length > 60 ? `${term.value.slice(0, 60)}…` : term.value)}`;
  }
}

/** `a, b or c`. */
export const orList = (items: readonly string[]): string =>
  items.length < 2 ? (items[0] ?? '') : `${items.slice(0, -1).join(', ')} or ${items.at(-1)}`;
