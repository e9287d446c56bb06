/** Deletes the inputs of a run that is published, where DELETE_SOURCE asks for it. */
import { stat, unlink } from 'node:fs/promises';
import type { RunPayload } from '../../queues/jobs.ts';
import type { Snapshot } from '../../src/config/options/options.ts';
import { ownPlaces } from '../../src/config/places.ts';
import { s3AccessOf } from '../../src/config/run-defaults.ts';
import { splitSheet } from '../../src/core/input/formats.ts';
import { redact } from '../../src/core/redact.ts';
import type { Logger } from '../../src/core/telemetry/observe.ts';
import { locate } from '../../src/storage/url.ts';

/**
 * Deletes the files on this machine and the objects (`s3:`) among the inputs that the request names. Directories and inputs on the web stay, and
 * those that only the mapping names.
 *
 * A file whose status has changed since the run began (`startedAt`, Unix time in milliseconds) may hold what the run has not read, so it stays. The
 * time of the change of status, unlike that of the content, is also that of a file which was moved to this name. So a second call, by a worker
 * that repeats the job of one that died, does not delete a new file of the same name.
 *
 * The service's own files stay: mappings, output, and what it keeps in DATA_DIR.
 *
 * Never throws: the run is complete, and an input that cannot be deleted is logged.
 */
export async function deleteSources(
  { runId, service, inputs, deleteSource }: RunPayload,
  startedAt: number | undefined,
  workingDirectory: string,
  logger: Logger,
  options: () => Promise<Snapshot>,
): Promise<void> {
  if (deleteSource !== true || startedAt === undefined) return;
  const snapshot = await options();
  const isOwn = await ownPlaces(snapshot, workingDirectory, service === 'graph-writer');
  for (const { url } of inputs) {
    const input = redact(url);
    try {
      const location = locate(splitSheet(url).path, workingDirectory);
      if (location.kind === 'http') continue;
      if (await isOwn(location)) {
        logger.warn({ run: runId, input }, 'input not deleted: it stands where the service keeps its own files');
        continue;
      }
      if (location.kind === 's3' ? /^$|\/$/.test(location.key) : (await stat(location.path)).isDirectory()) {
        logger.warn({ run: runId, input }, 'input not deleted: it is a directory');
        continue;
      }
      if (location.kind === 's3') {
        const { deleteUnchanged } = await import('../../src/storage/s3/read.ts');
        const outcome = await deleteUnchanged(location, input, s3AccessOf(snapshot), startedAt);
        if (outcome === 'changed') logger.warn({ run: runId, input }, 'input not deleted: it may have changed since the run began');
        else if (outcome === 'deleted') logger.info({ run: runId, input }, 'input deleted');
        continue;
      }
      const found = await stat(location.path);
      if (!found.isFile()) continue;
      if (found.ctimeMs >= startedAt) {
        logger.warn({ run: runId, input }, 'input not deleted: it has changed since the run began');
        continue;
      }
      await unlink(location.path);
      logger.info({ run: runId, input }, 'input deleted');
    } catch (error) {
      // Already deleted: by an earlier attempt of this job, or named twice.
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') continue;
      logger.warn({ run: runId, input, reason: (error as Error).message }, 'input not deleted');
    }
  }
}
