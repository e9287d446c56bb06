/**
 * SPARQL endpoints as sources (sd:Service). A query's solutions are the records, its variables the references.
 *
 * In today's RML the iterator is the query, and the reference formulation a format of results. Legacy RML has the query in rml:query, and a
 * path to the solutions in rml:iterator.
 *
 * @see https://kg-construct.github.io/rml-io/spec/docs/ and https://www.w3.org/TR/sparql11-service-description/
 */
import { FORMULATIONS } from '../../../core/input/formats.ts';
import type { Graph, Statement } from '../../model/graph.ts';
import { nodeId } from '../../model/graph.ts';
import type { FileSource, ResultFormat } from '../../model/model.ts';
import { lookUp, shorten } from '../../vocabulary/namespaces.ts';
import { type Context, describeTerm, literalText, type MappingNode, nodeOf, only, orList } from '../node.ts';
import { all, full, isDescribedAs, misspelt, one, urlOf } from './description.ts';

const ENDPOINT = full('sd', 'endpoint');
const RESULT_FORMAT = full('sd', 'resultFormat');
const LANGUAGE = full('sd', 'supportedLanguage');
const LANGUAGES = ['SPARQL10Query', 'SPARQL11Query', 'SPARQL12Query'].map((name) => full('sd', name));

export const isService = (graph: Graph, id: string): boolean =>
  isDescribedAs(graph, id, [full('sd', 'Service')], [ENDPOINT, RESULT_FORMAT, LANGUAGE]);

const NAMES = ['CSV', 'TSV', 'JSON', 'XML'].map((name) => `formats:SPARQL_Results_${name}`);

/** The results format that an IRI names: in the W3C's namespace of formats, or in the older one of reference formulations. */
export function resultsOf(iri: string): ResultFormat | undefined {
  const name = /^http:\/\/(?:www\.w3\.org\/ns\/formats\/|semweb\.mmlab\.be\/ns\/ql#)SPARQL_Results_(CSV|TSV|JSON|XML)$/.exec(iri)?.[1];
  return name?.toLowerCase() as ResultFormat | undefined;
}

/** What the results of each format are read as, and where their solutions are. */
const READ_AS: Readonly<Record<ResultFormat, Pick<FileSource, 'formulation' | 'iterator' | 'csv'>>> = {
  csv: { formulation: 'csv', iterator: undefined, csv: {} },
  // Tabs and line breaks within terms are escaped, and quotes belong to the terms.
  tsv: { formulation: 'csv', iterator: undefined, csv: { delimiter: '\t', quoteChar: null } },
  json: { formulation: 'json', iterator: '$.results.bindings[*]', csv: undefined },
  xml: { formulation: 'xml', iterator: '/sparql/results/result', csv: undefined },
};

/** The logical source `node` over the service that `source` describes. */
export function readSparqlSource(context: Context, node: MappingNode, source: Statement): FileSource | undefined {
  const { report } = context;
  const before = report.errors;
  const service = nodeOf(context, source, 'service');
  if (service === undefined) return undefined;
  const endpoint = readEndpoint(context, service.id, source);
  const results = readResults(context, node, service.id);
  const query = only(context, node, 'query');
  const iterator = only(context, node, 'iterator');
  const queryStatement = query ?? iterator;
  if (queryStatement === undefined && node.valid) {
    const hint = 'add it: rml:iterator "SELECT …" (older RML: rml:query)';
    report.error('missing-iterator', node.origin, 'a logical source over a SPARQL endpoint without a query', hint);
  }
  const text = queryStatement === undefined ? undefined : queryOf(context, queryStatement);
  const path = query === undefined || iterator === undefined ? undefined : literalText(context, iterator, 'an iterator in quotes');
  const nulls = service.all('null').map((statement) => literalText(context, statement, 'a text that stands for null'));
  for (const { property, propertyOrigin } of [...service.all('encoding'), ...service.all('compression')]) {
    report.warning('unused-term', propertyOrigin, `${shorten(property)} has no effect on a SPARQL endpoint, whose answer states it`);
  }
  if (!node.valid || !service.valid || report.errors > before) return undefined;
  if (endpoint === undefined || results === undefined || text === undefined || queryStatement === undefined) return undefined;
  const { formulation, iterator: usual, csv } = READ_AS[results];
  const { hasRows } = FORMULATIONS[formulation];
  return {
    kind: 'file',
    origin: node.origin,
    ids: [node.id, service.id],
    path: endpoint,
    root: { kind: 'mapping' },
    formulation,
    iterator: hasRows ? undefined : (path ?? usual),
    iteratorOrigin: hasRows ? undefined : (path === undefined ? queryStatement : (iterator as Statement)).origin,
    nulls: nulls.filter((one) => one !== undefined),
    encoding: undefined,
    compression: 'none',
    namespaces: {},
    csv,
    request: { kind: 'select', origin: queryStatement.origin, query: text, results },
  };
}

function readEndpoint(context: Context, id: string, source: Statement): string | undefined {
  const { graph, report } = context;
  for (const { object, origin } of all(graph, id, LANGUAGE)) {
    if (LANGUAGES.includes(object.value)) continue;
    const message = `sd:supportedLanguage ${describeTerm(object)} is no query language of SPARQL`;
    report.error('wrong-value', origin, message, 'write sd:supportedLanguage sd:SPARQL11Query');
  }
  const statement = one(context, id, ENDPOINT, 'service');
  if (statement === undefined) {
    const hint = misspelt(graph, id, ['sd:endpoint'], 'write [ a sd:Service ; sd:endpoint <https://…/sparql> ]');
    report.error('missing-path', source.origin, 'a SPARQL service without sd:endpoint', hint);
    return undefined;
  }
  const url = urlOf(context, statement);
  if (url === undefined || /^https?:\/\//i.test(url)) return url;
  report.error('wrong-value', statement.origin, `sd:endpoint takes an http: or https: URL, found ${describeTerm(statement.object)}`);
  return undefined;
}

/** By the reference formulation, else by sd:resultFormat, else JSON, which alone of all formats keeps apart everything that a solution can hold. */
function readResults(context: Context, node: MappingNode, id: string): ResultFormat | undefined {
  const { report } = context;
  const declared = one(context, id, RESULT_FORMAT, 'service');
  const format = declared === undefined ? undefined : resultsOf(declared.object.value);
  if (declared !== undefined && format === undefined) {
    report.error('wrong-value', declared.origin, `sd:resultFormat takes ${orList(NAMES)}, found ${describeTerm(declared.object)}`);
    return undefined;
  }
  const statement = only(context, node, 'referenceFormulation');
  if (statement === undefined) return format ?? 'json';
  const { object, origin } = statement;
  const named = nodeId(object) === undefined ? undefined : resultsOf(object.value);
  const term = object.kind === 'iri' ? lookUp('individuals', object.value)?.name : undefined;
  const known: readonly ResultFormat[] | undefined =
    named !== undefined ? [named] : term === undefined ? undefined : OF_FORMULATION[term as keyof typeof OF_FORMULATION];
  if (known === undefined) {
    const message = `a SPARQL endpoint takes the reference formulation ${orList(NAMES)}, found ${describeTerm(object)}`;
    report.error('wrong-value', origin, message);
    return undefined;
  }
  if (format === undefined || known.includes(format)) return format ?? known[0];
  const message = `${shorten(object.value)} beside sd:resultFormat ${shorten((declared as Statement).object.value)}`;
  report.error('contradiction', origin, message, 'name one format of results');
  return undefined;
}

/** Reference formulations of documents, which legacy RML has for results too; the usual format first. */
const OF_FORMULATION: { readonly [name: string]: readonly ResultFormat[] | undefined } = {
  CSV: ['csv', 'tsv'],
  JSONPath: ['json'],
  XPath: ['xml'],
  SPARQL: ['json', 'xml', 'tsv', 'csv'],
};

/** Comments, and what stands before the first keyword of a query. IRIs come first: they may contain `#`. */
const PROLOGUE = /^(?:\s+|#[^\r\n]*|BASE\s*<[^>]*>|PREFIX\s+[^\s:<>]*:\s*<[^>]*>)*/i;
const OTHER_FORMS = /^(ASK|CONSTRUCT|DESCRIBE|INSERT|DELETE|LOAD|CLEAR|CREATE|DROP|COPY|MOVE|ADD|WITH)\b/i;

/** Whether it is a query at all is left to the endpoint, which knows its extensions. */
function queryOf(context: Context, statement: Statement): string | undefined {
  const text = literalText(context, statement, 'a SPARQL query in quotes');
  if (text === undefined) return undefined;
  const body = text.replace(PROLOGUE, '');
  const other = body === '' ? 'an empty text' : OTHER_FORMS.exec(body)?.[1]?.toUpperCase();
  if (other === undefined) return text;
  const hint = 'only a SELECT has solutions, which are the records';
  context.report.error('wrong-value', statement.origin, `${shorten(statement.property)} takes a SELECT, found ${other}`, hint);
  return undefined;
}
