/** `quadmill write` to a directory: the embedded store as a target that is open as long as the write. */
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { openEmbeddedStore } from '../../../../src/targets/embedded/embedded.ts';
import { storeClient } from '../../../support/service/store-client.ts';

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'quadmill-embedded-'));
});
afterAll(() => rm(directory, { recursive: true, force: true }));

interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

function write(...args: readonly string[]): Promise<Ended> {
  return new Promise((done) => {
    const child = execFile(process.execPath, [resolve('bin/quadmill.js'), 'write', ...args], { cwd: directory }, (_, out, err) =>
      done({ code: child.exitCode, out, err }),
    );
  });
}

async function quads(path: string): Promise<readonly string[]> {
  const store = await openEmbeddedStore(path);
  try {
    return await storeClient(store.endpoint).quads();
  } finally {
    await store.close();
  }
}

const reported = (what: string): unknown =>
  expect.stringMatching(new RegExp(`^${what} written in [0-9.]+ s to Embedded store in .*store\n$`));

const P = '<http://example.org/p>';
const subject = (i: number): string => `<http://example.org/s${i}>`;

describe('quadmill write --target DIRECTORY', () => {
  test('inserts, once however often, and replaces with --mode update', async () => {
    const first = Array.from({ length: 2_000 }, (_, i) => `${subject(i >> 1)} ${P} "v${i}"${i % 4 < 2 ? '' : ' <http://example.org/g>'} .`);
    await writeFile(join(directory, 'first.nq'), `${first.join('\n')}\n`);
    const second = [`${subject(0)} ${P} "new" .`, `${subject(1)} ${P} "new" .`];
    await writeFile(join(directory, 'second.nq'), `${second.join('\n')}\n`);
    for (let i = 0; i < 2; i++) {
      expect(await write('first.nq', '--target', './store')).toEqual({ code: 0, out: reported('2,000 statements'), err: '' });
      expect(await quads(join(directory, 'store'))).toEqual([...first].sort());
    }
    expect(await write('second.nq', '--target', pathToFileURL(join(directory, 'store')).href, '--mode', 'update')).toEqual({
      code: 0,
      out: reported('2 statements'),
      err: '',
    });
    const left = first.filter((line) => !(line.startsWith(`${subject(0)} `) && line.endsWith('" .')));
    expect(await quads(join(directory, 'store'))).toEqual([...left, ...second].sort());
  }, 240_000);

  test('says how much of it was written when some statements are refused', async () => {
    await writeFile(join(directory, 'some.nq'), `${subject(1)} ${P} "1" .\n<relative> ${P} "1" .\n${subject(2)} ${P} "2" .\n`);
    const { code, out, err } = await write('some.nq', '--target', 'some', '--max-rejected', '1');
    expect([code, out]).toEqual([0, expect.stringMatching(/^2 statements of 3 written in .*some/)]);
    expect(err).toContain('1 statement was rejected');
    await writeFile(join(directory, 'one.nq'), `${subject(1)} ${P} "1" .\n`);
    expect(await write('one.nq', '--target', 'some')).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^1 statement written in .*some/),
    });
  }, 120_000);

  test('a directory that another process has open is left alone, and the message says what to do', async () => {
    await writeFile(join(directory, 'one.nq'), `${subject(1)} ${P} "1" .\n`);
    const store = await openEmbeddedStore(join(directory, 'busy'));
    try {
      const { code, err } = await write('one.nq', '--target', 'busy', '--type', 'embedded', '--patience-seconds', '0');
      expect(code).toBe(1);
      expect(err).toContain(`in use by process ${process.pid}`);
      expect(err).toContain('/sparql');
      expect(await storeClient(store.endpoint).quads()).toEqual([]);
    } finally {
      await store.close();
    }
  }, 120_000);

  test('a damaged directory is refused with the way on, and opened with --salvage', async () => {
    await writeFile(join(directory, 'one.nq'), `${subject(1)} ${P} "1" .\n`);
    await writeFile(join(directory, 'two.nq'), `${subject(2)} ${P} "2" .\n`);
    for (const file of ['one.nq', 'two.nq']) expect(await write(file, '--target', 'damaged')).toMatchObject({ code: 0 });
    const path = join(directory, 'damaged', 'journal-0.log');
    const bytes = await readFile(path);
    bytes.write('X', bytes.indexOf('s1>'));
    await writeFile(path, bytes);
    const refused = await write('two.nq', '--target', 'damaged', '--patience-seconds', '0');
    expect([refused.code, refused.err]).toEqual([1, expect.stringMatching(/1 of \d acknowledged writes.*\n?.*--salvage/s)]);
    expect(await write('two.nq', '--target', 'damaged', '--salvage')).toMatchObject({
      code: 0,
      err: expect.stringContaining('was damaged'),
    });
    expect(await quads(join(directory, 'damaged'))).toEqual([`${subject(2)} ${P} "2" .`]);
  }, 120_000);
});
