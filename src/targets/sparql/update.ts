/** Request bodies for stores: N-Quads and SPARQL Update. One-byte UTF-8 text, like the terms of `Statement`. */
import { Fault } from '../../core/fault.ts';
import { fromBytes } from '../../core/text.ts';
import type { Statement } from '../../nquads/statement.ts';
import { isTripleTerm, termsOfQuoted } from '../../nquads/terms.ts';
import type { UpdateScope } from '../target.ts';
import type { SparqlProduct } from './products.ts';

/** The statements as lines. `graph` replaces the graph of each. */
export function nquads(statements: readonly Statement[], graph?: string): string {
  const labels = new Map<string, string>();
  let lines = '';
  for (const { subject, predicate, object, graph: own } of statements) {
    const name = relabel(graph ?? own, labels);
    lines += `${relabel(subject, labels)} ${predicate} ${relabel(object, labels)}${name === '' ? '' : ` ${name}`} .\n`;
  }
  return lines;
}

/**
 * INSERT DATA of the statements; several operations, separated by `;`, if the product limits their size.
 *
 * @param where a pattern without variables: the statements are inserted if it matches. They have no blank nodes then
 * @throws Fault target/refused — not expressible in SPARQL
 */
export function insertData(statements: readonly Statement[], product: SparqlProduct, graph?: string, where?: string): string {
  const labels = new Map<string, string>();
  const operations = dataOperations(statements, product, (from, to) => {
    const data = quadData(statements, from, to, product, labels, (own) => graphName(graph ?? own, product));
    return where === undefined ? `INSERT DATA {\n${data}}` : `INSERT {\n${data}} WHERE { ${where} }`;
  });
  if (operations.length > 1 && labels.size > 0)
    throw new Fault(
      'target/refused',
      `${product.name} takes blank nodes only where all that mention them are at most ${product.mostInserted} statements`,
    );
  return operations.join(' ;\n');
}

/**
 * The removal of statements that have no blank nodes, in the form of `insertData`. Where the default graph is `nil`, DELETE DATA cannot name it (RDF4J
 * 4.1.3 removes nothing), but a template without variables can.
 *
 * @param where a pattern without variables: the statements are removed if it matches
 * @throws Fault target/refused — not expressible in SPARQL
 */
export function deleteData(statements: readonly Statement[], product: SparqlProduct, where?: string): string {
  const { defaultGraph } = product;
  const labels = new Map<string, string>();
  const operationsOf = (of: readonly Statement[], start: string, end: string, nameOf: (graph: string) => string): readonly string[] =>
    dataOperations(of, product, (from, to) => `${start} {\n${quadData(of, from, to, product, labels, nameOf)}}${end}`);
  const named = (own: string): string => graphName(own, product);
  const [start, end] = where === undefined ? ['DELETE DATA', ''] : ['DELETE', ` WHERE { ${where} }`];
  if (defaultGraph.kind !== 'nil') return operationsOf(statements, start, end, named).join(' ;\n');
  const isUnnamed = ({ graph }: Statement): boolean => graph === '';
  return [
    ...operationsOf(
      statements.filter((one) => !isUnnamed(one)),
      start,
      end,
      named,
    ),
    ...operationsOf(statements.filter(isUnnamed), 'DELETE', end === '' ? ' WHERE {}' : end, () => `<${defaultGraph.iri}>`),
  ].join(' ;\n');
}

function dataOperations(
  statements: readonly Statement[],
  { mostInserted = statements.length }: SparqlProduct,
  operationOf: (from: number, to: number) => string,
): readonly string[] {
  const operations: string[] = [];
  for (let at = 0; at < statements.length; at += mostInserted)
    operations.push(operationOf(at, Math.min(at + mostInserted, statements.length)));
  return operations;
}

function quadData(
  statements: readonly Statement[],
  from: number,
  to: number,
  product: SparqlProduct,
  labels: Map<string, string>,
  nameOf: (graph: string) => string,
): string {
  let text = '';
  let open = '';
  for (let at = from; at < to; at++) {
    const statement = statements[at] as Statement;
    const name = nameOf(statement.graph);
    if (name !== open) {
      if (open !== '') text += '}\n';
      if (name !== '') text += `GRAPH ${name} {\n`;
      open = name;
    }
    refuseDotSegments(statement, product);
    text += `${relabel(statement.subject, labels)} ${statement.predicate} ${relabel(statement.object, labels)} .\n`;
  }
  return open === '' ? text : `${text}}\n`;
}

/** N-Quads labels may contain colons, which neither SPARQL nor Jena's N-Quads reader accepts. */
function relabel(term: string, labels: Map<string, string>): string {
  if (isTripleTerm(term)) {
    const [subject, predicate, object] = termsOfQuoted(term);
    return `<<( ${relabel(subject, labels)} ${predicate} ${relabel(object, labels)} )>>`;
  }
  if (!term.startsWith('_:')) return term;
  const known = labels.get(term);
  if (known !== undefined) return known;
  const label = `_:b${labels.size}`;
  labels.set(term, label);
  return label;
}

/** `<iri>`; empty for a default graph without a name. */
export function graphName(graph: string, { defaultGraph, name }: SparqlProduct): string {
  if (graph.startsWith('_:')) throw new Fault('target/refused', `The graph is a blank node, which SPARQL cannot name for ${name}`);
  return graph === '' && defaultGraph.kind === 'named' ? `<${defaultGraph.iri}>` : graph;
}

const DOT_SEGMENT = /^<[^?#]*\/\.\.?[/?#>]/;

function refuseDotSegments({ subject, predicate, object, graph }: Statement, product: SparqlProduct): void {
  if (!product.removesDotSegments) return;
  for (const term of [subject, predicate, graph, ...irisOf(object)]) checkDotSegments(term, product);
}

/** The object, or its datatype; of a triple term, those of its terms. */
function irisOf(object: string): readonly string[] {
  if (isTripleTerm(object)) return termsOfQuoted(object).flatMap(irisOf);
  return [object.startsWith('"') ? object.slice(object.lastIndexOf('<')) : object];
}

/** @throws Fault target/refused — the product would store another IRI */
export function checkDotSegments(term: string, { removesDotSegments, name }: SparqlProduct): void {
  if (!removesDotSegments || !term.includes('/.') || !DOT_SEGMENT.test(term)) return;
  throw new Fault(
    'target/refused',
    `${name} would take the segments . and .. out of the IRI ${fromBytes(term)}, which makes another one of it`,
    {
      hint: 'WRITE_MODE=insert and UPDATE_SCOPE=graph write such IRIs as they are',
    },
  );
}

/**
 * One request that replaces the data in the scope by exactly `statements`: deletions from the named graphs and the default graph, then the
 * insertion. Graphs, subjects and predicates are in VALUES, which every product looks up in its indexes.
 *
 * @throws Fault target/refused — not expressible in SPARQL
 */
export function replacement(statements: readonly Statement[], scope: Exclude<UpdateScope, 'graph'>, product: SparqlProduct): string {
  const named = new Set<string>();
  const unnamed = new Set<string>();
  for (const { subject, predicate, graph } of statements) {
    // A blank node of the input is never equal to one in the store.
    if (subject.startsWith('_:')) continue;
    const name = graphName(graph, product);
    const key = scope === 'property' ? `${subject} ${predicate}` : subject;
    if (name === '') unnamed.add(`(${key})`);
    else named.add(`(${name} ${key})`);
  }
  const keys = scope === 'property' ? '?s ?p' : '?s';
  const operations: string[] = [];
  if (named.size > 0)
    operations.push(`DELETE { GRAPH ?g { ?s ?p ?o } } WHERE { VALUES (?g ${keys}) {\n${[...named].join('\n')}\n} GRAPH ?g { ?s ?p ?o } }`);
  if (unnamed.size > 0)
    operations.push(`DELETE { ${ofDefaultGraph(product)} } WHERE { VALUES (${keys}) {\n${[...unnamed].join('\n')}\n} ?s ?p ?o }`);
  operations.push(insertData(statements, product));
  return operations.join(' ;\n');
}

/** The template for all statements of the default graph alone. */
const ofDefaultGraph = ({ defaultGraph }: SparqlProduct): string =>
  defaultGraph.kind === 'own' ? '?s ?p ?o' : `GRAPH <${defaultGraph.iri}> { ?s ?p ?o }`;

/** The graph in which a replacement is staged. */
export const stagingGraph = (key: string): string => `<urn:quadmill:staging:${encodeURIComponent(key)}>`;

/** At most one statement of a graph. */
const anythingIn = (graph: string): string => `{ SELECT (1 AS ?there) WHERE { GRAPH ${graph} { ?s1 ?p1 ?o1 } } LIMIT 1 }`;

/**
 * One request after which `graph` has the content of `staging`, which is removed. Without `staging` nothing changes, so the request can be
 * repeated if it is unknown whether the first one was executed.
 *
 * MOVE is not used: RDF4J empties the graph if there is nothing to move, and TDB2 (Jena 5.6.0) loses some seventy statements in MOVE, COPY
 * and ADD after a deletion in the same transaction, because they change the index that they read.
 */
export function exchange(graph: string, staging: string, product: SparqlProduct): string {
  const name = graphName(graph, product);
  const all = name === '' ? ofDefaultGraph(product) : `GRAPH ${name} { ?s ?p ?o }`;
  const present = name === '' ? '?s ?p ?o' : all;
  return [
    `DELETE { ${all} } WHERE { ${anythingIn(staging)} ${present} }`,
    `INSERT { ${name === '' ? '?s ?p ?o' : all} } WHERE { GRAPH ${staging} { ?s ?p ?o } }`,
    `DROP SILENT GRAPH ${staging}`,
  ].join(' ;\n');
}

/** Clears `graph`. */
export function emptied(graph: string, product: SparqlProduct): string {
  const name = graphName(graph, product);
  return `DROP SILENT ${name === '' ? 'DEFAULT' : `GRAPH ${name}`}`;
}

export const dropped = (graph: string): string => `DROP SILENT GRAPH ${graph}`;

/** Changes nothing; refused where writing is not allowed. */
export const NOTHING = 'INSERT DATA {}';
