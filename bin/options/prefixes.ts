/** The prefixes declared in mapping documents, to shorten Turtle and TriG output. */
import { prefixesOf } from '../../src/mapping/parse/prefixes.ts';
import { readMappingDocuments } from '../../src/run/prepare/load.ts';
import type { RunRequest } from '../../src/run/request.ts';

/** @throws Fault mapping/unreadable */
export const declaredPrefixes = async ({ mappings, workingDirectory, web }: RunRequest): Promise<Readonly<Record<string, string>>> =>
  prefixesOf(await readMappingDocuments(mappings, { workingDirectory, reach: undefined, s3: web.s3 }));
