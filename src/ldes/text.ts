/**
 * An event stream as text: the root node, and the pages of a version.
 *
 * A member has the IRI `urn:uuid:ID#VERSION/ENTITY`, whatever host serves it. What it says of itself stands in the default graph, and the statements
 * of its entity in the graph of its name, as the server primer of LDES 1.0 has it: so no statement of the data can be taken for one of the stream.
 *
 * @see https://w3id.org/ldes/specification and https://w3id.org/tree/specification
 */
import { encodeUriPart } from '../core/text.ts';
import type { Manifest } from '../datasets/manifest.ts';
import { splitLine } from '../nquads/terms.ts';
import type { PageLine, Part } from './pages.ts';

export const LDES_TYPES = ['application/trig', 'application/n-quads'] as const;
export type LdesType = (typeof LDES_TYPES)[number];

export interface Stream {
  /** Of the dataset. */
  readonly id: string;
  /** Absolute URL of the root node. */
  readonly root: string;
}

const LDES = 'https://w3id.org/ldes#';
const TREE = 'https://w3id.org/tree#';
const TYPE = '<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>';
const IS_VERSION_OF = '<http://purl.org/dc/terms/isVersionOf>';
const IS_PART_OF = '<http://purl.org/dc/terms/isPartOf>';
const TIME = '<http://www.w3.org/ns/prov#generatedAtTime>';
const DELETE = '<https://www.w3.org/ns/activitystreams#Delete>';
const XSD = 'http://www.w3.org/2001/XMLSchema#';

const ldes = (name: string): string => `<${LDES}${name}>`;
const tree = (name: string): string => `<${TREE}${name}>`;
const timeOf = (time: string): string => `"${time}"^^<${XSD}dateTime>`;
const streamOf = ({ id }: Stream): string => `<urn:uuid:${id}>`;

/** Where a page is, below the root node. */
export const pagePath = ({ kind, version }: Part, page: number): string => `${kind === 'base' ? 'base-' : ''}${version}/${page}`;

/**
 * The root node: what the members have in common, and a relation to the first page of each version.
 *
 * @param versions with members, ascending
 * @param startsAt the time of the first version, if those before it are removed; undefined: none ever is
 */
export function rootText(
  stream: Stream,
  versions: readonly Pick<Manifest, 'endedAt' | 'files' | 'version'>[],
  startsAt: string | undefined,
): string {
  const [self, root] = [streamOf(stream), `<${stream.root}>`];
  let text = `${self} ${TYPE} ${ldes('EventStream')} .
${self} ${ldes('timestampPath')} ${TIME} .
${self} ${ldes('versionOfPath')} ${IS_VERSION_OF} .
${self} ${ldes('versionDeletePath')} ${TYPE} .
${self} ${ldes('versionDeleteObject')} ${DELETE} .
${self} ${tree('view')} ${root} .
${root} ${TYPE} ${tree('Node')} .
`;
  if (startsAt !== undefined) {
    const policy = `<${stream.root}#retention>`;
    text += `${root} ${ldes('retentionPolicy')} ${policy} .
${policy} ${TYPE} ${ldes('RetentionPolicy')} .
${policy} ${ldes('startingFrom')} ${timeOf(startsAt)} .
`;
  }
  for (const { version, endedAt, files } of versions) {
    if (files.some(({ kind }) => kind === 'base')) text += relations(stream, { kind: 'base', version }, 1, endedAt, root);
    text += relations(stream, { kind: 'changes', version }, 1, endedAt, root);
  }
  return text;
}

/** Both bounds of the time of the members that a page leads to, and itself has. */
function relations({ root }: Stream, part: Part, page: number, time: string, from: string): string {
  const path = pagePath(part, page);
  return (['GreaterThanOrEqualTo', 'LessThanOrEqualTo'] as const)
    .map((bound) => {
      const relation = `_:${bound}-${path.replaceAll('/', '-')}`;
      return `${from} ${tree('relation')} ${relation} .
${relation} ${TYPE} ${tree(`${bound}Relation`)} .
${relation} ${tree('node')} <${root}/${path}> .
${relation} ${tree('path')} ${TIME} .
${relation} ${tree('value')} ${timeOf(time)} .
`;
    })
    .join('');
}

/** A page, in pieces. @param isLast whether no page of the part follows */
export async function* pageText(
  stream: Stream,
  part: Part,
  page: number,
  isLast: boolean,
  time: string,
  lines: AsyncIterable<readonly PageLine[]>,
  type: LdesType,
): AsyncGenerator<string> {
  const self = streamOf(stream);
  const node = `<${stream.root}/${pagePath(part, page)}>`;
  yield `${self} ${TYPE} ${ldes('EventStream')} .
${self} ${tree('view')} <${stream.root}> .
${node} ${TYPE} ${tree('Node')} .
${node} ${ldes('immutable')} "true"^^<${XSD}boolean> .
${isLast ? '' : relations(stream, part, page + 1, time, node)}`;
  let member = '';
  let isOpen = false;
  for await (const batch of lines) {
    let text = '';
    for (const line of batch) {
      if (line.kind === 'statement') {
        const [subject, predicate, object] = splitLine(line.line);
        if (type === 'application/n-quads') text += `${subject} ${predicate} ${object} ${member} .\n`;
        else text += `${isOpen ? '' : `${member} {\n`}  ${subject} ${predicate} ${object} .\n`;
        isOpen = type !== 'application/n-quads';
        continue;
      }
      if (isOpen) text += '}\n';
      isOpen = false;
      const { subject, graph, kind } = line;
      member = `<urn:uuid:${stream.id}#${part.version}/${entityName(subject, graph)}>`;
      text += `${self} ${tree('member')} ${member} .\n${member} ${IS_VERSION_OF} ${entityOf(stream, subject, graph)} .\n`;
      text += `${member} ${TIME} ${timeOf(time)} .\n`;
      if (graph !== '') text += `${member} ${IS_PART_OF} ${graph} .\n`;
      if (kind === 'tombstone') text += `${member} ${TYPE} ${DELETE} .\n`;
    }
    yield text;
  }
  if (isOpen) yield '}\n';
}

/** A subject of the default graph is its own IRI. One of another graph, and a quoted triple, have an IRI of the dataset. */
const entityOf = ({ id }: Stream, subject: string, graph: string): string =>
  graph === '' && !subject.startsWith('<<') ? subject : `<urn:uuid:${id}#entity/${entityName(subject, graph)}>`;

/** Different for different entities: neither an IRI nor an encoded name has a `/`. */
const entityName = (subject: string, graph: string): string =>
  graph === '' ? encodedTerm(subject) : `${encodedTerm(subject)}/${encodedTerm(graph)}`;

const encodedTerm = (term: string): string => encodeUriPart(term.startsWith('<<') ? term : term.slice(1, -1));
