/** Builds run requests of the semi-structured transformer; HTTP requests and messages get the same checks. */
import { mappingsOf } from '../../src/config/directories.ts';
import type { Snapshot } from '../../src/config/options/options.ts';
import { reachOf, s3AccessOf } from '../../src/config/run-defaults.ts';
import { Fault } from '../../src/core/fault.ts';
import { splitSheet } from '../../src/core/input/formats.ts';
import { redact } from '../../src/core/redact.ts';
import type { DescribedSet } from '../../src/custom-functions/open.ts';
import { MAPPING_ENDINGS, MAPPING_EXTENSIONS } from '../../src/mapping/model/language.ts';
import { compressionByName } from '../../src/storage/compression.ts';
import { listDirectory } from '../../src/storage/list.ts';
import { assertWithin, probeInput } from '../../src/storage/open.ts';
import type { InputState, OpenOptions } from '../../src/storage/storage.ts';
import { locate } from '../../src/storage/url.ts';
import type { TransformRequest } from '../jobs.ts';
import { bindInputs, readMappingSources } from './mapping-sources.ts';
import { type ProcessFields, processRequestOf } from './process.ts';
import { datasetOf, settingsOf } from './transform.ts';

/**
 * The run request for these fields with the current configuration.
 *
 * @throws Fault request/invalid — inputs and sources that do not pair, no mapping, an option that excludes a dataset; request/forbidden — a place that may not be read;
 * SourceFault — a logical source that no mapping has
 */
export async function inputsRequest(
  fields: ProcessFields,
  snapshot: Snapshot,
  workingDirectory: string,
  functions: DescribedSet | undefined,
): Promise<TransformRequest> {
  const request = processRequestOf(fields);
  const dataset = datasetOf(request.dataset, snapshot, workingDirectory);
  const s3 = s3AccessOf(snapshot);
  const reach = reachOf(snapshot, workingDirectory);
  const access = { workingDirectory, s3, reach };
  for (const url of request.inputs) await assertWithin(splitSheet(url).path, access);
  const { mappings, listed, state } = await findMappings(request.mapping, snapshot, access);
  const sources = await readMappingSources(mappings, {
    ...access,
    base: snapshot.BASE_IRI,
    seconds: snapshot.MAX_RUN_SECONDS,
    functions,
    state,
  });
  const inputs = bindInputs(request, sources, listed);
  const { run, ...settings } = settingsOf(snapshot, workingDirectory);
  return { service: 'semi-structured-transformer', inputs, mappings, run: { ...run, boundOnly: listed }, ...settings, dataset };
}

type Access = Pick<OpenOptions, 'workingDirectory' | 's3' | 'reach'>;

interface FoundMappings {
  readonly mappings: readonly string[];
  /** True for the mappings of a directory: only triples maps of the given inputs are used. */
  readonly listed: boolean;
  /** Of the only mapping, if it is known. */
  readonly state?: InputState;
}

/**
 * The mapping files of the run.
 *
 * @throws Fault request/invalid — a directory without mapping files; request/forbidden
 */
async function findMappings(given: string | undefined, snapshot: Snapshot, access: Access): Promise<FoundMappings> {
  const { workingDirectory } = access;
  const state = given === undefined ? undefined : await stateOf(given, access);
  if (given !== undefined && state !== undefined) return { mappings: [given], listed: false, state };
  const directory = given ?? mappingsOf('semi-structured-transformer', snapshot, workingDirectory);
  const found = await listMappings(directory, access);
  if (found !== undefined && found.length > 0) return { mappings: found, listed: true };
  if (given === undefined) {
    throw new Fault('request/invalid', `The request has no mappingURL, and there is no mapping in ${redact(directory)}`, {
      hint: 'Give mappingURL, put a .ttl or .yml file there with PUT /rml, or set MAPPINGS_DIR_URL',
    });
  }
  if (found === undefined) return { mappings: [given], listed: false };
  throw new Fault('request/invalid', `The directory ${redact(given)} of mappingURL has no ${MAPPING_ENDINGS} file`);
}

/** Asked first: the mapping is nearly always a file, which is found out faster than what a directory has. @throws Fault request/forbidden */
async function stateOf(url: string, access: Access): Promise<InputState | undefined> {
  if (locate(url, access.workingDirectory).kind !== 'http' && compressionByName(url) === 'none') return probeInput(url, access);
  await assertWithin(url, access);
  return undefined;
}

/** undefined: not a directory, so a file or nothing; the run will find out. */
async function listMappings(url: string, access: Access): Promise<readonly string[] | undefined> {
  try {
    return await listDirectory(url, MAPPING_EXTENSIONS, access);
  } catch (error) {
    if (
      error instanceof Fault &&
      (error.code === 'source/missing' || error.code === 'source/refused' || error.code === 'source/unreadable')
    ) {
      return undefined;
    }
    throw error;
  }
}
