/** Invalid inputs, and the messages about them. */
import { gzipSync } from 'node:zlib';
import { csv, json, latin1, type Row, utf16, xml, zipped } from './files.ts';
import { CSV, encoded } from './mappings.ts';

const PERSON = '{"id":1,"name":"Ada"}';
const ADA = '<person id="1"><name>Ada</name></person>';
const CUT_OFF = 'probably cut off';
const ENCODING_HINT = 'declare it with rml:encoding';

const PACKED = gzipSync(`id,name\n${Array.from({ length: 5000 }, (_, i) => `${i},name ${(i * 7919) % 10_007}\n`).join('')}`);
const DAMAGED = Buffer.from(PACKED).fill(0xff, 2000, 2100);

const bytes = (...values: readonly number[]): Buffer => Buffer.concat([Buffer.from(values), Buffer.alloc(600)]);
const ZIP = bytes(0x50, 0x4b, 3, 4);
const COMPOUND = bytes(0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1);
const PARQUET = Buffer.from('PAR1\x15\x04\x15', 'latin1');
const SQLITE = Buffer.from('SQLite format 3\0', 'latin1');
const HTML = '<!doctype html><html><body><p>Not found<br></body></html>';
const ENTITIES = '<!DOCTYPE people [<!ENTITY a "&b;&b;"><!ENTITY b "&a;&a;">]>';

/** Files of another format than their name says. */
const OTHER_FORMATS: readonly Row[] = [
  ['a workbook that is named .csv', csv(ZIP), 'source/type', {}, ['people.csv', 'a zip archive, perhaps a workbook', '.xlsx']],
  ['a workbook that is named .json', json(ZIP), 'source/type', {}, ['people.json', 'a zip archive']],
  ['a workbook that is named .xml', xml(ZIP), 'source/type', {}, ['people.xml', 'a zip archive']],
  [
    'a workbook that is named .csv, with a declared encoding',
    { ...csv(ZIP), 'mapping.ttl': encoded(CSV, 'UTF-16') },
    'source/type',
    {},
    ['a zip archive, perhaps a workbook'],
  ],
  ['XLS that is named .csv', csv(COMPOUND), 'source/type', {}, ['Office 97–2003', '.xls']],
  ['gzip that is named .csv', csv(PACKED), 'source/type', {}, ['compressed by gzip', '.gz']],
  ['gzip that is named .json', json(PACKED), 'source/type', {}, ['compressed by gzip', 'rml:compression']],
  ['Parquet that is named .csv', csv(PARQUET), 'source/type', {}, ['a Parquet file', '.parquet']],
  ['an SQLite file that is named .csv', csv(SQLITE), 'source/type', {}, ['an SQLite database', 'jdbc:sqlite:']],
  ['a PDF that is named .csv', csv('%PDF-1.7\n'), 'source/type', {}, ['a PDF document']],
  ['an image that is named .xml', xml(bytes(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a)), 'source/type', {}, ['an image']],
  ['JSON that is named .csv', csv('{"people":[]}'), 'mapping/reference', { expression: 'id' }, ['no column "id"', 'people']],
  ['HTML that is named .csv', csv(HTML), 'source/type', {}, ['people.csv', 'is an HTML page']],
  ['HTML that is named .json', json(HTML), 'source/type', {}, ['people.json', 'is an HTML page']],
  ['CSV that is named .json', json('id,name\n1,Ada\n'), 'source/malformed', { line: 1 }, ['"id" is no JSON value']],
  ['JSON that is named .xml', xml('{"people":[]}'), 'source/malformed', { line: 1 }, ['text before the root element']],
  ['HTML that is named .xml', xml(HTML), 'source/type', {}, ['people.xml', 'is an HTML page']],
];

const TOO_DEEP: readonly Row[] = [
  ['JSON that is too deep', json(`{"people":${'['.repeat(2000)}`), 'limit/exceeded', {}, ['nested more than 1000 levels deep']],
  ['XML that is too deep', xml(`<people>${'<person>'.repeat(20_000)}`), 'limit/exceeded', {}, ['nested more than 10000 levels deep']],
  [
    'entities in a circle',
    xml(`${ENTITIES}<people><person id="&a;"/></people>`),
    'source/malformed',
    { line: 1 },
    ['"&a;" refers to itself'],
  ],
];

export const BROKEN_INPUTS: readonly Row[] = [
  ...OTHER_FORMATS,
  ...TOO_DEEP,
  [
    'a quote in CSV that is never closed',
    csv('id,name\n1,Ada\n2,"Zoe\n3,Kim\n'),
    'source/malformed',
    { line: 3, record: 1, byte: 17 },
    ['never closed', 'people.csv', 'Close the quote'],
  ],
  [
    'text behind a closing quote in CSV',
    csv('id,name\n1,Ada\n2,"Zoe" x\n'),
    'source/malformed',
    { line: 3, record: 1, byte: 21, expression: 'name' },
    ['quoted cell is followed by', 'Double a quote'],
  ],
  ['an empty CSV file', csv(''), 'source/malformed', {}, ['people.csv', 'is empty', 'header row']],
  ['an empty JSON file', json(''), 'source/malformed', { byte: 0 }, ['people.json', 'is empty', 'for example []']],
  ['an empty XML file', xml(''), 'source/malformed', { line: 1 }, ['people.xml', 'is empty']],
  [
    'JSON cut off in a text',
    json(`{"people":[\n${PERSON},\n{"id":2,"name":"Zo`),
    'source/malformed',
    { line: 3, record: 1, byte: 53 },
    ['people.json', 'ends too early, within a text', CUT_OFF],
  ],
  [
    'JSON cut off in a record',
    json(`{"people":[\n${PERSON},\n{"id":2,`),
    'source/malformed',
    { line: 3, record: 1, byte: 43 },
    ['ends too early', '3 brackets open', CUT_OFF],
  ],
  [
    'JSON cut off between records',
    json(`{"people":[\n${PERSON},`),
    'source/malformed',
    { line: 2, record: 1, byte: 34 },
    ['ends too early', '2 brackets open', CUT_OFF],
  ],
  [
    'JSON cut off behind the records',
    json(`{"people":[\n${PERSON}]\n`),
    'source/malformed',
    { line: 3, byte: 35 },
    ['ends too early', '1 bracket open', CUT_OFF],
  ],
  [
    'a comma behind the last record in JSON',
    json(`{"people":[\n${PERSON},\n]}`),
    'source/malformed',
    { line: 3, byte: 35 },
    ['"]" where a value should stand', 'A comma may not stand before a closing bracket'],
  ],
  [
    'a comma behind the last member in JSON',
    json('{"people":[\n{"id":1,"name":"Ada",}\n]}'),
    'source/malformed',
    { line: 2, record: 0, byte: 33 },
    ['"}" where a name in double quotes should stand', 'A comma may not stand before a closing bracket'],
  ],
  [
    'text without quotes in JSON',
    json('{"people":[\n{"id":1,"name":Ada}\n]}'),
    'source/malformed',
    { line: 2, record: 0, byte: 27 },
    ['"A" where a value should stand', 'stand in double quotes'],
  ],
  [
    'a second value in a JSON file',
    json(`{"people":[${PERSON}]}\n{}`),
    'source/malformed',
    { line: 2 },
    ['Something follows the end', '.jsonl or .ndjson'],
  ],
  [
    'an end tag in XML that does not match',
    xml('<people>\n<person id="1"><name>Ada</nam></person></people>'),
    'source/malformed',
    { line: 2, record: 0 },
    ['people.xml', '</nam>', '</name> was expected', 'column 25'],
  ],
  [
    'XML cut off in a tag',
    xml(`<people>\n${ADA}\n<person id="2"><na`),
    'source/malformed',
    { line: 3, record: 1 },
    ['ends within a tag', 'in <person>', CUT_OFF],
  ],
  [
    'XML cut off in text',
    xml(`<people>\n${ADA}\n<person id="2"><name>Zo`),
    'source/malformed',
    { line: 3, record: 1 },
    ['ends before </name>', CUT_OFF],
  ],
  [
    'an entity that XML does not have',
    xml('<people>\n<person id="1"><name>Ada&nbsp;L</name></person></people>'),
    'source/malformed',
    { line: 2, record: 0 },
    ['&nbsp;', 'write the character'],
  ],
  ['XML with two roots', xml(`<people>${ADA}</people>\n<people/>`), 'source/malformed', { line: 2 }, ['second root element, <people>']],
  [
    'Latin-1 in a CSV file that is declared to be UTF-8',
    { 'mapping.ttl': encoded(CSV, 'UTF-8'), 'people.csv': latin1('id,name\n1,Ada\n2,Zoë\n') },
    'source/encoding',
    { byte: 18 },
    ['people.csv', 'not valid UTF-8', '0xeb', ENCODING_HINT],
  ],
  ['Latin-1 in CSV', csv(latin1('id,name\n1,Zoë\n')), 'source/encoding', { byte: 12 }, ['people.csv', '0xeb', ENCODING_HINT]],
  [
    'Latin-1 in JSON',
    json(latin1('{"people":[{"id":1,"name":"Zoë"}]}')),
    'source/encoding',
    { byte: 29 },
    ['people.json', '0xeb', ENCODING_HINT],
  ],
  [
    'Latin-1 in XML',
    xml(latin1('<people><person id="Zoë"/></people>')),
    'source/encoding',
    { byte: 22 },
    ['people.xml', '0xeb', ENCODING_HINT],
  ],
  [
    'Latin-1 in XML that says it is UTF-8',
    xml(latin1('<?xml version="1.0" encoding="utf-8"?><people a="ë"/>')),
    'source/encoding',
    { byte: 49 },
    ['people.xml', '0xeb'],
  ],
  [
    'UTF-16 that ends within a character',
    csv(Buffer.concat([utf16('\ufeffid,name\n1,Ada\n'), Buffer.from([0x32])])),
    'source/encoding',
    {},
    ['people.csv', 'not valid utf-16le', 'byte'],
  ],
  [
    'a gzip file that is cut off',
    zipped(PACKED.subarray(0, 9000)),
    'source/malformed',
    { byte: 9000 },
    ['people.csv.gz', 'ends too early', CUT_OFF],
  ],
  ['a gzip file with damage', zipped(DAMAGED), 'source/malformed', {}, ['people.csv.gz', 'gzip input is damaged', 'Fetch or write']],
];
