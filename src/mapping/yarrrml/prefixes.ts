/** Prefixes of a YARRRML document, and the names that they shorten. */

/**
 * Declared in every document.
 *
 * @see https://www.w3.org/2011/rdfa-context/rdfa-1.1
 */
export const PREDEFINED: Readonly<Record<string, string>> = {
  as: 'https://www.w3.org/ns/activitystreams#',
  cat: 'http://www.w3.org/ns/dcat#',
  cc: 'http://creativecommons.org/ns#',
  cnt: 'http://www.w3.org/2008/content#',
  ctag: 'http://commontag.org/ns#',
  dc: 'http://purl.org/dc/terms/',
  dc11: 'http://purl.org/dc/elements/1.1/',
  dcat: 'http://www.w3.org/ns/dcat#',
  dcterms: 'http://purl.org/dc/terms/',
  dqv: 'http://www.w3.org/ns/dqv#',
  duv: 'https://www.w3.org/TR/vocab-duv#',
  earl: 'http://www.w3.org/ns/earl#',
  foaf: 'http://xmlns.com/foaf/0.1/',
  gldp: 'http://www.w3.org/ns/people#',
  gr: 'http://purl.org/goodrelations/v1#',
  grddl: 'http://www.w3.org/2003/g/data-view#',
  ht: 'http://www.w3.org/2006/http#',
  ical: 'http://www.w3.org/2002/12/cal/icaltzd#',
  ldp: 'http://www.w3.org/ns/ldp#',
  ma: 'http://www.w3.org/ns/ma-ont#',
  oa: 'http://www.w3.org/ns/oa#',
  og: 'http://ogp.me/ns#',
  org: 'http://www.w3.org/ns/org#',
  owl: 'http://www.w3.org/2002/07/owl#',
  prov: 'http://www.w3.org/ns/prov#',
  ptr: 'http://www.w3.org/2009/pointers#',
  qb: 'http://purl.org/linked-data/cube#',
  rdf: 'http://www.w3.org/1999/02/22-rdf-syntax-ns#',
  rdfa: 'http://www.w3.org/ns/rdfa#',
  rdfs: 'http://www.w3.org/2000/01/rdf-schema#',
  rev: 'http://purl.org/stuff/rev#',
  rif: 'http://www.w3.org/2007/rif#',
  rr: 'http://www.w3.org/ns/r2rml#',
  schema: 'http://schema.org/',
  sd: 'http://www.w3.org/ns/sparql-service-description#',
  sioc: 'http://rdfs.org/sioc/ns#',
  skos: 'http://www.w3.org/2004/02/skos/core#',
  skosxl: 'http://www.w3.org/2008/05/skos-xl#',
  sosa: 'http://www.w3.org/ns/sosa/',
  ssn: 'http://www.w3.org/ns/ssn/',
  time: 'http://www.w3.org/2006/time#',
  v: 'http://rdf.data-vocabulary.org/#',
  vcard: 'http://www.w3.org/2006/vcard/ns#',
  void: 'http://rdfs.org/ns/void#',
  wdr: 'http://www.w3.org/2007/05/powder#',
  wdrs: 'http://www.w3.org/2007/05/powder-s#',
  xhv: 'http://www.w3.org/1999/xhtml/vocab#',
  xml: 'http://www.w3.org/XML/1998/namespace',
  xsd: 'http://www.w3.org/2001/XMLSchema#',
};

/** Namespaces of functions, which documents must declare: for hints. */
const USUAL: Readonly<Record<string, string>> = {
  ...PREDEFINED,
  grel: 'http://users.ugent.be/~bjdmeest/function/grel.ttl#',
  'idlab-fn': 'https://w3id.org/imec/idlab/function#',
};

/** Prefixes that documents need not declare, or usually declare. */
export const usualPrefixes: readonly string[] = Object.keys(USUAL);

/** A hint for a prefix that is not declared: its usual namespace. */
export const usualNamespace = (prefix: string): string | undefined => (Object.hasOwn(USUAL, prefix) ? USUAL[prefix] : undefined);

/** Schemes whose IRIs have no `//` behind them; any other name before a colon is a prefix. */
const SCHEMES = /^(?:urn|mailto|tel|data|did|tag|geo|info|doi|file|https?|ftps?)$/i;

/** What a value begins with. */
export type Head =
  /** A declared prefix; `rest`: the value behind its colon. */
  | { readonly kind: 'prefix'; readonly namespace: string; readonly rest: string }
  /** A name in front of a colon that is neither a declared prefix nor a scheme. */
  | { readonly kind: 'undeclared'; readonly prefix: string }
  | { readonly kind: 'scheme' | 'plain' };

/** A colon after a backslash, before a blank or before `//` ends no prefix. */
export function headOf(value: string, prefixes: ReadonlyMap<string, string>): Head {
  const [, prefix, rest] = /^([^:/\s\\$]*):(?!\s)(.*)$/s.exec(value) ?? [];
  if (prefix === undefined || rest === undefined) return { kind: 'plain' };
  if (rest.startsWith('//')) return { kind: 'scheme' };
  const namespace = prefixes.get(prefix);
  if (namespace !== undefined) return { kind: 'prefix', namespace, rest };
  return SCHEMES.test(prefix) ? { kind: 'scheme' } : { kind: 'undeclared', prefix };
}
