import { execFileSync, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { closeSync, constants, openSync, readSync } from 'node:fs';
import { mkdtemp, open, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { DescriptorWriter, ReaderGone } from '../../../src/sinks/descriptor.ts';

const MB = 1 << 20;

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'quadmill-descriptor-'));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

/** Lines of various lengths, some longer than all buffers together. */
function* pieces(bytes: number): Generator<string> {
  for (let i = 0, made = 0; made < bytes; i++) {
    const length = i % 97 === 96 ? 11 * MB + 7 : 1 + ((i * 7919) % 70_000);
    yield `${i} ${'abcdefg'.repeat(length / 7)}\n`;
    made += length;
  }
}

async function writeAll(writer: DescriptorWriter, bytes: number): Promise<string> {
  const expected = createHash('sha256');
  for (const piece of pieces(bytes)) {
    expected.update(piece);
    await writer.write(piece);
  }
  return expected.digest('hex');
}

/** Opens a pipe for writing without waiting in writes, as soon as a process has opened it for reading. */
async function openWhenRead(path: string): Promise<number> {
  for (;;) {
    try {
      return openSync(path, constants.O_WRONLY | constants.O_NONBLOCK);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENXIO') throw error;
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  }
}

describe('a file', () => {
  test.each([[{ digest: true }], [{ digest: true, durable: true }]])('has everything in order, with %j', async (options) => {
    const path = join(directory, 'out');
    const file = await open(path, 'w');
    const writer = new DescriptorWriter(file.fd, path, options);
    const expected = await writeAll(writer, 80 * MB);
    const { bytes, sha256 } = await writer.finish();
    await file.close();
    const content = await readFile(path);
    expect(bytes).toBe(content.length);
    expect(sha256).toBe(expected);
    expect(createHash('sha256').update(content).digest('hex')).toBe(expected);
  });

  test('may be dropped while buffers wait, and closed right after', async () => {
    const path = join(directory, 'out');
    const file = await open(path, 'w');
    const writer = new DescriptorWriter(file.fd, path, { digest: false });
    await writeAll(writer, 12 * MB);
    await writer.drop();
    await file.close();
  });

  test('whose sync fails on the way is not finished: the sync at the end may not tell', async () => {
    // A device that takes everything and cannot be synced.
    const descriptor = openSync('/dev/null', 'w');
    const writer = new DescriptorWriter(descriptor, 'graph.nq', { digest: false, durable: true });
    const writing = writeAll(writer, 80 * MB).then(() => writer.finish());
    await expect(writing).rejects.toMatchObject({ code: 'sink/failed', message: expect.stringContaining('graph.nq cannot be written: ') });
    await writer.drop();
    closeSync(descriptor);
  });

  test('that is full fails in a write, and in each one after that', async () => {
    const descriptor = openSync('/dev/full', 'w');
    const writer = new DescriptorWriter(descriptor, 'graph.nq', { digest: false });
    const full = { code: 'sink/failed', message: 'graph.nq cannot be written: the disk is full' };
    await expect(writeAll(writer, 40 * MB)).rejects.toMatchObject(full);
    expect(() => writer.write('x\n')).toThrow(expect.objectContaining(full));
    await expect(writer.finish()).rejects.toMatchObject(full);
    await writer.drop();
    closeSync(descriptor);
  });
});

describe('a pipe', () => {
  let path: string;
  beforeEach(() => {
    path = join(directory, 'pipe');
    execFileSync('mkfifo', [path]);
  });

  test('whose reader is slow gets everything in order, in pieces that it takes', async () => {
    const slow = '{ sleep 0.2; dd bs=3000 count=1000 2>/dev/null; sleep 0.2; cat; } < "$1" | sha256sum';
    const reader = spawn('sh', ['-c', slow, 'sh', path], { stdio: ['ignore', 'pipe', 'inherit'] });
    let said = '';
    reader.stdout?.on('data', (chunk) => {
      said += chunk;
    });
    const ended = new Promise((resolve) => reader.on('close', resolve));
    const descriptor = await openWhenRead(path);
    const writer = new DescriptorWriter(descriptor, 'pipe', { digest: false });
    const expected = await writeAll(writer, 30 * MB);
    await writer.finish();
    closeSync(descriptor);
    await ended;
    expect(said.split(' ')[0]).toBe(expected);
  });

  test('that is not read holds its writer, after a few megabytes', async () => {
    const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const descriptor = openSync(path, constants.O_WRONLY | constants.O_NONBLOCK);
    const writer = new DescriptorWriter(descriptor, 'pipe', { digest: false });
    let written = 0;
    const writing = (async () => {
      for (let i = 0; i < 40; i++) {
        await writer.write('x'.repeat(MB - 1));
        written++;
      }
      await writer.finish();
    })();
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(written).toBeGreaterThan(3);
    expect(written).toBeLessThan(11);
    const buffer = Buffer.alloc(MB);
    let read = 0;
    const drain = async (): Promise<void> => {
      while (read < 40 * (MB - 1)) {
        try {
          read += readSync(reader, buffer);
        } catch {
          await new Promise((resolve) => setTimeout(resolve, 1));
        }
      }
    };
    await Promise.all([writing, drain()]);
    expect(read).toBe(40 * (MB - 1));
    closeSync(descriptor);
    closeSync(reader);
  });

  test('that is closed is reported as such, not as an error', async () => {
    const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const descriptor = openSync(path, constants.O_WRONLY | constants.O_NONBLOCK);
    const writer = new DescriptorWriter(descriptor, 'pipe', { digest: false });
    const writing = writeAll(writer, 40 * MB);
    await new Promise((resolve) => setTimeout(resolve, 50));
    closeSync(reader);
    await expect(writing).rejects.toBeInstanceOf(ReaderGone);
    await writer.drop();
    closeSync(descriptor);
  });
});
