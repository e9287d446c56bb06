/** The media types of the embedded store: accepted uploads, and answers by `Accept`. */

/** Of SELECT and ASK; the first is the default. Each is followed by its aliases. @see https://www.w3.org/TR/sparql11-protocol/ §2.1 */
const SOLUTIONS = [
  ['application/sparql-results+json', 'application/json'],
  ['application/sparql-results+xml', 'application/xml', 'text/xml'],
  ['text/csv'],
  ['text/tab-separated-values'],
] as const;

/** Of CONSTRUCT, DESCRIBE and graphs. */
const TRIPLES = [
  ['text/turtle', 'application/x-turtle'],
  ['application/n-triples', 'text/plain'],
  ['application/rdf+xml', 'application/xml'],
  ['application/n-quads'],
  ['application/trig'],
  ['application/ld+json', 'application/json'],
] as const;

const QUADS = [['application/n-quads', 'text/x-nquads'], ['application/trig'], ['application/ld+json']] as const;

const OFFERS = { solutions: SOLUTIONS, triples: TRIPLES, quads: QUADS } as const;
export type Offer = keyof typeof OFFERS;

/** The media type to answer with; undefined: none that `accept` allows. */
export function negotiate(accept: string | undefined, offer: Offer): string | undefined {
  const ranges = rangesOf(accept ?? '*/*');
  let [best, bestQuality] = [undefined as string | undefined, 0];
  for (const names of OFFERS[offer]) {
    const quality = Math.max(...names.map((name) => qualityOf(ranges, name)));
    if (quality > bestQuality) [best, bestQuality] = [names[0], quality];
  }
  return best;
}

export const offered = (offer: Offer): readonly string[] => OFFERS[offer].map(([name]) => name);

interface Range {
  readonly type: string;
  readonly quality: number;
}

function rangesOf(accept: string): readonly Range[] {
  return accept.split(',').map((part) => {
    const [type = '', ...parameters] = part.split(';').map((one) => one.trim().toLowerCase());
    const q = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2);
    return { type, quality: q === undefined ? 1 : Number(q) || 0 };
  });
}

/** By the most specific range that matches. @see https://www.rfc-editor.org/rfc/rfc9110#name-accept */
function qualityOf(ranges: readonly Range[], name: string): number {
  const quality = (type: string): number | undefined => ranges.find((range) => range.type === type)?.quality;
  return quality(name) ?? quality(`${name.split('/')[0]}/*`) ?? quality('*/*') ?? 0;
}

const UPLOADS: Readonly<Record<'triples' | 'quads', readonly string[]>> = {
  triples: ['application/n-triples', 'text/turtle', 'application/x-turtle', 'application/rdf+xml'],
  quads: ['application/n-quads', 'text/x-nquads', 'application/trig', 'application/ld+json'],
};

/**
 * The format of an uploaded document; undefined: not supported. A graph takes documents of triples only, since quads name their own
 * graphs; the dataset takes both, and triples go to its default graph.
 */
export function uploadFormat(mediaType: string, into: 'graph' | 'dataset'): string | undefined {
  if (!uploads(into).includes(mediaType)) return undefined;
  return mediaType
    .replace('/x-turtle', '/turtle')
    .replace('application/turtle', 'text/turtle')
    .replace('text/x-nquads', 'application/n-quads');
}

export const uploads = (into: 'graph' | 'dataset'): readonly string[] =>
  into === 'graph' ? UPLOADS.triples : [...UPLOADS.quads, ...UPLOADS.triples];
