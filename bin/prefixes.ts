/** The prefixes that mapping documents declare, to shorten Turtle and TriG output. */
import { Parser } from 'n3';
import type { RunRequest } from '../src/run/request.ts';
import { readMappings } from './mappings.ts';

/** Namespaces of mappings say nothing about the data. */
const ABOUT_MAPPINGS = /^http:\/\/(w3id\.org\/rml\/|www\.w3\.org\/ns\/r2rml#|semweb\.mmlab\.be\/ns\/)/;

/** @throws Fault mapping/unreadable */
export async function prefixesOf(request: RunRequest): Promise<Record<string, string>> {
  const prefixes: Record<string, string> = {};
  for (const { text } of await readMappings(request.mappings, request.workingDirectory)) {
    for (const [prefix, iri] of await declaredIn(text)) {
      if (!ABOUT_MAPPINGS.test(iri)) prefixes[prefix] ??= iri;
    }
  }
  return prefixes;
}

/** What stands before a syntax error counts; the error itself is the run's to report. */
function declaredIn(text: string): Promise<readonly (readonly [string, string])[]> {
  const found: [string, string][] = [];
  const parser = new Parser({ baseIRI: 'http://example.com/' });
  return new Promise((resolve) => {
    parser.parse(
      text,
      (error, quad) => {
        if (error || !quad) resolve(found);
      },
      (prefix, iri) => found.push([prefix, iri.value]),
    );
  });
}
