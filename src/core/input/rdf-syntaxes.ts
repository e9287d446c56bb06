/** The syntaxes in which RDF is read: their names, file extensions and media types. */

interface SyntaxRow {
  readonly name: string;
  /** In lower case, without the ending of a compression. */
  readonly extensions: readonly string[];
  /** The first one is the registered one. */
  readonly mediaTypes: readonly string[];
}

export const RDF_SYNTAXES = {
  turtle: { name: 'Turtle', extensions: ['ttl'], mediaTypes: ['text/turtle', 'application/x-turtle'] },
  ntriples: { name: 'N-Triples', extensions: ['nt'], mediaTypes: ['application/n-triples'] },
  nquads: { name: 'N-Quads', extensions: ['nq'], mediaTypes: ['application/n-quads'] },
  trig: { name: 'TriG', extensions: ['trig'], mediaTypes: ['application/trig'] },
  rdfxml: { name: 'RDF/XML', extensions: ['rdf', 'owl'], mediaTypes: ['application/rdf+xml'] },
  jsonld: { name: 'JSON-LD', extensions: ['jsonld'], mediaTypes: ['application/ld+json'] },
} as const satisfies Record<string, SyntaxRow>;

export type RdfSyntax = keyof typeof RDF_SYNTAXES;

const ROWS = Object.entries(RDF_SYNTAXES) as readonly (readonly [RdfSyntax, SyntaxRow])[];

export const syntaxOfExtension = (extension: string): RdfSyntax | undefined =>
  ROWS.find(([, { extensions }]) => extensions.includes(extension))?.[0];

export const syntaxOfMediaType = (mediaType: string): RdfSyntax | undefined =>
  ROWS.find(([, { mediaTypes }]) => mediaTypes.includes(mediaType))?.[0];
