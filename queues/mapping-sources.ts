/** The sources that mapping files name, so that a request with a wrong name is told at once. */
import { createHash } from 'node:crypto';
import { Fault } from '../src/fault.ts';
import { readMapping } from '../src/mapping/read.ts';
import { nearest } from '../src/nearest.ts';
import { DEFAULT_BASE, type InputBinding } from '../src/run/request.ts';
import { probeInput, readText } from '../src/storage/storage.ts';
import { locate } from '../src/storage/url.ts';
import type { ProcessRequest } from './process-request.ts';

/** A source of a mapping and the names by which a request may bind it. */
export interface MappingSource {
  /** As `rml:source` or its path writes it: what a message shows. */
  readonly path: string;
  /** IRIs of the logical source and of the source. */
  readonly iris: readonly string[];
}

/** An input that cannot be bound to a source, with the names that there are. */
export class SourceFault extends Fault {
  readonly names: readonly string[];

  constructor(message: string, names: readonly string[], hint: string | undefined) {
    super('request/invalid', message, hint === undefined ? {} : { hint });
    this.names = names;
  }
}

/** Larger mappings are left to the run: reading one here would keep other requests waiting. */
const LARGEST_BYTES = 4 * 2 ** 20;
const READ_MS = 5_000;
const CACHE_ENTRIES = 64;

/** Sources by the versions of local files, and by the digest of mapping texts: what has changed is another entry. Oldest entries go first. */
const cache = new Map<string, readonly MappingSource[] | undefined>();

function keep(key: string, sources: readonly MappingSource[] | undefined): readonly MappingSource[] | undefined {
  cache.set(key, sources);
  if (cache.size > CACHE_ENTRIES) cache.delete(cache.keys().next().value as string);
  return sources;
}

/**
 * The file sources of `mappings`, each path once; undefined when a mapping cannot be read or is not valid: the run will say
 * why, in a failure message. `base` is that of the run, since relative IRIs are names too.
 */
export async function readMappingSources(
  mappings: readonly string[],
  { workingDirectory, base = DEFAULT_BASE }: { readonly workingDirectory: string; readonly base: string | undefined },
): Promise<readonly MappingSource[] | undefined> {
  const versions = await versionsOf(mappings, workingDirectory, base);
  if (versions === undefined) return readSources(mappings, workingDirectory, base);
  if (cache.has(versions)) return cache.get(versions);
  return keep(versions, await readSources(mappings, workingDirectory, base));
}

/** undefined: not all are files of this machine. */
async function versionsOf(mappings: readonly string[], workingDirectory: string, base: string): Promise<string | undefined> {
  const versions: string[] = [base];
  for (const name of mappings) {
    const location = locate(name, workingDirectory);
    const state = location.kind === 'file' ? await probeInput(name, { workingDirectory }) : undefined;
    if (state === undefined) return undefined;
    versions.push(name, state.version);
  }
  return versions.join('\n');
}

async function readSources(
  mappings: readonly string[],
  workingDirectory: string,
  base: string,
): Promise<readonly MappingSource[] | undefined> {
  const signal = AbortSignal.timeout(READ_MS);
  const documents: { name: string; text: string }[] = [];
  try {
    for (const name of mappings) documents.push({ name, text: await readText(name, LARGEST_BYTES, { workingDirectory, signal }) });
  } catch {
    return undefined;
  }
  const hash = createHash('sha256').update(`${base.length} ${base}`);
  for (const { name, text } of documents) hash.update(`${name.length} ${name} ${text.length} ${text}`);
  const key = hash.digest('base64');
  if (cache.has(key)) return cache.get(key);
  return keep(key, sourcesOf(documents, base));
}

function sourcesOf(
  documents: readonly { readonly name: string; readonly text: string }[],
  base: string,
): readonly MappingSource[] | undefined {
  const { mapping, diagnostics } = readMapping(documents, { baseIri: base });
  if (diagnostics.some(({ severity }) => severity === 'error')) return undefined;
  const byPath = new Map<string, Set<string>>();
  for (const { source } of mapping.triplesMaps) {
    if (source.kind !== 'file') continue;
    const iris = byPath.get(source.path) ?? new Set();
    byPath.set(source.path, iris);
    for (const id of source.ids) if (!id.startsWith('_:')) iris.add(id);
  }
  return [...byPath].map(([path, iris]) => ({ path, iris: [...iris] }));
}

/**
 * Binds the inputs of a request to sources. Without knowing the sources (`undefined`), names stand as they are given.
 *
 * @throws SourceFault request/invalid — a name that no mapping has, a source bound twice, or no name where the mapping has several sources
 */
export function bindInputs(request: ProcessRequest, sources: readonly MappingSource[] | undefined): readonly InputBinding[] {
  const names = request.sources;
  if (names === undefined) {
    if (sources !== undefined && sources.length !== 1) {
      const count = sources.length === 0 ? 'no file source' : `${sources.length} file sources`;
      throw sourceFault(`logicalSource is missing, and the mapping has ${count} to choose from`, sources);
    }
    return request.inputs.map((url) => ({ name: undefined, url }));
  }
  const bound = new Map<string, string>();
  return request.inputs.map((url, i) => {
    const name = names[i] as string;
    if (sources !== undefined && !sources.some(({ path, iris }) => path === name || iris.includes(name))) {
      throw sourceFault(`The mapping has no logical source ${JSON.stringify(name)}`, sources, name);
    }
    if (bound.has(name)) {
      throw sourceFault(
        `The logical source ${JSON.stringify(name)} is given two input files, ${bound.get(name)} and ${url}`,
        sources ?? [],
      );
    }
    bound.set(name, url);
    return { name, url };
  });
}

function sourceFault(message: string, sources: readonly MappingSource[], name?: string): SourceFault {
  const names = sources.map(({ path }) => path);
  const near =
    name === undefined
      ? []
      : nearest(
          name,
          sources.flatMap(({ path, iris }) => [path, ...iris]),
          1,
        );
  const hint = near.length > 0 ? `Did you mean ${near[0]}?` : names.length > 0 ? `The mapping has: ${names.join(', ')}` : undefined;
  return new SourceFault(message, names, hint);
}
