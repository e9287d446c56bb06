/** The prefixes declared in mapping documents, to shorten Turtle and TriG output. */
import { dataPrefixes } from '../../src/mapping/turtle/prefixes.ts';
import { readMappingDocuments } from '../../src/run/prepare/load.ts';
import type { RunRequest } from '../../src/run/request.ts';

/** @throws Fault mapping/unreadable */
export async function prefixesOf(request: RunRequest): Promise<Record<string, string>> {
  const documents = await readMappingDocuments(request.mappings, request.workingDirectory);
  const declared = await Promise.all(documents.map(({ text }) => dataPrefixes(text)));
  // The first document that declares a prefix wins.
  return Object.assign({}, ...declared.toReversed());
}
