/** The package that npm would publish: what is in it, and that its command, service and library work where nothing else is. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { VERSION } from '../../../src/config/version.ts';
import { temporaryDirectory } from '../../support/queues/backends.ts';
import { checkTypes, type Packed, pack, STATEMENTS, tryPackage, unpackInto } from './packed.ts';

let directory: Awaited<ReturnType<typeof temporaryDirectory>>;
let packed: Packed;

beforeAll(async () => {
  directory = await temporaryDirectory();
  packed = await pack(directory.path);
  await unpackInto(directory.path, packed.archive);
}, 300_000);
afterAll(() => directory?.remove());

test('has the program, its types, documents and licence, and nothing of tests, sources or build', () => {
  const wanted = [
    'package.json',
    'README.md',
    'LICENSE',
    'CHANGELOG.md',
    'bin/quadmill.js',
    'dist/bin/bundle/engine.js',
    'dist/bin/bundle/engine-script.js',
    'dist/src/run/exports.d.ts',
    'dist/studio/page/index.html',
  ];
  expect(wanted.filter((path) => !packed.files.includes(path))).toEqual([]);
  const top = new Set(
    packed.files.map((path) =>
      path
        .split('/')
        .slice(0, path.startsWith('dist/') ? 2 : 1)
        .join('/'),
    ),
  );
  const rooms = ['api', 'bin', 'client', 'queues', 'src', 'studio', 'workers'].map((room) => `dist/${room}`);
  expect([...top].sort()).toEqual(['CHANGELOG.md', 'LICENSE', 'README.md', 'bin', 'docs', 'grafana', 'package.json', ...rooms].sort());
  expect(
    packed.files.filter((path) => /(^|\/)test\/|\.map$|tsconfig/.test(path) || (path.endsWith('.ts') && !path.endsWith('.d.ts'))),
  ).toEqual([]);
});

test('runs a mapping, a service, and as a library', async () => {
  const tried = await tryPackage(directory.path);
  expect(tried).toMatchObject({
    version: VERSION,
    mapped: STATEMENTS,
    live: 200,
    asked: '2 records, 2 statements written',
    ended: 0,
    written: STATEMENTS,
  });
  expect(tried.said).toMatch(/^2 records, 2 statements in file:\/\/.*\/out\/people\.nq$/);
}, 300_000);

test('has types that a program can be checked with', async () => {
  expect(await checkTypes(directory.path)).toBe('');
}, 300_000);
