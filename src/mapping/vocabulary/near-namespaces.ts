/** Namespaces that are nearly right: by `https:`, without their `#`, with a `/` in its place, or of a module of RML, as in its drafts. */
import type { Report } from '../model/diagnostics.ts';
import type { Graph } from '../model/graph.ts';
import type { Origin } from '../model/model.ts';
import { lookUp, RML_NAMESPACES, USUAL_PREFIXES } from './namespaces.ts';

/** Prefix → namespace and the place of its declaration, for each document of Turtle by its name. */
export type Prefixes = ReadonlyMap<string, ReadonlyMap<string, { readonly iri: string; readonly origin: Origin | undefined }>>;

/** Of the vocabularies that mappings use beside RML. */
const OTHERS: readonly string[] = ['xsd', 'rdf', 'rdfs'].map((prefix) => USUAL_PREFIXES[prefix] as string);

const bare = (namespace: string): string => namespace.toLowerCase().replace(/^https?:\/\/(?:www\.)?|[#/]$/g, '');

const TODAYS = 'http://w3id.org/rml/';

const KNOWN = [...RML_NAMESPACES, ...OTHERS].map((iri) => ({ iri, bare: bare(iri), isOther: OTHERS.includes(iri) }));

/** What of an IRI is a term, behind the namespace: of a module of RML, which has one namespace, too. */
const NAMES: readonly RegExp[] = [/^[#/]?([a-z][\w-]*)$/i, /^[#/]?(?:core|io|cc|fnml|star|lv)[#/]?([a-z][\w-]*)$/i];

interface Near {
  readonly written: string;
  readonly meant: string;
  readonly isOther: boolean;
}

/** The namespace that an IRI nearly has; undefined where it is right, or another one. */
function near(iri: string): Near | undefined {
  const lower = iri.toLowerCase().replace(/^https?:\/\/(?:www\.)?/, '');
  for (const { iri: meant, bare: base, isOther } of KNOWN) {
    if (!lower.startsWith(base)) continue;
    const rest = iri.slice(iri.length - (lower.length - base.length));
    for (const pattern of meant === TODAYS ? NAMES : NAMES.slice(0, 1)) {
      const [, name] = pattern.exec(rest) ?? [];
      if (name === undefined) continue;
      const written = iri.slice(0, iri.length - name.length);
      const isTerm = isOther || (['properties', 'classes', 'individuals'] as const).some((kind) => lookUp(kind, meant + name)?.name);
      if (written !== meant && isTerm) return { written, meant, isOther };
    }
  }
  return undefined;
}

/**
 * Reports each such namespace of which a term is used, once for each document, where it is declared. An error for a vocabulary of RML, whose
 * statements would count for nothing.
 */
export function checkNamespaces(report: Report, graph: Graph, prefixes: Prefixes): void {
  const reported = new Set<string>();
  const check = (iri: string, origin: Origin): void => {
    const found = near(iri);
    const key = `${origin.document} ${found?.written}`;
    if (found === undefined || reported.has(key)) return;
    reported.add(key);
    const { written, meant, isOther } = found;
    const declared = [...(prefixes.get(origin.document)?.values() ?? [])].find((one) => one.iri === written)?.origin;
    const message = `<${written}> is not the namespace of a vocabulary, so that <${iri}> has no meaning`;
    const hint = `write <${meant}>`;
    if (isOther) report.warning('near-namespace', declared ?? origin, message, hint);
    else report.error('near-namespace', declared ?? origin, message, hint);
  };
  for (const { statements } of graph.values()) {
    for (const { property, propertyOrigin, object, origin } of statements) {
      check(property, propertyOrigin);
      if (object.kind === 'iri') check(object.value, origin);
      else if (object.kind === 'literal') check(object.datatype, origin);
    }
  }
}
