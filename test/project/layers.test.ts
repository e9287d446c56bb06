/** Imports point one way: a room may use only what stands below it. */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { contractsWithParts, findCircles, type Import, siblingImports } from './circles.ts';
import { LIBRARIES, ROOMS, TEST_FOLDERS } from './rooms.ts';

const ROOT = resolve(import.meta.dirname, '../..');

/** Folders whose own folders are rooms. */
const OF_ROOMS: readonly string[] = ['src', 'studio'];
function room(path: string): string {
  const [top = '', ...rest] = path.split('/');
  return OF_ROOMS.includes(top) ? [top, ...rest.slice(0, 1)].join('/') : top;
}

function* sources(directory: string): Generator<string> {
  for (const entry of readdirSync(directory, { withFileTypes: true })) {
    const path = join(directory, entry.name);
    if (entry.isDirectory()) yield* sources(path);
    else if (/\.tsx?$/.test(entry.name)) yield path;
  }
}

function* folders(directory: string): Generator<string> {
  for (const entry of readdirSync(directory, { withFileTypes: true })) {
    if (!entry.isDirectory()) continue;
    yield join(directory, entry.name);
    yield* folders(join(directory, entry.name));
  }
}

const imports = ['src', 'queues', 'workers', 'api', 'client', 'studio', 'bin'].flatMap((top) =>
  [...sources(join(ROOT, top))].flatMap((path) => {
    const text = readFileSync(path, 'utf8');
    const from = relative(ROOT, path);
    return [...text.matchAll(/(?:from|import)\s*\(?\s*'([^']+)'/g)].map(([, specifier]) => {
      const name = specifier as string;
      return { from, to: name.startsWith('.') ? relative(ROOT, resolve(dirname(path), name)) : name, inside: name.startsWith('.') };
    });
  }),
);

describe('imports point one way', () => {
  test('there are imports to check', () => expect(imports.length).toBeGreaterThan(50));

  test.each(Object.entries(ROOMS))('%s uses only what stands below it', (name, { uses }) => {
    const allowed = [name, ...uses];
    const wrong = imports.filter(
      ({ from, to, inside }) =>
        inside && room(from) === name && !to.endsWith('package.json') && !allowed.some((place) => room(to) === place || to === place),
    );
    expect(wrong.map(({ from, to }) => `${from} → ${to}`)).toEqual([]);
  });

  test('the table goes from the bottom to the top, so there is no circle of rooms', () => {
    const names = Object.keys(ROOMS);
    const upwards = Object.entries(ROOMS).flatMap(([name, { uses }]) =>
      uses.filter((used) => names.indexOf(room(used)) >= names.indexOf(name)).map((used) => `${name} → ${used}`),
    );
    expect(upwards).toEqual([]);
  });

  test.each(Object.entries(ROOMS))('%s names nothing twice', (_, { uses }) => {
    // A room stands for all of its files.
    expect(uses.filter((used, i) => uses.indexOf(used) !== i || (room(used) !== used && uses.includes(room(used))))).toEqual([]);
  });

  test('a region of the studio imports no other one: what they share stands in `parts` and `store`', () => {
    const part = (path: string): string => path.split('/')[2] as string;
    const wrong = imports.filter(({ from, to, inside }) => {
      const isView = inside && room(from) === 'studio/ui' && room(to) === 'studio/ui' && part(from) !== part(to);
      return isView && part(from) !== 'app' && !['parts', 'store'].includes(part(to));
    });
    expect(wrong.map(({ from, to }) => `${from} → ${to}`)).toEqual([]);
  });

  test('every room is in the table', () => {
    expect([...new Set(imports.map(({ from }) => room(from)))].filter((name) => !(name in ROOMS))).toEqual([]);
  });

  test('every folder has a line in the table, and every line a folder', () => {
    const written = Object.entries(ROOMS).flatMap(([name, { folders = {} }]) => Object.keys(folders).map((folder) => `${name}/${folder}`));
    const found = Object.keys(ROOMS).flatMap((name) => [...folders(join(ROOT, name))].map((path) => relative(ROOT, path)));
    expect(found.sort()).toEqual(written.sort());
  });

  test('every folder of tests mirrors a room or has a line in the table', () => {
    const mirrors = ['src', 'queues', 'workers', 'api', 'client', 'studio', 'bin'];
    const found = readdirSync(join(ROOT, 'test'), { withFileTypes: true }).filter((entry) => entry.isDirectory());
    expect(
      found
        .map(({ name }) => name)
        .filter((name) => !mirrors.includes(name))
        .sort(),
    ).toEqual(Object.keys(TEST_FOLDERS).sort());
  });

  test.each(Object.keys(ROOMS).filter((name) => ROOMS[name]?.withoutNode))('%s runs without Node', (name) => {
    expect(
      imports.filter(({ from, to }) => room(from) === name && to.startsWith('node:')).map(({ from, to }) => `${from} → ${to}`),
    ).toEqual([]);
  });

  test.each(Object.keys(LIBRARIES))('%s stays behind its room', (library) => {
    const places = LIBRARIES[library] as readonly string[];
    expect(
      imports
        .filter(({ from, to }) => (to === library || to.startsWith(`${library}/`)) && !places.some((place) => from.startsWith(place)))
        .map(({ from }) => from),
    ).toEqual([]);
  });
});

const inner: readonly Import[] = imports.filter(({ inside }) => inside).map(({ from, to }) => [from, to]);

describe('no circle', () => {
  test('escapes the search', () => {
    const ofFiles: readonly Import[] = [
      ['a/x.ts', 'a/y.ts'],
      ['a/y.ts', 'b/z.ts'],
      ['b/z.ts', 'a/x.ts'],
      ['b/z.ts', 'c.ts'],
    ];
    const ofFolders: readonly Import[] = [
      ['a/b/x.ts', 'a/c/d/y.ts'],
      ['a/c/z.ts', 'a/b/w.ts'],
      ['a/b/w.ts', 'a/b/v.ts'],
    ];
    expect(findCircles(ofFiles)).toEqual(['a/x.ts → a/y.ts → b/z.ts → a/x.ts']);
    expect(findCircles(ofFolders)).toEqual([]);
    expect(findCircles(siblingImports(ofFolders))).toEqual(['a/b → a/c → a/b']);
    expect(
      contractsWithParts([
        ['a/b/x.ts', 'a/contract.ts'],
        ['a/contract.ts', 'a/c/y.ts'],
        ['a/open.ts', 'a/b/x.ts'],
      ]),
    ).toEqual(['a/contract.ts → a/c/y.ts']);
  });

  test('of files', () => expect(findCircles(inner)).toEqual([]));

  test('of folders beside each other', () => expect(findCircles(siblingImports(inner))).toEqual([]));

  test('of a folder and its subfolders: what they import from it imports none of them', () =>
    expect(contractsWithParts(inner)).toEqual([]));
});

/** Folders that may have more entries, each with the reason. */
const LARGE: Readonly<Record<string, string>> = {
  'test/src': 'the rooms of src',
  src: 'one folder for each room of the engine',
  test: 'one folder for each of src and the rooms beside it, and further ones',
  'test/src/run/cases': 'golden cases, one folder each',
  'test/src/mapping/cases': 'golden cases, one folder each',
};
const MOST_ENTRIES = 14;

/** How many a reader sees: a file of tests and its neighbour for the soak tests are one. */
function entriesOf(path: string): number {
  const names = readdirSync(path).filter((name) => !name.startsWith('.'));
  return names.filter((name) => !names.includes(name.replace('.soak.test.ts', '.test.ts')) || !name.endsWith('.soak.test.ts')).length;
}

describe('folders', () => {
  test(`have at most ${MOST_ENTRIES} entries beside each other`, () => {
    const tops = ['src', 'queues', 'workers', 'api', 'client', 'studio', 'bin', 'test'].map((top) => join(ROOT, top));
    const large = tops
      .flatMap((top) => [top, ...folders(top)])
      .map((path) => ({ path: relative(ROOT, path), entries: entriesOf(path) }))
      .filter(({ path, entries }) => entries > MOST_ENTRIES && !(path in LARGE));
    expect(large.map(({ path, entries }) => `${path}: ${entries}`)).toEqual([]);
  });
});

describe('signals', () => {
  test('end by a controller and a timer of `src/core/abort.ts`: a time-out that only a combined signal refers to may be collected, and never fires', () => {
    const wrong = ['src', 'queues', 'workers', 'api', 'client', 'studio', 'bin', 'test/chaos', 'test/conformance'].flatMap((top) =>
      [...sources(join(ROOT, top))].filter((path) => /AbortSignal\.(any|timeout)\(/.test(readFileSync(path, 'utf8'))),
    );
    expect(wrong.map((path) => relative(ROOT, path))).toEqual([]);
  });
});
