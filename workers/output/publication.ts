/** How complete files get their final names: by rename in a directory of this machine, and as completed uploads in object storage. */
import { renameSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Fault } from '../../src/core/fault.ts';
import { writeFault } from '../../src/sinks/descriptor.ts';
import { syncDirectory, syncDirectoryTogether } from '../../src/storage/local/file.ts';
import type { Upload } from '../../src/storage/s3/write.ts';
import type { ObjectDirectory, OutputPlace } from '../task.ts';
import { type Move, objectUrl } from './places.ts';
import { sendFiles } from './transfer.ts';

export interface Publication {
  /** The address of a final name. */
  readonly urlOf: (name: string) => string;
  /**
   * Brings the files to where they can appear without delay. Then calls `confirm`, if that took long.
   *
   * @throws Fault sink/failed, config/invalid; what `confirm` throws
   */
  send(moves: readonly Move[], confirm: () => Promise<unknown>): Promise<void>;
  /** Gives files that were sent their final names, durably. @throws Fault sink/failed, config/invalid */
  appear(moves: readonly Move[]): Promise<void>;
  /** Whether an error of `appear` says that another attempt has taken over. */
  isOvertaken(error: unknown): boolean;
  /** Gives up what was sent and has not appeared. Never throws. */
  abort(): Promise<void>;
}

/** @param shared see `Task` */
export const openPublication = ({ directory, objects }: OutputPlace, shared = false): Publication =>
  objects === undefined ? inDirectory(directory, shared) : inObjects(directory, objects);

function inDirectory(directory: string, shared: boolean): Publication {
  return {
    urlOf: (name) => pathToFileURL(join(directory, name)).href,
    send: async () => undefined,
    async appear(moves) {
      for (const { from, to } of moves) {
        const path = join(directory, to);
        try {
          // Synchronous: it takes microseconds.
          renameSync(join(directory, from), path);
        } catch (error) {
          throw writeFault(path, error);
        }
      }
      await (shared ? syncDirectoryTogether(directory) : syncDirectory(directory));
    },
    isOvertaken: (error) => error instanceof Fault && (error.cause as NodeJS.ErrnoException | undefined)?.code === 'ENOENT',
    abort: async () => undefined,
  };
}

/**
 * All uploads, also that of the manifest, are begun before the job is confirmed. So an attempt that takes over finds and aborts them, and
 * nothing of this one can appear afterwards.
 */
function inObjects(directory: string, objects: ObjectDirectory): Publication {
  const uploads = new Map<string, Upload>();
  const abort = async (): Promise<void> => {
    await Promise.all([...uploads.values()].map((upload) => upload.abort()));
  };
  return {
    urlOf: (name) => objectUrl(objects, name),
    async send(moves, confirm) {
      const sent = await sendFiles(directory, objects, moves);
      for (const [i, { to }] of moves.entries()) uploads.set(to, sent[i] as Upload);
      await confirm();
    },
    async appear(moves) {
      for (const { from, to, objectBytes } of moves) {
        await uploads.get(to)?.complete();
        uploads.delete(to);
        // Objects under temporary names are removed when the run ends.
        if (objectBytes === undefined) await rm(join(directory, from), { force: true });
      }
    },
    isOvertaken: (error) => error instanceof Fault && error.code === 'run/lost',
    abort,
  };
}

/**
 * Gives one complete file its final name. Resolves to its address; undefined: there is none.
 *
 * @param from its temporary name; undefined: there is no file
 * @throws those of `Publication`
 */
export async function publishFile(
  place: OutputPlace,
  from: string | undefined,
  to: string,
  confirm: () => Promise<unknown>,
): Promise<string | undefined> {
  if (from === undefined) return undefined;
  const publication = openPublication(place);
  await publication.send([{ from, to }], confirm);
  await publication.appear([{ from, to }]);
  return publication.urlOf(to);
}
