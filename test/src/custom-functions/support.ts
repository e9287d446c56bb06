/** Descriptions and modules for tests. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fetchFunctions } from '../../../src/custom-functions/fetch.ts';
import type { CallLimits } from '../../../src/custom-functions/files.ts';
import { type OpenedFunctions, openFunctions } from '../../../src/custom-functions/open.ts';

export const EX = 'http://example.org/functions#';

export const PREFIXES = `@prefix doap: <http://usefulinc.com/ns/doap#> .
@prefix fno: <https://w3id.org/function/ontology#> .
@prefix fnoi: <https://w3id.org/function/vocabulary/implementation#> .
@prefix fnom: <https://w3id.org/function/vocabulary/mapping#> .
@prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
@prefix ex: <${EX}> .
`;

/** Functions of one text parameter, `ex:text`, whose code is in `code.mjs`. */
export const described = (...names: readonly string[]): string => `${PREFIXES}
ex:textParameter a fno:Parameter ; fno:predicate ex:text ; fno:type xsd:string ; fno:required true .
ex:output a fno:Output ; fno:predicate ex:result ; fno:type xsd:string .
ex:code a fnoi:JavaScriptImplementation ; doap:download-url <code.mjs> .
${names
  .map(
    (name) => `ex:${name} a fno:Function ; fno:expects ( ex:textParameter ) ; fno:returns ( ex:output ) .
ex:${name}Mapping a fno:Mapping ; fno:function ex:${name} ; fno:implementation ex:code ; fno:methodMapping [ fnom:method-name "${name}" ] .`,
  )
  .join('\n')}
`;

export interface Workshop {
  readonly path: string;
  write(files: Readonly<Record<string, string>>): Promise<void>;
  /** Fetches a description of the directory, `functions.ttl` if none is named, and opens it. */
  open(limits?: Partial<CallLimits>, code?: string, description?: string): Promise<OpenedFunctions>;
  remove(): Promise<void>;
}

/** A directory with descriptions and code. */
export async function makeWorkshop(): Promise<Workshop> {
  const path = await mkdtemp(join(tmpdir(), 'quadmill-test-functions-'));
  const opened: OpenedFunctions[] = [];
  return {
    path,
    async write(files) {
      for (const [name, text] of Object.entries(files)) await writeFile(join(path, name), text);
    },
    async open(limits = {}, code, description = 'functions.ttl') {
      const sets = join(path, 'sets');
      const { version } = await fetchFunctions({ description, code }, sets, { workingDirectory: path });
      const functions = await openFunctions({ directory: join(sets, version), limits: { seconds: 10, memoryMb: 64, ...limits } });
      opened.push(functions);
      return functions;
    },
    async remove() {
      for (const functions of opened) functions.close();
      await rm(path, { recursive: true, force: true });
    },
  };
}
