/** RDF documents → quads, by parsers that are not ours: n3, jsonld-streaming-parser and rdfxml-streaming-parser. */
import { Readable } from 'node:stream';
import { JsonLdParser } from 'jsonld-streaming-parser';
import { DataFactory, Parser, type Quad } from 'n3';
import { RdfXmlParser } from 'rdfxml-streaming-parser';
import type { Serialization } from '../../src/sinks/sink.ts';

export const MEDIA_TYPE = {
  nquads: 'application/n-quads',
  ntriples: 'application/n-triples',
  turtle: 'text/turtle',
  trig: 'application/trig',
  jsonld: 'application/ld+json',
  n3: 'text/n3',
  rdfxml: 'application/rdf+xml',
  rdfjson: 'application/rdf+json',
} as const satisfies Record<Serialization, string>;

/** With the blank node labels of the text. @throws Error — it is not of the format */
export async function readRdf(format: Serialization, text: string, baseIRI?: string): Promise<Quad[]> {
  switch (format) {
    case 'jsonld':
      return (await Readable.from([text]).pipe(new JsonLdParser({ baseIRI })).toArray()) as Quad[];
    case 'rdfxml':
      return (await Readable.from([text]).pipe(new RdfXmlParser({ baseIRI })).toArray()) as Quad[];
    case 'rdfjson':
      return readRdfJson(text);
    default:
      return new Parser({ format: MEDIA_TYPE[format], blankNodePrefix: '', baseIRI }).parse(text);
  }
}

interface RdfJsonValue {
  readonly type: 'uri' | 'bnode' | 'literal';
  readonly value: string;
  readonly lang?: string;
  readonly datatype?: string;
}

/** @see https://www.w3.org/TR/rdf-json/ */
export function readRdfJson(text: string): Quad[] {
  const { blankNode, literal, namedNode, quad } = DataFactory;
  const node = (name: string) => (name.startsWith('_:') ? blankNode(name.slice(2)) : namedNode(name));
  const object = ({ type, value, lang, datatype }: RdfJsonValue) =>
    type === 'literal' ? literal(value, lang ?? (datatype === undefined ? undefined : namedNode(datatype))) : node(value);
  const subjects = Object.entries(JSON.parse(text) as Record<string, Record<string, RdfJsonValue[]>>);
  return subjects.flatMap(([subject, properties]) =>
    Object.entries(properties).flatMap(([predicate, values]) =>
      values.map((value) => quad(node(subject), namedNode(predicate), object(value))),
    ),
  );
}

/**
 * The text with labels of `nquads/labels.ts` that name neither mapping nor input: `_:b…`, `_:c…` and `_:l…` of values, constants and lists, and
 * `_:f…`, with the digits of the triples map, of rows.
 */
export const plainLabels = (text: string): string =>
  text.replace(/_:q([0-9a-f]{16})[0-9a-f]{16}([a-z])/g, (_, map: string, kind: string) =>
    kind === 'r' ? `_:f${map}${kind}` : `_:${kind}`,
  );
