/** Builds run requests of the graph writer, and the target named by the configuration. */
import { directories } from '../../src/config/directories.ts';
import { deletesSource } from '../../src/config/effective.ts';
import type { Snapshot } from '../../src/config/options/options.ts';
import { graphOf } from '../../src/config/options/writer.ts';
import { storeLimitsOf } from '../../src/config/run-defaults.ts';
import { Fault } from '../../src/core/fault.ts';
import { assertWithin } from '../../src/storage/open.ts';
import type { TargetAddress, WriteMode } from '../../src/targets/target.ts';
import { checkGraphs } from '../../src/write/request.ts';
import type { WriterRequest } from '../jobs.ts';
import { datasetUrl, propertyGraphOf, settingsOf } from './transform.ts';

/**
 * The run request to write these files, with the current configuration.
 *
 * @param own mode and graphs of this run alone
 * @throws Fault request/invalid — graphs that are named, and not replaced; request/forbidden — a place that may not be read; those of `locate`
 */
export async function writerRequest(
  inputs: readonly string[],
  snapshot: Snapshot,
  workingDirectory: string,
  own: { readonly mode?: WriteMode | undefined; readonly graphs?: readonly string[] | undefined } = {},
): Promise<WriterRequest> {
  const { mode = snapshot.WRITE_MODE } = own;
  const settings = writeSettingsOf(snapshot, workingDirectory);
  const replacesGraphs = mode === 'update' && settings.scope === 'graph';
  const graphs = own.graphs ?? (replacesGraphs ? snapshot.UPDATE_GRAPHS : []);
  const write = { ...settings, mode, graphs };
  checkGraphs(write);
  for (const url of inputs) await assertWithin(url, { workingDirectory, reach: write.reach });
  return {
    service: 'graph-writer',
    inputs: inputs.map((url) => ({ name: undefined, url })),
    deleteSource: deletesSource('writer', snapshot),
    write,
    output: { directory: directories(snapshot, workingDirectory).output },
  };
}

/**
 * The run request to write the versions of a dataset that the target lacks, with the current configuration.
 *
 * @param dataset its name, checked against `DATASET_NAME`
 * @param resync makes the graphs of the target equal to the newest version, whatever is in them
 */
export function datasetWriteRequest(
  { dataset: name, resync }: { readonly dataset: string; readonly resync?: boolean | undefined },
  snapshot: Snapshot,
  workingDirectory: string,
): WriterRequest {
  const at = directories(snapshot, workingDirectory);
  const url = datasetUrl(name, at.datasets);
  return {
    service: 'graph-writer',
    inputs: [{ name: undefined, url }],
    dataset: { name, url, graph: snapshot.GRAPH_IRI && graphOf(snapshot.GRAPH_IRI, name), shared: snapshot.SHARE_STATEMENTS, resync },
    // Statements are added and removed.
    write: { ...writeSettingsOf(snapshot, workingDirectory), mode: 'update' },
    output: { directory: at.output },
  };
}

export function writeSettingsOf(snapshot: Snapshot, workingDirectory: string): WriterRequest['write'] {
  const { memoryBudgetBytes, limits, reach } = settingsOf(snapshot, workingDirectory).run;
  return {
    mode: snapshot.WRITE_MODE,
    scope: snapshot.UPDATE_SCOPE,
    blankNodes: snapshot.BLANK_NODES,
    skolemBase: snapshot.SKOLEM_BASE_IRI,
    patienceSeconds: snapshot.TRIPLESTORE_PATIENCE_SECONDS,
    // Infinity does not survive JSON.
    maxRejected: snapshot.MAX_REJECTED_STATEMENTS ?? Number.MAX_SAFE_INTEGER,
    memoryBudgetBytes,
    limits,
    reach,
  };
}

/** Whether the options name a target for runs of the graph writer. */
export const hasTarget = ({ TRIPLESTORE_TYPE, TRIPLESTORE_ENDPOINT }: Snapshot, store: object | undefined): boolean =>
  TRIPLESTORE_ENDPOINT !== undefined || (TRIPLESTORE_TYPE === 'embedded' && store !== undefined);

/**
 * The target currently named by the options. `store` is the embedded store, if this process has it.
 *
 * @throws Fault config/invalid — no endpoint and no embedded store
 */
export function targetOf(snapshot: Snapshot, store: { readonly endpoint: string } | undefined): TargetAddress {
  const { TRIPLESTORE_TYPE: type, TRIPLESTORE_ENDPOINT } = snapshot;
  const endpoint = TRIPLESTORE_ENDPOINT ?? (type === 'embedded' ? store?.endpoint : undefined);
  if (endpoint === undefined) {
    const [message, hint] =
      type === 'embedded'
        ? [
            'The target is the embedded store, which this process does not have',
            'Set TRIPLESTORE_TYPE and TRIPLESTORE_ENDPOINT, or run one process with SERVICE=all or SERVICE=graph-writer and no --role',
          ]
        : [`The target is of the type ${type}, and TRIPLESTORE_ENDPOINT is not set`, 'Set TRIPLESTORE_ENDPOINT to the URL of the store'];
    throw new Fault('config/invalid', message, { hint });
  }
  return {
    type,
    endpoint,
    username: snapshot.TRIPLESTORE_USERNAME,
    password: snapshot.TRIPLESTORE_PASSWORD,
    ca: snapshot.TRIPLESTORE_CA,
    requestSeconds: snapshot.TRIPLESTORE_TIMEOUT_SECONDS,
    connectSeconds: snapshot.TRIPLESTORE_CONNECT_SECONDS,
    database: snapshot.TRIPLESTORE_DATABASE,
    storeLimits: storeLimitsOf(snapshot),
    propertyGraph: propertyGraphOf(snapshot),
  };
}
