/** Buffered lines: in memory while they are few, then in a file. */

import { createReadStream } from 'node:fs';
import { type FileHandle, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { toBytes } from '../../core/text.ts';
import { DescriptorWriter, writeFault } from '../../sinks/descriptor.ts';
import { makeDirectory } from '../../storage/local/directory.ts';

const MEMORY_CHARACTERS = 1 << 22;
const BATCH_CHARACTERS = 1 << 16;

export interface WaitingLines {
  /** Adds a line without its line feed. @throws Fault sink/failed */
  add(line: string): void | Promise<void>;
  /** All lines in order, in batches; call it after the last `add`. @throws Fault sink/failed */
  read(): AsyncGenerator<readonly string[], void, undefined>;
  /** May be called at any time, and more than once. */
  remove(): Promise<void>;
}

/** @param directory created when needed; used by nothing else */
export function waitingLines(directory: string): WaitingLines {
  const path = join(directory, 'nodes');
  let lines: string[] = [];
  let held = 0;
  let handle: FileHandle | undefined;
  let writer: DescriptorWriter | undefined;

  async function flush(): Promise<void> {
    try {
      makeDirectory(directory, 0o700);
      handle ??= await open(path, 'w', 0o600);
    } catch (error) {
      throw writeFault(path, error);
    }
    writer ??= new DescriptorWriter(handle.fd, path, { digest: false });
    const text = `${lines.join('\n')}\n`;
    lines = [];
    held = 0;
    await writer.write(toBytes(text));
  }

  async function close(): Promise<void> {
    await writer?.drop();
    writer = undefined;
    await handle?.close();
    handle = undefined;
  }

  return {
    add(line) {
      lines.push(line);
      held += line.length;
      if (held > (writer === undefined ? MEMORY_CHARACTERS : BATCH_CHARACTERS)) return flush();
    },
    async *read() {
      if (writer === undefined) {
        yield lines;
        return;
      }
      if (lines.length > 0) await flush();
      await writer.finish();
      // Not with readline, which also ends lines at U+2028.
      let rest = '';
      for await (const piece of createReadStream(path, { encoding: 'utf8', highWaterMark: 1 << 18 })) {
        const whole = (rest + piece).split('\n');
        rest = whole.pop() as string;
        yield whole;
      }
    },
    async remove() {
      lines = [];
      await close();
      await rm(directory, { recursive: true, force: true });
    },
  };
}
