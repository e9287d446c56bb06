/** The embedded store of a serving process. */
import { directories } from '../src/config/directories.ts';
import type { Snapshot } from '../src/config/options/options.ts';
import { storeLimitsOf } from '../src/config/run-defaults.ts';
import { Fault } from '../src/core/fault.ts';
import type { Logger } from '../src/core/telemetry/observe.ts';
import type { EmbeddedStore } from '../src/targets/embedded/embedded.ts';
import { defaultStoreMemoryMb } from '../workers/threads/memory.ts';

/**
 * Opens the embedded store if this process should have it: one with the routes of the graph writer and workers for its runs (`whole`), and
 * without another target. `salvage`: also a damaged one, with what can be read. A second process of a fleet on the same directory continues without the store.
 *
 * @throws Fault store/damaged; service/unavailable — another process has it, and only this process could execute its runs
 */
export async function openStore(
  whole: boolean,
  snapshot: Snapshot,
  workingDirectory: string,
  logger: Logger,
  salvage: boolean,
): Promise<EmbeddedStore | undefined> {
  const { SERVICE, TRIPLESTORE_TYPE, TRIPLESTORE_ENDPOINT, QUEUE_URL } = snapshot;
  if (!whole || (SERVICE !== 'all' && SERVICE !== 'graph-writer')) return undefined;
  if (TRIPLESTORE_TYPE !== 'embedded' || TRIPLESTORE_ENDPOINT !== undefined) return undefined;
  const directory = directories(snapshot, workingDirectory).store;
  const { openEmbeddedStore } = await import('../src/targets/embedded/embedded.ts');
  try {
    const store = await openEmbeddedStore(directory, {
      warn: (message) => logger.warn({ detail: message }, 'embedded store'),
      salvage,
      ...storeLimitsOf(snapshot),
      memoryBytes: (snapshot.EMBEDDED_MEMORY_MB ?? defaultStoreMemoryMb()) * 1_000_000,
    });
    logger.info({ directory, quads: store.quads }, 'embedded store opened');
    return store;
  } catch (error) {
    const inUse = error instanceof Fault && error.code === 'service/unavailable';
    const alone = QUEUE_URL === undefined || QUEUE_URL === 'embedded:';
    if (!inUse || alone) throw error;
    logger.warn({ detail: error.message }, 'embedded store not opened');
    return undefined;
  }
}
