/** Statements in their terms, and terms as people read them: IRIs by the prefixes of the model. */
import type { StudioDocument } from '../../../core/document.ts';
import { iriBase } from '../../../core/elements/iris.ts';
import { prefixesOf as namesOf } from '../../store/iris.ts';

/** As N-Quads writes them. */
export interface StatementTerms {
  readonly subject: string;
  readonly predicate: string;
  readonly object: string;
  /** Empty: the default graph. */
  readonly graph: string;
}

export const RDF_TYPE = '<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>';
const XSD = 'http://www.w3.org/2001/XMLSchema#';

/** An IRI, a blank node, a literal, or a sign of a quoted triple. */
const TOKEN = /<<\(?|\)?>>|<[^<>"\s]*>|_:\S+|"(?:[^"\\]|\\.)*"(?:@[A-Za-z\d-]+|\^\^<[^<>"\s]*>)?/g;

/** @param statement a line of N-Quads, also with quoted triples */
export function termsOf(statement: string): StatementTerms {
  const terms: string[] = [];
  let depth = 0;
  for (const [token] of statement.matchAll(TOKEN)) {
    if (depth > 0) terms.push(`${terms.pop()} ${token}`);
    else terms.push(token);
    if (token.startsWith('<<')) depth++;
    else if (token.endsWith('>>')) depth--;
  }
  const [subject = '', predicate = '', object = '', graph = ''] = terms;
  return { subject, predicate, object, graph };
}

export interface Prefixes {
  /** A term of N-Quads as one of Turtle. */
  readonly compact: (term: string) => string;
  /** The prefixes that `compact` has used so far, by name. */
  readonly used: ReadonlyMap<string, string>;
  /** What relative IRIs of `compact` stand for; undefined: it has made none so far. */
  usedBase(): string | undefined;
}

/** Makes names of the prefixes of the model, and relative IRIs of those below its base. */
export function prefixesOf(document: StudioDocument): Prefixes {
  // Names read as on the canvas, also where the model has no prefix for them.
  const prefixes = [...namesOf(document)].map(([name, iri]) => [iri, name] as const).sort(([a], [b]) => b.length - a.length);
  const base = iriBase(document.base);
  const used = new Map<string, string>();
  let hasRelative = false;
  const named = (token: string): string => {
    const iri = token.slice(1, -1);
    const found = prefixes.find(([start]) => iri.startsWith(start) && LOCAL.test(iri.slice(start.length)));
    if (found === undefined && base.endsWith('/') && iri.startsWith(base) && RELATIVE.test(iri.slice(base.length))) {
      hasRelative = true;
      return `<${iri.slice(base.length)}>`;
    }
    if (found === undefined) return token;
    const [start, name] = found;
    used.set(name, start);
    return `${name}:${iri.slice(start.length)}`;
  };
  const compact = (term: string): string => {
    if (term.startsWith('<<')) return term.replace(TOKEN, (token) => (/^<<|>>$/.test(token) ? token : compact(token)));
    if (term.startsWith('<')) return named(term);
    const datatype = term.startsWith('"') ? term.lastIndexOf('"^^<') : -1;
    if (datatype < 0) return term;
    const lexical = term.slice(1, datatype);
    const type = term.slice(datatype + 3);
    return SHORT.some(([name, form]) => type === `<${XSD}${name}>` && form.test(lexical)) ? lexical : `"${lexical}"^^${named(type)}`;
  };
  return { compact, used, usedBase: () => (hasRelative ? base : undefined) };
}

/** Literals that Turtle writes without quotes. */
const SHORT: readonly (readonly [string, RegExp])[] = [
  ['integer', /^[+-]?\d+$/],
  ['decimal', /^[+-]?\d*\.\d+$/],
  ['double', /^[+-]?(?:\d+\.\d*|\.?\d+)[eE][+-]?\d+$/],
  ['boolean', /^(?:true|false)$/],
];
/** Relative IRIs that mean what stands behind the base, whatever the base is: no dots, colons, queries or empty segments. */
const RELATIVE = /^[\p{L}\p{N}_-]+(?:\/[\p{L}\p{N}_-]+)*$/u;
/** Names that need no escape. */
const LOCAL = /^[\p{L}\p{N}_](?:[\p{L}\p{N}_.-]*[\p{L}\p{N}_-])?$/u;
