/** What a run of the graph writer is, whoever asks for it, and the target that the configuration names. */
import { directories } from '../../src/config/directories.ts';
import type { Snapshot } from '../../src/config/options/options.ts';
import { Fault } from '../../src/core/fault.ts';
import type { TargetAddress } from '../../src/targets/target.ts';
import type { WriterRequest } from '../jobs.ts';
import { propertyGraphOf, settingsOf } from './transform.ts';

/** The run that writes these files, under the present configuration. */
export function writerRequest(inputs: readonly string[], snapshot: Snapshot, workingDirectory: string): WriterRequest {
  const { memoryBudgetBytes, limits } = settingsOf(snapshot, workingDirectory).run;
  return {
    service: 'graph-writer',
    inputs: inputs.map((url) => ({ name: undefined, url })),
    write: {
      mode: snapshot.WRITE_MODE,
      scope: snapshot.UPDATE_SCOPE,
      blankNodes: snapshot.BLANK_NODES,
      skolemBase: snapshot.SKOLEM_BASE_IRI,
      patienceSeconds: snapshot.TRIPLESTORE_PATIENCE_SECONDS,
      // Infinity does not survive JSON.
      maxRejected: snapshot.MAX_REJECTED_STATEMENTS ?? Number.MAX_SAFE_INTEGER,
      memoryBudgetBytes,
      limits,
    },
    output: { directory: directories(snapshot, workingDirectory).output },
  };
}

/** Whether runs of the graph writer have a target, as far as the options say. */
export const hasTarget = ({ TRIPLESTORE_TYPE, TRIPLESTORE_ENDPOINT }: Snapshot, store: object | undefined): boolean =>
  TRIPLESTORE_ENDPOINT !== undefined || (TRIPLESTORE_TYPE === 'embedded' && store !== undefined);

/**
 * The target as the options name it now. `store` is the embedded one, where this process has it.
 *
 * @throws Fault config/invalid — there is no endpoint, and no embedded store either
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
    propertyGraph: propertyGraphOf(snapshot),
  };
}
