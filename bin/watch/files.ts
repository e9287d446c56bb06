/**
 * Waits for changes of files, by looking at them a few times a second.
 *
 * Notices of the system (`fs.watch`) are lost on network drives and in containers, and follow a file that an editor has replaced by another
 * one. Looking at a few files five times a second costs nothing that could be measured.
 */
import { stat } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';

const LOOK_MS = 200;
/** A burst of changes is over when nothing has changed for this long. */
const STILL_MS = 100;
/** A file that is written without a pause is read as it is after this time. */
const MOST_MS = 2000;
/** Some editors remove a file, and write it again. */
const MISSING_MS = 600;

const MISSING = 'missing';

export class WatchedFiles {
  /** Path → what distinguishes a state of the file from the next one. */
  #known = new Map<string, string>();

  /** From now on, changes of these files count, and of no others. Known files keep their state. */
  async watch(paths: Iterable<string>): Promise<void> {
    const wanted = [...new Set(paths)];
    const states = await statesOf(wanted);
    this.#known = new Map(wanted.map((path) => [path, this.#known.get(path) ?? (states.get(path) as string)]));
  }

  /** Resolves when a file has changed, and none changes any more. @throws the reason of `signal` */
  async changed(signal: AbortSignal): Promise<void> {
    const isSame = (states: ReadonlyMap<string, string>, others: ReadonlyMap<string, string>): boolean =>
      [...states].every(([path, state]) => others.get(path) === state);
    const look = (): Promise<Map<string, string>> => statesOf([...this.#known.keys()]);
    while (true) {
      await sleep(LOOK_MS, undefined, { signal });
      let last = await look();
      if (isSame(last, this.#known)) continue;
      const began = performance.now();
      for (let isStill = false; !isStill && performance.now() - began < MOST_MS; ) {
        await sleep(STILL_MS, undefined, { signal });
        const next = await look();
        const isGone = [...next].some(([path, state]) => state === MISSING && this.#known.get(path) !== MISSING);
        isStill = isSame(next, last) && (!isGone || performance.now() - began >= MISSING_MS);
        last = next;
      }
      // Removed, and written again as it was: its time of change differs, so that counts.
      if (isSame(last, this.#known)) continue;
      this.#known = last;
      return;
    }
  }
}

const statesOf = async (paths: readonly string[]): Promise<Map<string, string>> =>
  new Map(await Promise.all(paths.map(async (path): Promise<[string, string]> => [path, await stateOf(path)])));

async function stateOf(path: string): Promise<string> {
  try {
    const { ino, size, mtimeNs } = await stat(path, { bigint: true });
    return `${ino} ${size} ${mtimeNs}`;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code === 'ENOENT' || code === 'ENOTDIR' ? MISSING : `unreadable (${code})`;
  }
}
