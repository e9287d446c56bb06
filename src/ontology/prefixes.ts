/** The prefixes that a document of RDF declares for its terms. No parser returns them, so they are read beside it. */
import type { RdfSyntax } from '../core/input/rdf-syntaxes.ts';

const MOST_PREFIXES = 100;
const NAME = /^[\p{L}][\p{L}\p{N}_-]*$/u;
const IRI = /^[a-z][a-z\d+.-]*:[^\s<>"{}|^`\\]+$/i;

/**
 * @param iris those of the terms
 * @returns prefix → namespace, of those that some term begins with; the empty one, which means another namespace in each document, where its
 *   namespace has no other
 */
export function prefixesOf(text: string, syntax: RdfSyntax, iris: readonly string[]): Readonly<Record<string, string>> {
  const found = new Map<string, string>();
  for (const [name, iri] of declaredIn(text, syntax)) {
    if (found.size === MOST_PREFIXES) break;
    if ((name !== '' && !NAME.test(name)) || !IRI.test(iri) || found.has(name)) continue;
    if (iris.some((one) => one.startsWith(iri) && /^[\w-]+$/.test(one.slice(iri.length)))) found.set(name, iri);
  }
  const unnamed = found.get('');
  if ([...found].some(([name, iri]) => name !== '' && iri === unnamed)) found.delete('');
  return Object.fromEntries(found);
}

function declaredIn(text: string, syntax: RdfSyntax): readonly (readonly [name: string, iri: string])[] {
  switch (syntax) {
    case 'turtle':
    case 'trig':
      return [...text.replace(/^\s*#.*$/gm, '').matchAll(/(?:^|\s)@?prefix\s+([^\s:]*):\s*<([^<>\s]*)>/gim)].map(
        ([, name = '', iri = '']) => [name, iri],
      );
    case 'rdfxml':
      return inXml(text);
    case 'jsonld':
      return inContext(text);
    default:
      return [];
  }
}

/** The attributes of the root, in which entities of the document stand for namespaces, as editors of ontologies write them. */
function inXml(text: string): readonly (readonly [string, string])[] {
  const entities = new Map(
    [...text.matchAll(/<!ENTITY\s+([^\s%]+)\s+["']([^"'&]*)["']/g)].map(([, name = '', value = '']) => [name, value]),
  );
  const root = /<[^\s!?<>][^<>]*>/.exec(text.replace(/<!--[^]*?-->/g, ''))?.[0] ?? '';
  return [...root.matchAll(/\sxmlns(?::([^\s=]+))?\s*=\s*["']([^"']*)["']/g)].map(([, name = '', value = '']) => [
    name,
    value.replace(/&([^;&\s]+);/g, (whole, entity: string) => entities.get(entity) ?? whole),
  ]);
}

/** @see https://www.w3.org/TR/json-ld11/#compact-iris */
function inContext(text: string): readonly (readonly [string, string])[] {
  const document: unknown = JSON.parse(text);
  const tops = Array.isArray(document) ? document : [document];
  const contexts = tops.flatMap((one) => (isObject(one) ? [one['@context']].flat() : [])).filter(isObject);
  return contexts.flatMap((context) =>
    Object.entries(context).flatMap(([name, value]) => {
      const iri = isObject(value) ? value['@id'] : value;
      if (name === '@vocab' && typeof iri === 'string') return [['', iri] as const];
      return typeof iri === 'string' && /[:/?#[\]@]$/.test(iri) ? [[name, iri] as const] : [];
    }),
  );
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
