/** Broken Parquet, and the messages about it. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parquet } from '../../../src/sources/parquet/writing.ts';
import { PROJECT_ROOT } from '../../../support/project-root.ts';
import type { Row } from '../files.ts';
import { CSV } from '../mappings.ts';

const PEOPLE = parquet([
  { name: 'id', type: 'INT32', data: [1, 2] },
  { name: 'name', type: 'STRING', data: ['Ada', 'Zoe'] },
]);

const file = (content: Uint8Array): Row[1] => ({ 'mapping.ttl': CSV.replace('people.csv', 'people.parquet'), 'people.parquet': content });
const fixture = (name: string): Buffer => readFileSync(join(PROJECT_ROOT, 'test/src/sources/parquet/fixtures', `${name}.parquet`));

/** The file with some bytes of its text replaced. */
function changed(change: (bytes: Buffer) => void): Row[1] {
  const bytes = Buffer.from(PEOPLE);
  change(bytes);
  return file(bytes);
}

/** A file whose pages have checksums, with another byte in a text of the second row group. */
function damagedPage(): Row[1] {
  const bytes = fixture('arrow/checksums-v1-none');
  bytes[bytes.indexOf('name 43') + 6] = 0x34;
  const files = file(bytes);
  return { ...files, 'mapping.ttl': String(files['mapping.ttl']).replace('{id}', '{city}') };
}

/** Levels of structs that hold one another. */
function deep(levels: number): Buffer {
  const groups = Array.from({ length: levels }, (_, i) => ({ name: `g${i}`, repetition_type: 'OPTIONAL' as const, num_children: 1 }));
  const schema = [
    { name: 'root', num_children: 1 },
    ...groups,
    { name: 'id', type: 'INT32' as const, repetition_type: 'OPTIONAL' as const },
  ];
  return parquet([{ name: 'g0', data: [null] }], { schema });
}

export const BROKEN_PARQUET: readonly Row[] = [
  ['an empty file', file(Buffer.alloc(0)), 'source/malformed', {}, ['people.parquet', 'is empty']],
  [
    'text that is named .parquet',
    file(Buffer.from('id,name\n1,Ada\n')),
    'source/malformed',
    {},
    ['should be a Parquet file, and is none', 'a CSV file must be named .csv'],
  ],
  [
    'a file that is cut off',
    file(PEOPLE.subarray(0, -20)),
    'source/malformed',
    {},
    ['does not end with PAR1', 'Fetch or write the file again'],
  ],
  ['a file of four bytes', file(Buffer.from('PAR1')), 'source/malformed', {}, ['it ends behind its first bytes']],
  [
    'a footer that is larger than the file',
    changed((bytes) => void bytes.writeUInt32LE(1_000_000, bytes.length - 8)),
    'source/malformed',
    {},
    ['its footer should have 1000000 bytes'],
  ],
  [
    'a footer of other bytes',
    changed((bytes) => void bytes.fill(0xff, bytes.length - 60, bytes.length - 8)),
    'source/malformed',
    {},
    ['The Parquet file is damaged'],
  ],
  [
    'a text that is longer than its page',
    changed((bytes) => void bytes.writeUInt32LE(1_000_000, bytes.indexOf('Ada') - 4)),
    'source/malformed',
    { record: 0, expression: 'name' },
    ['a page ends within its values'],
  ],
  [
    'a page whose checksum is wrong',
    damagedPage(),
    'source/malformed',
    { record: 40, expression: 'name' },
    [
      'a page has the checksum',
      'and its header states',
      'page 0 of the column "name" in row group 1, at byte 604',
      'Fetch or write the file again',
    ],
  ],
  ['an encrypted file', file(fixture('encrypted')), 'source/refused', {}, ['The Parquet file is encrypted']],
  ['columns that are nested too deep', file(deep(150)), 'limit/exceeded', {}, ['nested more than 100 levels deep']],
  [
    'a column that is not there',
    file(parquet([{ name: 'id', type: 'INT32', data: [1] }])),
    'mapping/reference',
    { expression: 'name' },
    ['There is no column "name"', 'The columns are "id"'],
  ],
];
