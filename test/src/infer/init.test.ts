/**
 * Mappings to start from, for random files with strange names: each is valid without warnings, runs on its file as it is, rejects nothing, and
 * makes a statement of every value that it does not say it leaves out.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { withFiles } from '../../bin/faults/trial.ts';
import { quadmillHere } from '../../bin/messages/in-process.ts';
import { Random } from '../../support/random.ts';

const NAMES = [
  'id',
  'a b',
  'ü',
  'x.y',
  "o'q",
  'q"r',
  'b\\s',
  '{c}',
  '(d)',
  '$e',
  '%41',
  'name_id',
  'Größe',
  '日本',
  'a,b',
  'i;j',
  '#',
  '@at',
  '-',
  '1',
  'tab\there',
  'line\nfeed',
  '[*]',
  '~iri',
  '$(x)',
  'a)b',
  "['x']",
  'é́',
];
const SEEDS = Array.from({ length: 10 }, (_, seed) => seed);

interface Result {
  readonly mapping: string;
  readonly told: string;
  readonly lines: readonly string[];
}

/** Writes the mapping of the files, checks it and runs it. */
async function authored(files: Readonly<Record<string, string>>, mapping: string, ...options: readonly string[]): Promise<Result> {
  return withFiles(files, async (directory) => {
    const made = await quadmillHere(directory, 'init', ...Object.keys(files), '-o', mapping, ...options);
    expect(made).toMatchObject({ code: 0 });
    const text = readFileSync(join(directory, mapping), 'utf8');
    const checked = await quadmillHere(directory, 'check', mapping);
    expect([checked.out.trim(), checked.err, text]).toEqual([expect.stringContaining('nothing wrong'), '', text]);
    const run = await quadmillHere(directory, 'run', mapping, '-o', 'out.nq', '--on-error', 'strict');
    // Links lead to records that others lack: the run reports how many.
    const told = run.err.split('\n').filter((line) => line !== '' && !/ found no partner in /.test(line));
    expect([run.code, told, text]).toEqual([0, [], text]);
    return { mapping: text, told: made.err, lines: readFileSync(join(directory, 'out.nq'), 'utf8').split('\n').slice(0, -1) };
  });
}

const literals = (lines: readonly string[]): readonly string[] => lines.filter((line) => /"(?:\^\^<[^>]*>)? \.$/.test(line));

/** Values that no two fields share, so that each makes another statement. */
class Values {
  readonly #random: Random;
  #count = 0;

  constructor(random: Random) {
    this.#random = random;
  }

  text(): string {
    const n = this.#count++;
    return this.#random.pick([
      `t${n}`,
      `${n}`,
      `${n}.5`,
      `00${n}`,
      `${n} "quoted"`,
      `${2000 + n}-02-28`,
      `a\\${n}`,
      `<${n}>&`,
      ` ${n} `,
      `ü${n}`,
      `line\n${n}`,
    ]);
  }

  json(): unknown {
    const n = this.#count++;
    return this.#random.chance(0.6) ? this.text() : this.#random.pick([n, n + 0.5, -n - 1]);
  }
}

const cell = (text: string): string => `"${text.replaceAll('"', '""')}"`;

describe('random CSV', () => {
  test.each(SEEDS)('seed %i', async (seed) => {
    const random = new Random(seed);
    const values = new Values(random);
    const header = Array.from({ length: random.between(1, 7) }, () => (random.chance(0.1) ? '' : random.pick(NAMES)));
    // A row of one empty cell is a blank line, which is no record.
    const rows = Array.from({ length: random.between(1, 5) }, () =>
      header.map((_, at) => (at > 0 && random.chance(0.2) ? '' : values.text())),
    );
    const delimiter = random.pick([',', ';', '\t']);
    const text = [header, ...rows].map((row) => row.map(cell).join(delimiter)).join('\r\n');
    // YARRRML has no key for the quotes that tab-separated text must declare.
    for (const mapping of delimiter === '\t' ? ['m.ttl'] : ['m.ttl', 'm.yml']) {
      const { lines } = await authored({ 'strange file.csv': text }, mapping, '--delimiter', delimiter === '\t' ? '\\t' : delimiter);
      const isReferable = (at: number): boolean => header[at] !== '' && header.filter((name) => name === header[at]).length === 1;
      const cells = rows.flatMap((row) => row.filter((value, at) => isReferable(at) && (value !== '' || mapping === 'm.yml')));
      expect(literals(lines)).toHaveLength(cells.length);
      expect(lines.length - cells.length).toBe(rows.length);
    }
  });
});

type Shape = 'scalar' | 'scalars' | { readonly [name: string]: Shape } | readonly [Shape];

function shapeOf(random: Random, depth: number): { readonly [name: string]: Shape } {
  const shape: Record<string, Shape> = {};
  for (let i = random.between(1, 4); i > 0; i--) {
    const kind = depth === 0 ? random.pick(['scalar', 'scalars']) : random.pick(['scalar', 'scalars', 'object', 'objects']);
    // Of elements, a Turtle comment and a path alike.
    shape[random.pick(NAMES)] =
      kind === 'object' ? shapeOf(random, depth - 1) : kind === 'objects' ? [shapeOf(random, depth - 1)] : (kind as 'scalar' | 'scalars');
  }
  return shape;
}

const isObject = (shape: Shape): boolean => typeof shape === 'object' && !Array.isArray(shape);

/** The name of the class of each node. */
const classesIn = (lines: readonly string[]): readonly string[] =>
  lines.flatMap((line) => /#type> <http:\/\/example\.com\/ns#(\w+)> \.$/.exec(line)?.[1] ?? []);

describe('random JSON', () => {
  test.each(SEEDS)('seed %i', async (seed) => {
    const random = new Random(seed + 1000);
    const values = new Values(random);
    let count = 0;
    // The root is one, too.
    let objects = 1;
    const scalar = (): unknown => {
      count++;
      return values.json();
    };
    const many = (one: () => unknown): unknown[] => Array.from({ length: random.between(1, 3) }, one);
    const make = (shape: Shape): unknown => {
      if (shape === 'scalar') return scalar();
      if (shape === 'scalars') return many(scalar);
      if (Array.isArray(shape)) return many(() => (random.chance(0.15) ? null : make((shape as readonly [Shape])[0])));
      objects++;
      const members = Object.entries(shape).filter(([name]) => name === 'id' || random.chance(0.85));
      return Object.fromEntries(members.map(([name, inner]) => [name, isObject(inner) && random.chance(0.15) ? null : make(inner)]));
    };
    const shape = shapeOf(random, 2);
    const records = many(() => make(shape));
    const before = scalar();
    const root = random.pick([records, { "the records'": records }, { title: before, records }]);
    const total = count - (root === records || !('title' in root) ? 1 : 0);
    const text = JSON.stringify(root, undefined, random.pick([0, 1]));
    for (const mapping of ['m.ttl', 'm.yml']) {
      const { lines, mapping: made } = await authored({ 'a.json': text }, mapping);
      if (!made.includes('left out')) expect(literals(lines)).toHaveLength(total);
      else expect(literals(lines).length).toBeLessThanOrEqual(total);
      expect(classesIn(lines).length).toBeLessThanOrEqual(objects);
    }
  });
});

const PLACES = {
  type: 'FeatureCollection',
  features: [
    {
      type: 'Feature',
      id: 1,
      geometry: { type: 'Point', coordinates: [1.5, 2] },
      properties: { name: 'A', address: { street: 'x', city: { zip: '9000' } }, note: null, tags: [{ k: 'a' }, null] },
    },
    {
      type: 'Feature',
      id: 2,
      geometry: {
        type: 'LineString',
        coordinates: [
          [1.5, 2],
          [3, 4],
        ],
      },
      properties: { name: 'B', address: null },
    },
    {
      type: 'Feature',
      id: 3,
      geometry: {
        type: 'Polygon',
        coordinates: [
          [
            [0, 0],
            [1, 0],
            [1, 1],
            [0, 0],
          ],
        ],
      },
      properties: { name: null, address: { street: 'y', city: null }, note: 'n' },
    },
    { type: 'Feature', id: 4, geometry: null, properties: null },
  ],
};
/** Class → how many nodes have it. */
const CLASSES_OF_PLACES = { Place: 1, Feature: 4, Geometry: 3, Property: 3, Address: 2, City: 1, Tag: 1 };

describe('an object that is null in some records', () => {
  test.each([
    ['places.geojson', JSON.stringify(PLACES), CLASSES_OF_PLACES],
    ['places.jsonl', PLACES.features.map((one) => JSON.stringify(one)).join('\n'), { ...CLASSES_OF_PLACES, Place: 4, Feature: 0 }],
    ['places.json', JSON.stringify([...PLACES.features, null]), { ...CLASSES_OF_PLACES, Place: 4, Feature: 0 }],
  ])('is no entity there: %s', async (name, text, expected) => {
    for (const mapping of ['m.ttl', 'm.yml']) {
      const { lines } = await authored({ [name]: text }, mapping);
      const counts = Object.fromEntries(Object.keys(expected).map((one) => [one, 0]));
      for (const one of classesIn(lines)) counts[one] = (counts[one] ?? 0) + 1;
      expect(counts).toEqual(expected);
      expect(lines.filter((line) => line.includes('/4') && /ns#(?:geometry|properties)>/.test(line))).toEqual([]);
      expect(lines.filter((line) => /\/1> <[^>]*ns#(?:geometry|properties)>/.test(line))).toHaveLength(2);
    }
  });
});

describe('random XML', () => {
  const XML_NAMES = ['id', 'name', 'x.y', 'a-b', 'Größe', '日本', '_c', 'n:k', 'n:id', 'e:k', 'line'];

  test.each(SEEDS)('seed %i', async (seed) => {
    const random = new Random(seed + 2000);
    const values = new Values(random);
    const escaped = (text: string): string => text.replace(/[&<>"]/g, (one) => `&#${one.charCodeAt(0)};`).replaceAll('\n', '&#10;');
    let count = 0;
    const value = (): string => {
      count++;
      return escaped(values.text());
    };
    const names = XML_NAMES.filter(() => random.chance(0.6));
    const element = (name: string, depth: number): string => {
      // Two prefixes of one namespace: an element may have one of the attributes.
      const own = names.filter((one) => one !== 'e:k' && random.chance(0.3));
      const attributes = own.map((one) => ` ${one}="${value()}"`).join('');
      if (depth === 0 || names.length === 0) return `<${name}${attributes}>${value()}</${name}>`;
      const inner = Array.from({ length: random.between(1, 4) }, () => element(random.pick(names), random.between(0, depth - 1)));
      return `<${name}${attributes}>${inner.join(random.pick(['', '\n']))}</${name}>`;
    };
    const records = Array.from({ length: random.between(2, 4) }, () => element('rec', 2)).join('\n');
    const text = `<d:root xmlns:d="http://d" xmlns:n="http://n" xmlns:e="http://n">${records}</d:root>`;
    const { lines, mapping } = await authored({ 'a.xml': text }, 'm.ttl');
    if (mapping.includes('text alone in some places')) return;
    if (mapping.includes('left out')) expect(literals(lines).length).toBeLessThanOrEqual(count);
    else expect(literals(lines)).toHaveLength(count);
  });
});
