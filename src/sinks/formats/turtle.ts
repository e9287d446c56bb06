/**
 * N-Quads → Turtle and TriG. Terms are copied, or abbreviated if the abbreviation means the same.
 *
 * Quoted triples are written as in Turtle-star, triple terms as in Turtle 1.2.
 *
 * Statements are grouped as they arrive: after a statement with the same subject, only predicate and object are written.
 */
import { findNotInIri, toBytes } from '../../core/text.ts';
import { XSD } from '../../core/value.ts';
import { isTriple, mapTriple } from '../../nquads/terms.ts';
import type { Conversion, Frame, ObjectPattern } from './conversion.ts';

const RDF_TYPE = '<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>';

/** Lexical forms that need no quotes, by datatype. @see https://www.w3.org/TR/turtle/#abbrev */
const BARE: ReadonlyMap<string, RegExp> = new Map([
  [`<${XSD}boolean>`, /^(?:true|false)$/],
  [`<${XSD}integer>`, /^[+-]?[0-9]+$/],
  [`<${XSD}decimal>`, /^[+-]?[0-9]*\.[0-9]+$/],
  [`<${XSD}double>`, /^[+-]?(?:[0-9]+\.[0-9]*|\.?[0-9]+)[eE][+-]?[0-9]+$/],
]);

export type Prefixes = Readonly<Record<string, string>>;

const usable = (prefixes: Prefixes): readonly (readonly [prefix: string, namespace: string])[] =>
  Object.entries(prefixes).filter(([, namespace]) => findNotInIri(namespace) === -1);

/** @param prefixes prefix → namespace IRI, as ordinary text */
export function turtleFrame(prefixes: Prefixes = {}): Frame {
  const declared = usable(prefixes).map(([prefix, namespace]) => `@prefix ${toBytes(prefix)}: <${toBytes(namespace)}> .\n`);
  const head = declared.length === 0 ? '' : `${declared.join('')}\n`;
  return { head, separator: '', tail: '', empty: head };
}

/** @param prefixes prefix → namespace IRI, as ordinary text */
export function turtle(prefixes: Prefixes = {}): Conversion {
  const names = new Map<string, Names>();
  const namespaces: string[] = [];
  for (const [prefix, namespace] of usable(prefixes)) {
    addName(names, toBytes(prefix), toBytes(namespace));
    namespaces.push(toBytes(namespace));
  }

  const resource = (term: string): string => {
    if (isTriple(term)) return mapTriple(term, resource, object);
    if (names.size === 0) return term;
    const local = localStart(term);
    const known = local === term.length - 1 ? undefined : names.get(term.slice(1, local));
    return known === undefined ? term : prefixedName(term, local, known);
  };
  const object = (term: string): string => {
    if (term[0] !== '"') return resource(term);
    const end = term.lastIndexOf('"');
    if (!term.startsWith('^^', end + 1)) return term;
    const datatype = term.slice(end + 3);
    const text = term.slice(1, end);
    return BARE.get(datatype)?.test(text) ? text : `"${text}"^^${resource(datatype)}`;
  };
  const verbOf = (predicate: string): string => (predicate === RDF_TYPE ? 'a' : resource(predicate));

  /** What is written of an object, by its value. */
  const objectOf = (pattern: ObjectPattern): ((value: string) => string) => {
    switch (pattern.kind) {
      case 'literal': {
        const { before, after, datatype, language } = pattern;
        const [head, foot] = [
          `"${before}`,
          `${after}"${datatype === '' ? '' : `^^${resource(datatype)}`}${language === '' ? '' : `@${language}`}`,
        ];
        const bare = BARE.get(datatype);
        if (bare === undefined) return (value) => head + value + foot;
        return (value) => (bare.test(before + value + after) ? before + value + after : head + value + foot);
      }
      case 'resource': {
        const { before, after } = pattern;
        const start = before.slice(1);
        const mayBeKnown = namespaces.some((namespace) => namespace.startsWith(start) || start.startsWith(namespace));
        return mayBeKnown ? (value) => resource(before + value + after) : (value) => before + value + after;
      }
      case 'any': {
        let [known, text] = ['', ''];
        return (value) => {
          if (value !== known) [known, text] = [value, object(pattern.tokenOf(value))];
          return text;
        };
      }
    }
  };

  /** The statement that the next one may continue; empty: none. */
  let [subject, predicate, graph] = ['', '', ''];
  const close = (): string => {
    const text = (subject === '' ? '' : ' .\n') + (graph === '' ? '' : '}\n');
    [subject, predicate, graph] = ['', '', ''];
    return text;
  };
  /** What stands before the object. */
  const startOf = (s: string, p: string, g: string, verb: string): string => {
    let text = '';
    if (g !== graph) {
      text = close() + (g === '' ? '' : `${resource(g)} {\n`);
      graph = g;
    }
    if (s === subject && p === predicate) return ', ';
    text += s === subject ? ` ;\n    ${verb} ` : `${subject === '' ? '' : ' .\n'}${resource(s)} ${verb} `;
    [subject, predicate] = [s, p];
    return text;
  };
  return {
    add: (s, p, o, g) => startOf(s, p, g, verbOf(p)) + object(o),
    pattern: (p, pattern, g) => {
      const verb = verbOf(p);
      const objectText = objectOf(pattern);
      return (s, value) => startOf(s, p, g, verb) + objectText(value);
    },
    close,
  };
}

/** The namespaces whose last segment begins at the same place: `http://example.org/obo/` and `http://example.org/obo/GO_`. */
interface Names {
  /** Of the namespace that ends there. */
  prefix?: string;
  /** Of those that go on, with their rest (`GO_`); the longest first. */
  readonly longer: (readonly [rest: string, prefix: string])[];
}

function addName(names: Map<string, Names>, prefix: string, namespace: string): void {
  const term = `<${namespace}>`;
  const local = localStart(term);
  const base = term.slice(1, local);
  const known = names.get(base) ?? { longer: [] };
  names.set(base, known);
  const rest = term.slice(local, -1);
  if (rest === '') known.prefix = prefix;
  else {
    known.longer.push([rest, prefix]);
    known.longer.sort(([a], [b]) => b.length - a.length);
  }
}

/** @param local where the last segment of `term` begins */
function prefixedName(term: string, local: number, { prefix, longer }: Names): string {
  for (const [rest, name] of longer) {
    const from = local + rest.length;
    if (from < term.length - 1 && term[from] !== '-' && term.startsWith(rest, local)) return `${name}:${term.slice(from, -1)}`;
  }
  return prefix === undefined ? term : `${prefix}:${term.slice(local, -1)}`;
}

/** Where an IRI can be split: the rest needs no escape in a prefixed name and does not begin with a hyphen. */
function localStart(term: string): number {
  let at = term.length - 1;
  while (LOCAL[term.charCodeAt(at - 1)] === 1) at--;
  while (term[at] === '-') at++;
  return at;
}

const LOCAL = new Uint8Array(256);
for (let byte = 0; byte < 128; byte++) if (/[A-Za-z0-9_-]/.test(String.fromCharCode(byte))) LOCAL[byte] = 1;
