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
import type { Conversion } from './conversion.ts';

const RDF_TYPE = '<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>';

/** Lexical forms that need no quotes, by datatype. @see https://www.w3.org/TR/turtle/#abbrev */
const BARE: ReadonlyMap<string, RegExp> = new Map([
  [`<${XSD}boolean>`, /^(?:true|false)$/],
  [`<${XSD}integer>`, /^[+-]?[0-9]+$/],
  [`<${XSD}decimal>`, /^[+-]?[0-9]*\.[0-9]+$/],
  [`<${XSD}double>`, /^[+-]?(?:[0-9]+\.[0-9]*|\.?[0-9]+)[eE][+-]?[0-9]+$/],
]);

/** @param prefixes prefix → namespace IRI, as ordinary text */
export function turtle(prefixes: Readonly<Record<string, string>> = {}): Conversion {
  const names = new Map<string, string>();
  let pending = '';
  for (const [prefix, namespace] of Object.entries(prefixes)) {
    if (findNotInIri(namespace) !== -1) continue;
    names.set(toBytes(namespace), toBytes(prefix));
    pending += `@prefix ${toBytes(prefix)}: <${toBytes(namespace)}> .\n`;
  }
  if (pending !== '') pending += '\n';

  const resource = (term: string): string => {
    if (isTriple(term)) return mapTriple(term, resource, object);
    if (names.size === 0) return term;
    const local = localStart(term);
    const prefix = local === term.length - 1 ? undefined : names.get(term.slice(1, local));
    return prefix === undefined ? term : `${prefix}:${term.slice(local, -1)}`;
  };
  const object = (term: string): string => {
    if (term[0] !== '"') return resource(term);
    const end = term.lastIndexOf('"');
    if (!term.startsWith('^^', end + 1)) return term;
    const datatype = term.slice(end + 3);
    const text = term.slice(1, end);
    return BARE.get(datatype)?.test(text) ? text : `"${text}"^^${resource(datatype)}`;
  };

  /** The statement that the next one may continue; empty: none. */
  let [subject, predicate, graph] = ['', '', ''];
  const close = (): string => (subject === '' ? '' : ' .\n') + (graph === '' ? '' : '}\n');
  return {
    add(s, p, o, g) {
      let text = pending;
      pending = '';
      if (g !== graph) {
        text += close() + (g === '' ? '' : `${resource(g)} {\n`);
        [subject, graph] = ['', g];
      }
      if (s === subject && p === predicate) return `${text}, ${object(o)}`;
      text += s === subject ? ' ;\n    ' : `${subject === '' ? '' : ' .\n'}${resource(s)} `;
      [subject, predicate] = [s, p];
      return `${text}${p === RDF_TYPE ? 'a' : resource(p)} ${object(o)}`;
    },
    end: () => pending + close(),
  };
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
