/**
 * Logical targets: files that statements go to instead of the output of the run.
 *
 * @see https://kg-construct.github.io/rml-io/spec/docs/#target
 */

import { nodeId, type Statement } from '../model/graph.ts';
import type { LogicalTarget, Origin, Serialization } from '../model/model.ts';
import { lookUp, shorten, USUAL_PREFIXES } from '../vocabulary/namespaces.ts';
import type { Property } from '../vocabulary/vocabulary.ts';
import { type Context, describeTerm, type MappingNode, nodeOf, only, orList, RDF_TYPE, reportUnknown } from './node.ts';
import { readCompression, readRoot, reportValue } from './source/logical-source.ts';

const FORMATS = USUAL_PREFIXES.formats as string;

/** @see https://www.w3.org/ns/formats/ */
const SERIALIZATIONS: Readonly<Record<string, Serialization>> = {
  'N-Quads': 'nquads',
  'N-Triples': 'ntriples',
  Turtle: 'turtle',
  TriG: 'trig',
  'JSON-LD': 'jsonld',
  N3: 'n3',
  RDF_XML: 'rdfxml',
  RDF_JSON: 'rdfjson',
};

/** Properties of other vocabularies that name the file of a target. */
const FILES: readonly string[] = [`${USUAL_PREFIXES.void}dataDump`, `${USUAL_PREFIXES.dcat}downloadURL`, `${USUAL_PREFIXES.dcat}accessURL`];

/** The valid targets among those that the statements of a term map lead to, each once. */
export function readTargets(context: Context, statements: readonly Statement[]): readonly LogicalTarget[] {
  const targets = statements.map((statement) => readTarget(context, statement));
  return [...new Set(targets.filter((target) => target !== undefined))];
}

function readTarget(context: Context, statement: Statement): LogicalTarget | undefined {
  const id = nodeId(statement.object);
  if (id !== undefined && context.targets.has(id)) return context.targets.get(id);
  const node = nodeOf(context, statement, 'logical target');
  if (node === undefined) return undefined;
  const read = describedBy(context, node);
  const target = read === undefined ? undefined : sameFile(context, read);
  context.targets.set(node.id, target);
  return target;
}

/** Two descriptions of one file are one target, if they agree on what is in it. */
function sameFile({ report, targets }: Context, target: LogicalTarget): LogicalTarget | undefined {
  const fileOf = ({ path, root }: LogicalTarget): string => JSON.stringify([path.replace(/^(\.\/)+/, ''), root]);
  const other = [...targets.values()].find((one) => one !== undefined && fileOf(one) === fileOf(target));
  if (other === undefined) return target;
  const contentOf = ({ serialization, encoding, compression }: LogicalTarget): string => [serialization, encoding, compression].join(', ');
  if (contentOf(other) === contentOf(target)) return other;
  const message = `two logical targets write ${JSON.stringify(target.path)}: one as ${contentOf(other)}, one as ${contentOf(target)}`;
  report.error('contradiction', target.origin, message, `the other is on line ${other.origin.line}; give one of them another path`);
  return undefined;
}

function describedBy(context: Context, node: MappingNode): LogicalTarget | undefined {
  const { report } = context;
  const before = report.errors;
  const statement = only(context, node, 'target');
  if (statement === undefined && node.valid) {
    const hint = 'add rml:target [ a rml:Target, rml:FilePath ; rml:path "…" ]';
    report.error('missing-target', node.origin, 'a logical target without rml:target', hint);
  }
  const access = statement === undefined ? undefined : readAccess(context, statement);
  // RML-IO has these properties on either node.
  const nodes = access?.node === undefined ? [node] : [node, access.node];
  const which = (property: Property): MappingNode => oneOf(context, nodes, property);
  const declared = only(context, which('serialization'), 'serialization');
  const serialization = readSerialization(context, declared);
  const encoding = readEncoding(context, which('encoding'));
  const compression = readCompression(context, which('compression')) ?? 'none';
  if (report.errors > before || access === undefined || serialization === undefined || encoding === undefined) return undefined;
  checkEnding(context, node, access.path, declared !== undefined, compression);
  return { origin: node.origin, id: node.id, path: access.path, root: access.root, serialization, encoding, compression };
}

/** The node that has the property: one of them alone may. */
function oneOf({ report }: Context, nodes: readonly MappingNode[], property: Property): MappingNode {
  const [first, second] = nodes.filter((node) => node.all(property).length > 0);
  const [statement] = second?.all(property) ?? [];
  if (statement !== undefined) {
    const message = `a second ${shorten(statement.property)}: the logical target has one`;
    report.error('too-many', statement.origin, message, `the other is on line ${first?.all(property)[0]?.origin.line}`);
  }
  return first ?? (nodes[0] as MappingNode);
}

interface Access extends Pick<LogicalTarget, 'path' | 'root'> {
  /** undefined: the target is a plain path. */
  readonly node: MappingNode | undefined;
}

/** The file of an rml:target. */
function readAccess(context: Context, statement: Statement): Access | undefined {
  const { graph, report } = context;
  const { object, origin } = statement;
  const inMapping = { kind: 'working-directory' } as const;
  if (object.kind === 'literal') return { path: object.value, root: inMapping, node: undefined };
  // The address of a file: relative IRIs of Turtle are absolute here.
  if (object.kind === 'iri' && !graph.has(object.value) && /^file:/i.test(object.value))
    return { path: object.value, root: inMapping, node: undefined };
  const node = nodeOf(context, statement, 'target');
  if (node === undefined) return undefined;
  const statements = graph.get(node.id)?.statements ?? [];
  const files = statements.filter(({ property }) => FILES.includes(property));
  const own = only(context, node, 'path');
  const [path, second] = [...(own === undefined ? [] : [own]), ...files];
  if (second !== undefined && second.object.value !== path?.object.value) {
    report.error('too-many', second.origin, `${shorten(second.property)} is a second file of one target, which has one`);
  }
  if (path === undefined) {
    if (node.valid) reportOther(context, node, origin);
    return undefined;
  }
  if (path.object.kind === 'blank' || (path === own && path.object.kind === 'iri')) {
    const takes = path === own ? 'a path in quotes' : 'a file: IRI';
    report.error('wrong-value', path.origin, `${shorten(path.property)} takes ${takes}, found ${describeTerm(path.object)}`);
    return undefined;
  }
  return { path: path.object.value, root: readRoot(context, node), node };
}

/** A target that is no file: a SPARQL endpoint, a stream, and the like. */
function reportOther({ graph, report }: Context, node: MappingNode, origin: Origin): void {
  const types = (graph.get(node.id)?.statements ?? [])
    .filter(({ property, object }) => property === RDF_TYPE && lookUp('classes', object.value) === undefined)
    .map(({ object }) => shorten(object.value));
  if (types.length === 0) {
    report.error('missing-path', node.origin, 'a target without rml:path', 'write [ a rml:Target, rml:FilePath ; rml:path "…" ]');
    return;
  }
  const hint = 'a target is a file here; the graph writer (quadmill write) brings it into a store afterwards';
  report.error('not-supported', origin, `${orList(types)} as a target is not supported yet by this version`, hint);
}

/** The endings of the serialisations beside N-Quads, and those of what no target has. */
const ENDINGS: Readonly<Record<string, string | undefined>> = {
  nt: 'N-Triples',
  ttl: 'Turtle',
  trig: 'TriG',
  jsonld: 'JSON-LD',
  n3: 'N3',
  rdf: 'RDF_XML',
  owl: 'RDF_XML',
  xml: 'RDF_XML',
  rj: 'RDF_JSON',
  json: undefined,
  csv: undefined,
  tsv: undefined,
  hdt: undefined,
};

/** A file is written as the target declares, whatever its name is: N-Quads that is not compressed, if it declares nothing. */
function checkEnding(
  { report }: Context,
  { origin }: MappingNode,
  path: string,
  isDeclared: boolean,
  compression: LogicalTarget['compression'],
): void {
  const [, packing] = /\.(gz|zip|tgz|tar\.gz|txz|tar\.xz)$/i.exec(path) ?? [];
  if (packing !== undefined && compression === 'none') {
    const kind = { gz: 'gzip', zip: 'zip' }[packing.toLowerCase()] ?? (packing.toLowerCase().endsWith('gz') ? 'targz' : 'tarxz');
    const message = `the target ${JSON.stringify(path)} is not compressed: it declares no rml:compression`;
    report.warning('target-ending', origin, message, `declare rml:compression rml:${kind}, or name the file otherwise`);
  }
  const ending = /\.(\w+)$/.exec(path.slice(0, packing === undefined ? undefined : -packing.length - 1))?.[1]?.toLowerCase() ?? '';
  if (isDeclared || !Object.hasOwn(ENDINGS, ending)) return;
  const format = ENDINGS[ending];
  report.warning(
    'target-ending',
    origin,
    `the target ${JSON.stringify(path)} becomes N-Quads: it declares no rml:serialization`,
    format === undefined
      ? 'name the file .nq, or declare a serialization of RDF'
      : `declare rml:serialization formats:${format}, or name the file .nq`,
  );
}

function readSerialization(context: Context, statement: Statement | undefined): Serialization | undefined {
  if (statement === undefined) return 'nquads';
  const { object, origin } = statement;
  const isFormat = object.kind === 'iri' && object.value.startsWith(FORMATS);
  const found = isFormat ? SERIALIZATIONS[object.value.slice(FORMATS.length)] : undefined;
  if (found !== undefined) return found;
  const names = Object.keys(SERIALIZATIONS).map((name) => `formats:${name}`);
  if (isFormat) {
    reportUnknown(context.report, 'serialization', shorten(object.value), origin, names, `known are ${orList(names)}`);
  } else {
    const message = `${shorten(statement.property)} takes a format of <${FORMATS}>, found ${describeTerm(object)}`;
    context.report.error('wrong-value', origin, message, `known are ${orList(names)}`);
  }
  return undefined;
}

function readEncoding(context: Context, node: MappingNode): LogicalTarget['encoding'] | undefined {
  const statement = only(context, node, 'encoding');
  if (statement === undefined) return 'utf-8';
  const { object } = statement;
  const term = object.kind === 'iri' ? lookUp('individuals', object.value) : undefined;
  const name = object.kind === 'literal' ? object.value : term?.name;
  if (name !== undefined && /^utf-8$/i.test(name)) return 'utf-8';
  if (name !== undefined && /^utf-16$/i.test(name)) return 'utf-16';
  reportValue(context, statement, term?.name, term?.short, ['rml:UTF-8', 'rml:UTF-16']);
  return undefined;
}
