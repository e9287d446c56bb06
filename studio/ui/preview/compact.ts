/** Statements as people read them: IRIs by the prefixes of the model. */
import type { StudioDocument } from '../../core/document.ts';
import { recordsOf } from '../../core/elements/records.ts';

/** @returns a function from N-Quads to text with prefixed names */
export function compactor(document: StudioDocument): (statement: string) => string {
  const prefixes = recordsOf(document, 'prefix')
    .map(({ name, iri }) => [iri, name] as const)
    .sort(([a], [b]) => b.length - a.length);
  return (statement) =>
    statement.replace(TOKEN, (token) => {
      if (token.startsWith('"')) return token;
      const iri = token.slice(1, -1);
      if (iri === RDF_TYPE) return 'a';
      const found = prefixes.find(([start]) => iri.startsWith(start) && LOCAL.test(iri.slice(start.length)));
      return found === undefined ? token : `${found[1]}:${iri.slice(found[0].length)}`;
    });
}

const RDF_TYPE = 'http://www.w3.org/1999/02/22-rdf-syntax-ns#type';
/** An IRI, or the text of a literal, in which nothing is replaced. */
const TOKEN = /<[^<>"\s]*>|"(?:[^"\\]|\\.)*"/g;
/** Names that need no escape. */
const LOCAL = /^[\p{L}\p{N}_](?:[\p{L}\p{N}_.-]*[\p{L}\p{N}_-])?$/u;
