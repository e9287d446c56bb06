/** Writes statements in a format and reads them back by parsers that are not ours: n3, jsonld-streaming-parser, rdfxml-streaming-parser and oxigraph. */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { Parser, type Quad, type Term } from 'n3';
import { parse as parseOxigraph } from 'oxigraph';
import { isomorphic } from 'rdf-isomorphic';
import { openFileSink } from '../../../src/sinks/file.ts';
import { FORMAT_EXTENSION, type Serialization } from '../../../src/sinks/sink.ts';
import { Random } from '../../support/random.ts';
import { type Key, literalKey, randomDataset, type Statement } from '../../support/random-dataset.ts';
import { MEDIA_TYPE, readRdf, readRdfJson } from '../../support/read-rdf.ts';
import { repeatedKeys } from './json-keys.ts';

let home: string;
let directory: string;

/** Of the test that runs. */
export const directoryOfTest = (): string => directory;

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'quadmill-formats-'));
});
beforeEach(async () => {
  directory = await mkdtemp(join(home, 'test-'));
});
afterAll(() => rm(home, { recursive: true, force: true }));

export const WITHOUT_GRAPHS: readonly Serialization[] = ['ntriples', 'turtle', 'n3', 'rdfxml', 'rdfjson'];

/** Whether the format can say a statement: XML has no names and characters for some. */
export const canSay = (format: Serialization, { keys }: Statement): boolean =>
  format !== 'rdfxml' || !(keys[1] === '<a:>' || /[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/.test(literalText(keys[2])));
const literalText = (key: Key): string => (key.startsWith('[') ? (JSON.parse(key) as [string])[0] : '');

/** What mappings declare; `http`, `ex`, `e`, `x`, `a` and `urn` are schemes of IRIs in the data as well. */
export const PREFIXES = {
  e: 'http://e/',
  ex: 'http://e/ns/',
  x: 'http://e/a#',
  a: 'http://wrong/',
  urn: 'http://wrong/urn#',
  http: 'http://wrong/http/',
  ü: 'http://é.example/ü/',
  '': 'http://e/a/',
  // Namespaces that end within a segment, one longer than the other.
  half: 'http://e/n',
  longer: 'http://e/ns/a',
  unusable: 'http://e/a b',
};

/** Writes the parts that `batches` make: lines for one write, or undefined where a part ends. */
export async function convert(format: Serialization, batches: readonly (string | undefined)[]): Promise<readonly string[]> {
  const name = `out.${FORMAT_EXTENSION[format]}`;
  const sink = await openFileSink({ directory, name, attempt: 1, format, durable: false, digest: false, prefixes: PREFIXES });
  try {
    for (const lines of batches) await (lines === undefined ? sink.rollOver() : sink.write(lines));
    const parts = await sink.commit();
    return await Promise.all(parts.map(({ url }) => readFile(new URL(url), 'utf8')));
  } catch (error) {
    await sink.abort();
    throw error;
  }
}

/** With the blank node labels of the text. */
export const read = (format: Serialization, text: string): Promise<Quad[]> =>
  // The parser of RDF/XML resolves dots in absolute IRIs, which nothing asks for; the other reader keeps them.
  format === 'rdfxml' && /"[^"]*\/\.\.?\/[^"]*"/.test(text) ? Promise.resolve(readAgain(format, text)) : readRdf(format, text);

/** With new blank nodes. */
export const readAgain = (format: Serialization, text: string): Quad[] =>
  format === 'rdfjson' ? readRdfJson(text) : (parseOxigraph(text, { format: MEDIA_TYPE[format] }) as unknown as Quad[]);

function keyOf(term: Term): Key {
  switch (term.termType) {
    case 'NamedNode':
      return `<${term.value}>`;
    case 'BlankNode':
      return `_:${term.value}`;
    case 'Literal':
      return literalKey(term.value, term.language, term.datatype.value);
    default:
      return '';
  }
}

export const asTexts = (statements: readonly (readonly Key[])[]): readonly string[] =>
  [...new Set(statements.map((keys) => keys.join(' ')))].sort();
export const asKeys = (quads: readonly Quad[]): Key[][] =>
  quads.map((q) => [q.subject, q.predicate, q.object, q.graph].map((term) => keyOf(term as Term)));

/** The document says what the statements say, to two readers. */
export async function expectSame(format: Serialization, text: string, statements: readonly Statement[]): Promise<void> {
  const quads = await read(format, text);
  const expected = asTexts(statements.map(({ keys }) => keys));
  expect(asTexts(asKeys(quads))).toEqual(expected);
  const again = readAgain(format, text);
  if (!expected.some((statement) => statement.includes('_:'))) expect(asTexts(asKeys(again))).toEqual(expected);
  else expect(isomorphic(inLowerCase(again), inLowerCase(quads))).toBe(true);
  if (format === 'jsonld' || format === 'rdfjson') expect(repeatedKeys(text)).toEqual([]);
}

/** Quads of one library, duplicates removed; languages have no case. */
const inLowerCase = (quads: readonly Quad[]): Quad[] => {
  const lines = asTexts(asKeys(quads));
  return new Parser({ format: 'N-Quads', blankNodePrefix: '' }).parse(lines.map(lineOf).join(''));
};
const lineOf = (statement: string): string => {
  const object = statement.indexOf(' [');
  if (object === -1) return `${statement.trimEnd()} .\n`;
  const end = statement.lastIndexOf(']') + 1;
  const [value, language, datatype] = JSON.parse(statement.slice(object + 1, end)) as [string, string, string];
  const text = JSON.stringify(value).replace(/\u007f/g, '\\u007f');
  return `${statement.slice(0, object)} ${text}${language === '' ? `^^<${datatype}>` : `@${language}`}${statement.slice(end).trimEnd()} .\n`;
};

/** Writes of random sizes. */
export function batchesOf(random: Random, statements: readonly Statement[]): string[] {
  const batches: string[] = [];
  for (let from = 0; from < statements.length; ) {
    const to = from + random.between(1, 12);
    batches.push(
      statements
        .slice(from, to)
        .map(({ line }) => line)
        .join(''),
    );
    from = to;
  }
  return batches;
}

/** Forty random datasets for each number. */
export function testRandomDatasets(format: Serialization, series: readonly number[]): void {
  const graphs = !WITHOUT_GRAPHS.includes(format);
  test.each(series)('loses and changes nothing of random datasets, series %d', async (number) => {
    for (let i = 0; i < 40; i++) {
      const random = new Random(number * 1000 + i);
      const statements = randomDataset(random, random.between(0, 40), graphs).filter((one) => canSay(format, one));
      const [text = ''] = await convert(format, batchesOf(random, statements));
      await expectSame(format, text, statements);
    }
  });
}
