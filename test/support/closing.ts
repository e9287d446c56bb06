/** What a test opens and has to be closed when it ends, also when it fails. */
import { afterEach } from '@jest/globals';
import { temporaryDirectory } from './queues/backends.ts';

export interface Closing {
  /** Runs `close` after the test; the last one that was given runs first. */
  closes(close: () => unknown): void;
  /** Path of a directory of the test's own, which is removed after it. */
  directory(): Promise<string>;
}

/** To be called once, at the top of a file. */
export function closeAfterEach(): Closing {
  const open: (() => unknown)[] = [];
  afterEach(async () => {
    for (const close of open.splice(0).reverse()) await close();
  });
  return {
    closes: (close) => void open.push(close),
    async directory() {
      const { path, remove } = await temporaryDirectory();
      open.push(remove);
      return path;
    },
  };
}
