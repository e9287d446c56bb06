/** Builds the part of run requests that comes from the configuration: settings for every transformer, and the whole request for SQL. */
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { directories, mappingsOf } from '../../src/config/directories.ts';
import type { Snapshot } from '../../src/config/options/options.ts';
import { reachOf, sqlLimitsOf } from '../../src/config/run-defaults.ts';
import { Fault } from '../../src/core/fault.ts';
import { resolveInside } from '../../src/core/reach/safe-path.ts';
import { redact } from '../../src/core/redact.ts';
import type { PropertyGraphOptions } from '../../src/property-graph/names.ts';
import { hasScheme, locate, objectUrlIn } from '../../src/storage/url.ts';
import type { DatasetRequest, TransformRequest } from '../jobs.ts';

/** The settings of a run; the run keeps this snapshot until it ends. */
export function settingsOf(
  snapshot: Snapshot,
  workingDirectory: string,
): Pick<TransformRequest, 'run' | 'sliceRows' | 'sliceBytes' | 'deleteSource' | 'provenance' | 'output'> {
  return {
    run: {
      base: snapshot.BASE_IRI,
      onError: snapshot.ON_ERROR === 'auto' ? undefined : snapshot.ON_ERROR,
      datatypeCheck: snapshot.DATATYPE_CHECK === 'auto' ? undefined : snapshot.DATATYPE_CHECK,
      // Infinity does not survive JSON.
      maxRejected: snapshot.MAX_REJECTED ?? Number.MAX_SAFE_INTEGER,
      distinct: snapshot.DISTINCT,
      rdf: snapshot.RDF_VERSION,
      memoryBudgetBytes: snapshot.MEMORY_BUDGET_MB * 2 ** 20,
      maxRecordBytes: snapshot.MAX_RECORD_BYTES,
      xmlDefaultNamespace: snapshot.XML_DEFAULT_NAMESPACE,
      limits: {
        inputBytes: snapshot.MAX_INPUT_BYTES,
        inflationRatio: snapshot.MAX_INFLATION_RATIO,
        records: snapshot.MAX_RECORDS,
        statements: snapshot.MAX_STATEMENTS,
        seconds: snapshot.MAX_RUN_SECONDS,
        depth: snapshot.MAX_DEPTH,
      },
      sql: sqlLimitsOf(snapshot),
      reach: reachOf(snapshot, workingDirectory),
      rowsPerPart: snapshot.SQL_ITERATION_ROWS,
    },
    sliceRows: snapshot.SQL_SLICE_ROWS,
    sliceBytes: snapshot.SLICE_BYTES,
    deleteSource: snapshot.DELETE_SOURCE,
    provenance: snapshot.RECORD_PROVO
      ? { directory: directories(snapshot, workingDirectory).provenance, without: snapshot.SWITCHED_OFF_ACTIVITIES }
      : undefined,
    output: {
      directory: directories(snapshot, workingDirectory).output,
      format: snapshot.OUTPUT_FILE_FORMAT,
      propertyGraph: snapshot.PROPERTY_GRAPH_MODE ? { header: snapshot.PG_GRAPH, ...propertyGraphOf(snapshot) } : undefined,
    },
  };
}

/**
 * The dataset of a run: that of its request, else that of the option.
 *
 * @throws Fault request/invalid — an option asks for what a dataset does not have
 */
export function datasetOf(given: string | undefined, snapshot: Snapshot, workingDirectory: string): DatasetRequest | undefined {
  const name = given ?? snapshot.DATASET;
  if (name === undefined) return undefined;
  const { PROPERTY_GRAPH_MODE, DISTINCT, OUTPUT_FILE_FORMAT } = snapshot;
  const refused = [
    [PROPERTY_GRAPH_MODE, 'a dataset has no files of nodes and edges', 'PROPERTY_GRAPH_MODE=false'],
    [!DISTINCT, 'a dataset has each statement once', 'DISTINCT=true'],
    [OUTPUT_FILE_FORMAT !== 'nquads', 'the files of a dataset are N-Quads', 'OUTPUT_FILE_FORMAT=nquads'],
  ] as const;
  for (const [isRefused, why, hint] of refused)
    if (isRefused)
      throw new Fault('request/invalid', `The run cannot make a version of the dataset ${name}: ${why}`, { hint: `Set ${hint}` });
  return { name, url: datasetUrl(name, directories(snapshot, workingDirectory).datasets), keptVersions: snapshot.RETAIN_VERSIONS };
}

/** The directory of a dataset. @param datasets the directory of all of them, a path or URL */
export const datasetUrl = (name: string, datasets: string): string =>
  hasScheme(datasets) ? objectUrlIn(datasets, name) : join(datasets, name);

/** Options for names and texts of a property graph, for its files and for targets. */
export function propertyGraphOf({ PROPERTY_GRAPH_PREFIXES, KEEP_LANGUAGE }: Snapshot): PropertyGraphOptions {
  const splitAt = (row: string, at: number): readonly [string, string] => [row.slice(0, at), row.slice(at + 1)];
  return {
    prefixes: Object.fromEntries(PROPERTY_GRAPH_PREFIXES.map((row) => splitAt(row, row.indexOf('=')))),
    keepLanguage: KEEP_LANGUAGE,
  };
}

/** The location of the master mapping. */
export interface MasterMapping {
  /** Path or URL, as given by the options. */
  readonly url: string;
  /** Where it can be read and written: real path, or address of an object, whose existence only reading shows; undefined: on the web. */
  readonly path: string | undefined;
  readonly present: boolean;
}

/**
 * Locates MASTER_MAPPING_FILE in the mapping directory of the SQL transformer.
 *
 * @throws Fault request/forbidden — the file is not inside the directory
 */
export async function findMasterMapping(snapshot: Snapshot, workingDirectory: string): Promise<MasterMapping> {
  const mappings = mappingsOf('sql-transformer', snapshot, workingDirectory);
  const file = snapshot.MASTER_MAPPING_FILE;
  const location = locate(mappings, workingDirectory);
  if (location.kind === 'http') {
    const directory = new URL(location.url);
    if (!directory.pathname.endsWith('/')) directory.pathname += '/';
    const { href } = new URL(file, directory);
    if (!href.startsWith(directory.href.slice(0, directory.href.length - directory.search.length))) throw outsideFault(file);
    return { url: href, path: undefined, present: true };
  }
  if (location.kind === 's3') {
    if (file.split('/').includes('..')) throw outsideFault(file);
    const url = objectUrlIn(mappings, file);
    return { url, path: url, present: true };
  }
  const there = await stat(location.path).catch(() => undefined);
  const shown = join(location.path, file);
  const url = /^file:/i.test(mappings) ? pathToFileURL(shown).href : shown;
  // If the directory does not exist there are no links, so only `..` can lead out of it.
  if (there === undefined) {
    if (!shown.startsWith(join(location.path, '/'))) throw outsideFault(file);
    return { url, path: shown, present: false };
  }
  const path = await resolveInside(location.path, file).catch((error) => {
    throw error instanceof Fault ? outsideFault(file) : error;
  });
  return { url, path, present: (await stat(path).catch(() => undefined)) !== undefined };
}

const outsideFault = (file: string): Fault =>
  new Fault('request/forbidden', `MASTER_MAPPING_FILE, ${JSON.stringify(file)}, is outside the mapping directory`, {
    hint: 'Set MASTER_MAPPING_FILE to the name of a file in MAPPINGS_DIR_URL',
  });

/** Shown when the master mapping is missing. */
export const MASTER_MAPPING_HINT = 'Put one there with PUT /rml, or set MAPPINGS_DIR_URL and MASTER_MAPPING_FILE';

/**
 * The run request of the SQL transformer: the master mapping with the current configuration.
 *
 * @param dataset undefined: as the option says
 * @throws Fault mapping/unreadable — there is no master mapping, which is a failed run rather than a wrong request; request/forbidden; those of `datasetOf`
 */
export async function sqlRequest(snapshot: Snapshot, workingDirectory: string, dataset?: string): Promise<TransformRequest> {
  const into = datasetOf(dataset, snapshot, workingDirectory);
  const { url, present } = await findMasterMapping(snapshot, workingDirectory);
  if (!present) {
    throw new Fault('mapping/unreadable', `There is no master mapping: it was looked for at ${redact(url)}`, { hint: MASTER_MAPPING_HINT });
  }
  return { service: 'sql-transformer', inputs: [], mappings: [url], ...settingsOf(snapshot, workingDirectory), dataset: into };
}
