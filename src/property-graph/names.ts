/** Names of classes and predicates in a property graph. */
import { detach, fromBytes } from '../core/text.ts';

export interface PropertyGraphOptions {
  /** Prefixes for local names by namespace: `foaf` → `http://xmlns.com/foaf/0.1/`. */
  readonly prefixes: Readonly<Record<string, string>>;
  /** A text with a language becomes the property `name@lang`. */
  readonly keepLanguage: boolean;
}

/** The label of every node, in addition to its classes; the key is unique within it. */
export const BASE_LABEL = 'Resource';
/** The key property of a node: its IRI without angle brackets, or `_:label`. */
export const KEY = 'iri';
/** The property of nodes and relationships with the IRI of their graph. */
export const GRAPH = 'graph';

/**
 * The names of one run, for terms in the form of `Statement`.
 *
 * A name is the part of the IRI after the last `#`, `/` or `:`, or the whole IRI if that part is empty. If the IRI begins with a configured
 * namespace, the name is `prefix_rest`; the longest namespace wins. The reserved names `iri`, `graph` and `Resource` become `iri_`,
 * `graph_` and `Resource_`. Names are not escaped: `first-name` is kept, and must be quoted in Cypher.
 */
export interface Names {
  readonly keepLanguage: boolean;
  label(term: string): string;
  /** For a property or a relationship. */
  predicate(term: string): string;
  /** One message per name that two IRIs share, since their data is merged. At most `WARNINGS`. */
  readonly warnings: readonly string[];
}

const WARNINGS = 20;
/** Cache size in IRIs; when full, the cache is cleared, and warnings may be missing. */
const REMEMBERED = 50_000;

export function namesOf(options: PropertyGraphOptions): Names {
  const namespaces = Object.entries(options.prefixes).sort(([, a], [, b]) => b.length - a.length);
  const warnings: string[] = [];
  return {
    keepLanguage: options.keepLanguage,
    label: remembered('classes', [BASE_LABEL], namespaces, warnings),
    predicate: remembered('predicates', [KEY, GRAPH], namespaces, warnings),
    warnings,
  };
}

type Namespaces = readonly (readonly [prefix: string, namespace: string])[];

function remembered(things: string, reserved: readonly string[], namespaces: Namespaces, warnings: string[]): (term: string) => string {
  const names = new Map<string, string>();
  const owners = new Map<string, string>();
  const warned = new Set<string>();
  return (term) => {
    const known = names.get(term);
    if (known !== undefined) return known;
    if (names.size >= REMEMBERED) {
      names.clear();
      owners.clear();
    }
    const own = detach(term);
    const iri = nodeKey(own);
    const bare = nameOf(iri, namespaces);
    const name = reserved.includes(bare) ? `${bare}_` : bare;
    names.set(own, name);
    const owner = owners.get(name);
    if (owner === undefined) owners.set(name, iri);
    else if (owner !== iri && warnings.length < WARNINGS && !warned.has(name)) {
      warned.add(name);
      warnings.push(`The ${things} ${owner} and ${iri} are both named ${name} in the property graph; prefixes keep them apart`);
    }
    return name;
  };
}

function nameOf(iri: string, namespaces: Namespaces): string {
  for (const [prefix, namespace] of namespaces)
    if (namespace !== '' && iri.length > namespace.length && iri.startsWith(namespace)) return `${prefix}_${iri.slice(namespace.length)}`;
  const name = iri.slice(Math.max(iri.lastIndexOf('#'), iri.lastIndexOf('/'), iri.lastIndexOf(':')) + 1);
  return name === '' ? iri : name;
}

/** The key of an IRI or a blank node, in characters. */
export const nodeKey = (term: string): string => fromBytes(term.charCodeAt(0) === 60 ? term.slice(1, -1) : term);
