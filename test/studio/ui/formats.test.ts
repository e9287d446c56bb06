/** What a file that is added is read as. */
import { expect, test } from '@jest/globals';
import { FORMATS } from '../../../src/core/input/formats.ts';
import { readAs } from '../../../studio/ui/inputs/formats.ts';

test.each([
  ['people.csv', { format: 'csv' }],
  ['people.tab', { format: 'csv', delimiter: '\t' }],
  ['PEOPLE.TSV.gz', { format: 'csv', delimiter: '\t' }],
  ['places.geojson', { format: 'json' }],
  ['places.geojsonl', { format: 'jsonl' }],
  ['events.ldjson.zip', { format: 'jsonl' }],
  ['events.json-seq', { format: 'jsonl' }],
  ['old.xls', { format: 'xlsx' }],
  ['binary.xlsb', { format: 'xlsx' }],
  ['cells.ods', { format: 'ods' }],
  ['rows.pq', { format: 'parquet' }],
  ['https://example.com/a.b/feed.xml?page=2#top', { format: 'xml' }],
])('%s', (name, expected) => expect(readAs(name)).toEqual(expected));

test.each(['people', 'people.txt', 'csv', 'people.csv.bak', 'archive.gz'])('%s has no ending of a format', (name) =>
  expect(readAs(name)).toBeUndefined(),
);

test('every ending that the engine reads has a format', () => {
  const endings = Object.values(FORMATS).flatMap(({ extensions }): readonly string[] => extensions);
  expect(endings.filter((ending) => readAs(`file.${ending}`) === undefined)).toEqual([]);
});
