/** Large files of targets: their memory, and the forms that archives have for them. */
import { execFileSync } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { open as openZip } from 'yauzl';
import { zipped } from '../../../src/sinks/packing/zip.ts';
import { SERIALIZATIONS, type Serialization } from '../../../src/sinks/sink.ts';
import type { Compression } from '../../../src/storage/compression.ts';
import { openInput } from '../../../src/storage/open.ts';
import { smallHeap } from '../../support/node/small-heap.ts';
import { PROJECT_ROOT } from '../../support/project-root.ts';

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'quadmill-targets-'));
});
afterAll(() => rm(directory, { recursive: true, force: true }));

describe('memory', () => {
  const dist = (path: string): string => JSON.stringify(join(PROJECT_ROOT, 'dist', path));

  /** Peak memory, in MB, of a process that writes so many statements, of subjects that repeat many times, and reads the file. */
  function peak(count: number, serialization: Serialization, compression: Compression): number {
    const script = `
      import { openTargetFile } from ${dist('src/sinks/target-file.js')};
      import { openInput } from ${dist('src/storage/open.js')};
      import { peakMemoryBytes } from ${dist('bin/report/peak-memory.js')};
      const workingDirectory = ${JSON.stringify(directory)};
      const options = { location: 'large', workingDirectory, serialization: '${serialization}', compression: '${compression}', attempt: 1 };
      const sink = await openTargetFile(options);
      let text = '';
      for (let i = 0; i < ${count}; i++) {
        text += \`<http://example.com/person/\${i % ${count / 5}}> <http://example.com/ontology/property\${i % 7}> "value \${i} of it all" .\\n\`;
        if (text.length < 65536 && i < ${count - 1}) continue;
        await sink.write(text);
        text = '';
      }
      await sink.commit();
      let bytes = 0;
      const input = await openInput('large', { workingDirectory, compression: '${compression}' });
      for await (const chunk of input.bytes) bytes += chunk.length;
      console.log(JSON.stringify({ bytes, megabytes: peakMemoryBytes() / 2 ** 20 }));`;
    const output = execFileSync(process.execPath, [...smallHeap(96), '--input-type=module', '-e', script], { encoding: 'utf8' });
    const { bytes, megabytes } = JSON.parse(output) as { bytes: number; megabytes: number };
    expect(bytes).toBeGreaterThan(count * 50);
    return megabytes;
  }

  const cases: readonly (readonly [Serialization, Compression])[] = [
    ...SERIALIZATIONS.map((serialization) => [serialization, 'none'] as const),
    ...(['gzip', 'zip', 'targz', 'tarxz'] as const).map((compression) => ['nquads', compression] as const),
  ];
  test.each(cases)('of a file of %s, compressed %s, does not grow with it', (serialization, compression) => {
    const [some, many] = [300_000, 1_200_000].map((count) => peak(count, serialization, compression)) as [number, number];
    expect(many).toBeLessThan(Math.max(some + 60, 200));
  });
});

test('a zip archive of more than 4 GiB is right for a reader from its end and for one from its front', async () => {
  const path = join(directory, 'large.zip');
  const file = createWriteStream(path, { encoding: 'latin1' });
  const zip = zipped(
    {
      write: (bytes) => (file.write(bytes) ? undefined : new Promise((done) => file.once('drain', done))),
      commit: () => new Promise((done) => file.end(() => done([]))),
      abort: async () => undefined,
    },
    'large.nq',
  );
  const block = '0'.repeat(2 ** 24);
  const blocks = 2 ** 8 + 1;
  for (let i = 0; i < blocks; i++) await zip.write(block);
  await zip.commit();

  const size = await new Promise((done, fail) =>
    openZip(path, (error, archive) => {
      if (error !== null) fail(error);
      else archive.on('entry', ({ uncompressedSize }) => done(uncompressedSize)).on('error', fail);
    }),
  );
  expect(size).toBe(block.length * blocks);
  let bytes = 0;
  const input = await openInput(path, { reach: undefined, workingDirectory: directory });
  for await (const chunk of input.bytes) bytes += chunk.length;
  expect(bytes).toBe(size);
});
