/** In which syntax of RDF a document is written. */
import { Fault } from '../core/fault.ts';
import { type RdfSyntax, syntaxOfMediaType } from '../core/input/rdf-syntaxes.ts';
import { syntaxByExtension } from '../storage/input-format.ts';

/** Comments of Turtle and XML, and the XML declaration. */
const PROLOGUE = /^(?:\s+|#[^\n]*(?:\n|$)|<\?[^]*?\?>|<!--[^]*?-->)+/;
/** A document type, or an element with an attribute: Turtle writes no space after `<`, and no `=` anywhere near. */
const MARKUP = /^<(?:!DOCTYPE\b|rdf:RDF\b|[\w.-]+(?::[\w.-]+)?\s+[\w.:-]+\s*=)/;
/** `{}` and `[]` alone mean something in TriG and Turtle, too. */
const JSON_START = /^(?:\{\s*"|\[\s*\{)/;

/** What ontologies are also written in, by how it begins. */
const OTHERS: readonly (readonly [beginning: RegExp, name: string])[] = [
  [/^(?:<!DOCTYPE\s+html\b|<html\b)/i, 'a page in HTML'],
  [/^(?:<!DOCTYPE[^]*?\]>\s*)?<Ontology\s/, 'OWL/XML'],
  [/^(?:Prefix|Ontology)\s*\(/, 'the functional syntax of OWL'],
  [/^(?:Prefix|Ontology):\s/, 'the Manchester syntax of OWL'],
  [/^format-version:/, 'OBO'],
];

/**
 * The syntax: what the beginning of the document shows beyond doubt, else what its name or the media type of the answer says; else Turtle.
 *
 * @param name for messages
 * @throws Fault source/type — it is something else
 */
export function syntaxOf(url: string, mediaType: string | undefined, head: string, name: string): RdfSyntax {
  const start = head.replace(PROLOGUE, '');
  const other = OTHERS.find(([beginning]) => beginning.test(start))?.[1];
  if (other !== undefined) {
    throw new Fault('source/type', `${name} is ${other}, which is not read`, {
      place: { input: name },
      hint: 'Give the ontology as Turtle, N-Triples, TriG, RDF/XML or JSON-LD',
    });
  }
  if (MARKUP.test(start)) return 'rdfxml';
  if (JSON_START.test(start)) return 'jsonld';
  const named = syntaxByExtension(url) ?? (mediaType === undefined ? undefined : syntaxOfMediaType(mediaType));
  // `.owl` is the ending of all syntaxes, and XML would have been seen.
  return named === undefined || named === 'rdfxml' ? 'turtle' : named;
}
