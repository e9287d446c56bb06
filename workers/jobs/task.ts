/** Turns the payload of a job into the task of a thread. */
import { join } from 'node:path';
import { type DatasetRequest, type RunPayload, SERVICES, type Service, type TransformPayload } from '../../queues/jobs.ts';
import { RUN_DEFAULTS } from '../../src/config/run-defaults.ts';
import type { DatabaseAccess, RunRequest, RunSlice } from '../../src/run/request.ts';
import type { SliceSizes } from '../../src/run/slices/slices.ts';
import type { S3Access } from '../../src/storage/s3-access.ts';
import { locate } from '../../src/storage/url.ts';
import { outputName, outputPlace } from '../output/output.ts';
import type { DatasetTask, OutputPlace, Task } from '../task.ts';

export interface TaskSettings {
  /** Absolute path. */
  readonly spillDirectory: string;
  /** Absolute path: states of datasets in object storage. */
  readonly datasetStates: string;
  readonly workingDirectory: string;
  /** The currently configured database of the SQL transformer; read when a job starts, never stored in one. */
  readonly database: () => Promise<DatabaseAccess | undefined>;
  /** As currently configured; read when a job starts, since it holds logins. */
  readonly web: () => Promise<RunRequest['web']>;
  /** How object storage is reached, as currently configured; never stored in a job. */
  readonly s3: () => Promise<S3Access>;
  /** See `FleetFunctions`. */
  readonly functionDirectory: (version: string, service: Service) => Promise<string>;
}

/** Paths of an attempt: its output, and its spill files, whose directory is absolute. */
export interface AttemptPaths extends OutputPlace {
  readonly name: string;
  readonly spillDirectory: string;
}

export type PathSettings = Pick<TaskSettings, 'spillDirectory' | 's3'>;

/** Files on their way to object storage, a directory beside the spill files. */
const UNSENT = '.unsent';

/** @param attempt see `Task` @throws Fault config/invalid — not an output directory */
export async function pathsOf(data: RunPayload, attempt: string, { spillDirectory, s3 }: PathSettings): Promise<AttemptPaths> {
  const name = outputName(data);
  const place = outputPlace(data.output.directory, join(spillDirectory, UNSENT), await s3());
  return { ...place, name, spillDirectory: join(spillDirectory, `${name}.${attempt}`) };
}

/** @param attempt see `Task` */
export async function taskOf(data: TransformPayload, attempt: string, settings: TaskSettings, slice?: RunSlice): Promise<Task> {
  const isSql = data.service === 'sql-transformer';
  // Asked for at once, the options are read once.
  const [{ directory, objects, name, spillDirectory }, database, web] = await Promise.all([
    pathsOf(data, attempt, settings),
    isSql ? settings.database() : undefined,
    settings.web(),
  ]);
  // JSON has no undefined: the value is absent or null.
  const dataset = data.dataset == null ? undefined : datasetTask(data.dataset, settings);
  return {
    dataset,
    request: {
      ...data.run,
      runId: data.runId,
      startedAt: Date.parse(data.submittedAt),
      mappings: data.mappings,
      inputs: data.inputs,
      workingDirectory: settings.workingDirectory,
      base: data.run.base ?? undefined,
      onError: data.run.onError ?? undefined,
      datatypeCheck: data.run.datatypeCheck ?? undefined,
      // JSON turns Infinity into null.
      maxRejected: data.run.maxRejected ?? Number.POSITIVE_INFINITY,
      rowsPerPart: data.run.rowsPerPart ?? undefined,
      // Absent in the jobs of versions that do not know it.
      sql: data.run.sql ?? RUN_DEFAULTS.sql,
      limits: data.run.limits ?? RUN_DEFAULTS.limits,
      rdf: data.run.rdf ?? RUN_DEFAULTS.rdf,
      xmlDefaultNamespace: data.run.xmlDefaultNamespace ?? RUN_DEFAULTS.xmlDefaultNamespace,
      database,
      web,
      slice,
      functions: data.functions && {
        directory: await settings.functionDirectory(data.functions.version, data.service),
        limits: data.functions.limits,
      },
      // The pool of threads gives a run more.
      threads: 1,
      spillDirectory,
    },
    slices: slice === undefined && dataset === undefined ? sizesOf(data) : { rows: 0, bytes: 0 },
    output: {
      directory,
      objects,
      name,
      format: data.output.format,
      attempt,
      service: SERVICES[data.service].name,
      propertyGraph: data.output.propertyGraph,
    },
  };
}

function datasetTask(dataset: DatasetRequest, { datasetStates, workingDirectory }: TaskSettings): DatasetTask {
  const at = locate(dataset.url, workingDirectory);
  return { ...dataset, stateDirectory: at.kind === 'file' ? join(at.path, 'state') : join(datasetStates, dataset.name) };
}

/** Repeated statements of slices of a file are removed line by line (`repetition-filter.ts`), which needs a line-based format. */
function sizesOf({ service, run, output, sliceRows, sliceBytes }: TransformPayload): SliceSizes {
  const hasLines = output.format === 'nquads' || output.format === 'ntriples';
  return {
    rows: service === 'sql-transformer' ? (sliceRows ?? 0) : 0,
    bytes: run.distinct && !hasLines ? 0 : (sliceBytes ?? 0),
  };
}
