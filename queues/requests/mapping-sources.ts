/** Reads the sources of mapping files, so that a request with a wrong source name is refused at once. */

import { createHash } from 'node:crypto';
import { withLimit } from '../../src/core/abort.ts';
import { Fault } from '../../src/core/fault.ts';
import { nearest } from '../../src/core/nearest.ts';
import { redact } from '../../src/core/redact.ts';
import type { DescribedSet } from '../../src/custom-functions/open.ts';
import { DEFAULT_BASE, type InputBinding } from '../../src/run/request.ts';
import { pathsMeant } from '../../src/storage/input-names.ts';
import { probeInput, readText } from '../../src/storage/open.ts';
import type { InputState, OpenOptions } from '../../src/storage/storage.ts';
import { locate } from '../../src/storage/url.ts';
import { inspectMapping, type MappingSource, type MappingText } from './mapping-inspection.ts';
import type { ProcessRequest } from './process.ts';

/** An input that cannot be bound to a source; carries the names of the existing sources. */
export class SourceFault extends Fault {
  readonly names: readonly string[];

  constructor(message: string, names: readonly string[], input: string, hint: string | undefined) {
    super('request/invalid', message, { place: { input: redact(input) }, ...(hint === undefined ? {} : { hint }) });
    this.names = names;
  }
}

/** Larger mappings are left to the run, because a caller is waiting. */
const MAX_MAPPING_BYTES = 4 * 2 ** 20;
const READ_MS = 5_000;
const CACHE_ENTRIES = 64;

/**
 * Keyed by the versions of local files or by the digest of the texts, so changed mappings are new entries. The oldest entries are dropped
 * first.
 */
const cache = new Map<string, readonly MappingSource[] | undefined>();

function cacheSources(key: string, sources: readonly MappingSource[] | undefined): readonly MappingSource[] | undefined {
  cache.set(key, sources);
  if (cache.size > CACHE_ENTRIES) cache.delete(cache.keys().next().value as string);
  return sources;
}

type Access = Pick<OpenOptions, 'workingDirectory' | 's3' | 'reach'>;

export interface ReadSourcesOptions {
  /** See `OpenOptions`. */
  readonly s3?: OpenOptions['s3'];
  readonly reach: OpenOptions['reach'];
  readonly workingDirectory: string;
  readonly base: string | undefined;
  /** Time limit of a run, and of reading the mappings for the request; 0: no limit. */
  readonly seconds?: number;
  /** Custom functions, which the mappings may call. */
  readonly functions?: DescribedSet | undefined;
  /** Of the only mapping, if the caller has asked for it. */
  readonly state?: InputState | undefined;
}

/**
 * The file sources of `mappings`, each path once; undefined if a mapping cannot be read or is invalid: the run then reports why in a
 * failure message. `base` is the base IRI of the run, since relative IRIs are names too.
 */
export async function readMappingSources(
  mappings: readonly string[],
  { base = DEFAULT_BASE, functions, state, seconds = 0, ...access }: ReadSourcesOptions,
): Promise<readonly MappingSource[] | undefined> {
  const versions = await versionsOf(mappings, access, `${functions?.version} ${base}`, state);
  if (versions === undefined) return readSources(mappings, access, base, functions, seconds);
  if (cache.has(versions)) return cache.get(versions);
  return cacheSources(versions, await readSources(mappings, access, base, functions, seconds));
}

/** undefined: at least one is not a local file. */
async function versionsOf(
  mappings: readonly string[],
  access: Access,
  settings: string,
  known: InputState | undefined,
): Promise<string | undefined> {
  const versions: string[] = [settings];
  for (const name of mappings) {
    const location = locate(name, access.workingDirectory);
    const state = location.kind === 'file' ? (known ?? (await probeInput(name, access))) : undefined;
    if (state === undefined) return undefined;
    versions.push(name, state.version);
  }
  return versions.join('\n');
}

async function readSources(
  mappings: readonly string[],
  options: Access,
  base: string,
  functions: DescribedSet | undefined,
  seconds: number,
): Promise<readonly MappingSource[] | undefined> {
  const documents: { name: string; text: string }[] = [];
  try {
    await withLimit(seconds === 0 ? READ_MS : Math.min(READ_MS, seconds * 1000), async (signal) => {
      for (const name of mappings) documents.push({ name, text: await readText(name, MAX_MAPPING_BYTES, { ...options, signal }) });
    });
  } catch {
    return undefined;
  }
  const hash = createHash('sha256').update(`${functions?.version} ${base.length} ${base}`);
  for (const { name, text } of documents) hash.update(`${name.length} ${name} ${text.length} ${text}`);
  const key = hash.digest('base64');
  if (cache.has(key)) return cache.get(key);
  return cacheSources(key, await sourcesOf(documents, base, functions));
}

async function sourcesOf(
  documents: readonly MappingText[],
  base: string,
  functions: DescribedSet | undefined,
): Promise<readonly MappingSource[] | undefined> {
  const { diagnostics, sources } = await inspectMapping(documents, base, functions);
  return diagnostics.some(({ severity }) => severity === 'error') ? undefined : sources;
}

/**
 * Binds the inputs of a request to sources; several inputs may be bound to one source. An input without a source name is bound to the only
 * source, or with a directory of mappings (`listed`) to the source with the same file name. If the sources are unknown (`undefined`), names
 * are used as given.
 *
 * @throws SourceFault request/invalid — a name that no mapping has; no name, and no source or more than one matches
 */
export function bindInputs(
  request: ProcessRequest,
  sources: readonly MappingSource[] | undefined,
  listed: boolean,
): readonly InputBinding[] {
  const { inputs, sources: names } = request;
  return inputs.map((url, i) => {
    const name = names?.[i];
    if (sources === undefined) return { name, url };
    if (name === undefined) return { name: sources.length === 1 ? undefined : sourceForFile(url, sources, listed), url };
    if (sources.some(({ path, iris }) => path === name || iris.includes(name))) return { name, url };
    const near = nearest(
      name,
      sources.flatMap(({ path, iris }) => [path, ...iris]),
      1,
    );
    throw sourceFault(`The mapping has no logical source ${JSON.stringify(name)}`, url, sources, near[0]);
  });
}

/** @throws SourceFault */
function sourceForFile(url: string, sources: readonly MappingSource[], listed: boolean): string {
  const paths = sources.map(({ path }) => path);
  const found = listed ? pathsMeant(url, paths) : [];
  const [path] = found;
  if (path !== undefined && found.length === 1) return path;
  const count = sources.length === 0 ? 'no file source' : `${sources.length} file sources`;
  const named =
    found.length === 0 ? ', none of which has the name of the input' : `, and ${found.length} of them have the name of the input`;
  const why = listed && sources.length > 0 ? named : '';
  throw sourceFault(`logicalSource is missing, and the mapping has ${count} to choose from${why}`, url, sources);
}

function sourceFault(message: string, input: string, sources: readonly MappingSource[], near?: string): SourceFault {
  const names = sources.map(({ path }) => path);
  const hint = near !== undefined ? `Did you mean ${near}?` : names.length > 0 ? `The mapping has: ${names.join(', ')}` : undefined;
  return new SourceFault(message, names, input, hint);
}
