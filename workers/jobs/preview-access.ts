/** What a question of the studio may read, as the options say when it is taken. Never part of its job: it holds logins. */
import { join } from 'node:path';
import { callLimitsOf, type FleetFunctions } from '../../queues/custom-functions.ts';
import type { Transformer } from '../../queues/jobs.ts';
import type { Question } from '../../queues/preview.ts';
import { settingsOf } from '../../queues/requests/transform.ts';
import { directories, mappingsOf } from '../../src/config/directories.ts';
import { RUN_DEFAULTS, reachOf, sqlLimitsOf, webAccessOf } from '../../src/config/run-defaults.ts';
import type { ConfigStore } from '../../src/config/store.ts';
import { databaseOf } from '../connections.ts';
import type { PreviewAccess } from '../threads/preview.ts';

export interface PreviewSettings {
  readonly config: Pick<ConfigStore, 'refresh'>;
  readonly workingDirectory: string;
  /** By service. */
  readonly functions: ReadonlyMap<string, FleetFunctions>;
}

/** A thread of 256 MB reads them. */
const RECORD_BYTES = 32 * 2 ** 20;
const BUDGET_BYTES = 64 * 2 ** 20;

export const previewAccess =
  ({ config, workingDirectory, functions }: PreviewSettings) =>
  async (question: Question): Promise<PreviewAccess> => {
    const snapshot = await config.refresh();
    const { spill } = directories(snapshot, workingDirectory);
    const limits = { ...RUN_DEFAULTS.limits, inflationRatio: snapshot.MAX_INFLATION_RATIO };
    const shared = {
      workingDirectory,
      reach: reachOf(snapshot, workingDirectory),
      web: webAccessOf(snapshot),
      limits,
      maxRecordBytes: Math.min(snapshot.MAX_RECORD_BYTES, RECORD_BYTES),
    };
    const files = {
      directory: spill,
      memoryBytes: RECORD_BYTES,
      inflationRatio: snapshot.MAX_INFLATION_RATIO,
      inputBytes: snapshot.MAX_INPUT_BYTES,
    };
    const sample = { ...shared, files };
    if (question.kind === 'sample' || question.kind === 'items' || question.kind === 'ontology') {
      const { mappings } = question;
      return mappings === undefined ? { sample } : { sample, mappings: mappingsOf(mappings, snapshot, workingDirectory) };
    }
    if (question.kind === 'rows' || question.kind === 'tables') {
      const access = databaseOf(snapshot);
      return access === undefined ? { sample } : { sample, database: { access, sql: sqlLimitsOf(snapshot), workingDirectory } };
    }
    const { service } = question;
    const { base, rdf, xmlDefaultNamespace, sql } = settingsOf(snapshot, workingDirectory).run;
    return {
      sample,
      mappings: mappingsOf(service, snapshot, workingDirectory),
      run: {
        ...RUN_DEFAULTS,
        ...shared,
        runId: 'preview',
        base,
        rdf,
        xmlDefaultNamespace,
        sql,
        memoryBudgetBytes: BUDGET_BYTES,
        database: service === 'sql-transformer' ? databaseOf(snapshot) : undefined,
        spillDirectory: join(spill, 'preview'),
        functions: await functionsOf(service),
      },
    };

    async function functionsOf(transformer: Transformer) {
      const fleet = functions.get(transformer);
      const version = fleet?.current();
      if (fleet === undefined || version === undefined) return undefined;
      return { directory: await fleet.directoryOf(version), limits: callLimitsOf(snapshot) };
    }
  };
