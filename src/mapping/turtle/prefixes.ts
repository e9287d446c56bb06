/** The prefixes that a mapping document declares: its author's names for the namespaces of the data. */
import { acceptBlanks } from './accepted.ts';
import { Parser } from './parser.ts';

/** Namespaces of mapping vocabularies are not used in the data. */
const ABOUT_MAPPINGS = /^http:\/\/(w3id\.org\/rml\/|www\.w3\.org\/ns\/r2rml#|semweb\.mmlab\.be\/ns\/)/;

/**
 * Prefix → namespace, without those of mapping vocabularies. Declarations before a syntax error count; `readMapping` reports the error
 * itself.
 */
export function dataPrefixes(text: string): Promise<Readonly<Record<string, string>>> {
  const found: Record<string, string> = {};
  return new Promise((resolve) => {
    new Parser({ baseIRI: 'http://example.com/' }).parse(
      acceptBlanks(text, '')?.text ?? text,
      (error, quad) => {
        if (error || !quad) resolve(found);
      },
      (prefix, iri) => {
        if (!ABOUT_MAPPINGS.test(iri.value)) found[prefix] ??= iri.value;
      },
    );
  });
}
