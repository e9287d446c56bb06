/** Broken XLSX and ODS, and the messages about them. */
import { ods, odsParts, odsRows, xlsx, xlsxParts, xlsxRows, zip } from '../../src/sources/sheet/workbooks.ts';
import type { Row } from './files.ts';
import { CSV } from './mappings.ts';

const PEOPLE = [
  ['id', 'name'],
  ['1', 'Ada'],
  ['2', 'Zoe'],
] as const;
const SHEETS = { People: xlsxRows(PEOPLE) };
const TABLES = { People: odsRows(PEOPLE) };
const XLSX = xlsx({ sheets: SHEETS });

const files = (ending: string, content: Uint8Array, sheet = ''): Row[1] => ({
  'mapping.ttl': CSV.replace('people.csv', `people.${ending}${sheet}`),
  [`people.${ending}`]: content,
});
const book = (content: Uint8Array, sheet?: string) => files('xlsx', content, sheet);
const part = (name: string, content: string | undefined) => book(xlsx({ sheets: SHEETS, parts: { [name]: content } }));
const SHEET = 'xl/worksheets/sheet1.xml';
const rows = (content: string) => book(xlsx({ sheets: { People: `${xlsxRows([['id', 'name']])}${content}` } }));

const COMPOUND = Buffer.concat([Buffer.from([0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1]), Buffer.alloc(2000)]);
const ENCRYPTED = Buffer.concat([COMPOUND, Buffer.from('EncryptedPackage', 'utf16le'), Buffer.alloc(500)]);
const DEEP = `${'<a>'.repeat(400)}${'</a>'.repeat(400)}`;

export const BROKEN_WORKBOOKS: readonly Row[] = [
  ['an empty file', book(Buffer.alloc(0)), 'source/malformed', {}, ['people.xlsx', 'is empty']],
  [
    'text that is named .xlsx',
    book(Buffer.from('id,name\n1,Ada\n')),
    'source/malformed',
    {},
    ['should be a workbook (a zip archive), and is none', '.csv'],
  ],
  [
    'a workbook that is cut off',
    book(XLSX.subarray(0, 900)),
    'source/malformed',
    {},
    ['The workbook is damaged', 'Fetch or write the file again'],
  ],
  [
    'a damaged part',
    book(zip(xlsxParts({ sheets: SHEETS }), { damaged: SHEET })),
    'source/malformed',
    {},
    ['The workbook is damaged', SHEET],
  ],
  ['an archive without a workbook', book(zip({ 'a.txt': 'a' })), 'source/malformed', {}, ['The archive is no workbook']],
  ['ODS that is named .xlsx', book(ods({ sheets: TABLES })), 'source/type', {}, ['OpenDocument', 'Name it .ods', '--input-format ods']],
  ['XLSX that is named .ods', files('ods', XLSX), 'source/type', {}, ['Office Open XML', 'Name it .xlsx']],
  ['an older workbook that is named .xlsx', book(COMPOUND), 'source/type', {}, ['Excel 97', 'XLS']],
  ['an encrypted workbook', book(ENCRYPTED), 'source/refused', {}, ['The workbook is encrypted', 'without a password']],
  ['an encrypted archive', book(zip(xlsxParts({ sheets: SHEETS }), { flags: 1 })), 'source/refused', {}, ['The workbook is encrypted']],
  [
    'an encrypted ODS',
    files(
      'ods',
      ods({
        sheets: TABLES,
        parts: {
          'META-INF/manifest.xml':
            '<m:manifest xmlns:m="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"><m:file-entry><m:encryption-data/></m:file-entry></m:manifest>',
        },
      }),
    ),
    'source/refused',
    {},
    ['The workbook is encrypted'],
  ],
  ['another method of packing', book(zip(xlsxParts({ sheets: SHEETS }), { method: 12 })), 'source/refused', {}, ['packed by method 12']],
  ['no part for a sheet', part(SHEET, undefined), 'source/malformed', {}, [`no part "${SHEET}"`, 'the sheet People refers']],
  [
    'no shared texts',
    book(xlsx({ sheets: SHEETS, parts: { 'xl/sharedStrings.xml': undefined } })),
    'source/malformed',
    {},
    ['no part "xl/sharedStrings.xml"'],
  ],
  [
    'no content in ODS',
    files('ods', zip(odsParts({ sheets: TABLES, parts: { 'content.xml': undefined } }))),
    'source/malformed',
    {},
    ['no part "content.xml"'],
  ],
  ['an ODS that is a text', files('ods', zip({ mimetype: '', 'content.xml': '<a/>' })), 'source/type', {}, ['is no spreadsheet']],
  [
    'a shared text that is not there',
    rows('<row><c t="s"><v>7</v></c></row>'),
    'source/malformed',
    { cell: 'People!A2' },
    ['the shared text "7", and the workbook has 0 of them'],
  ],
  [
    'an error in a cell',
    rows('<row><c t="e"><v>#REF!</v></c></row>'),
    'record/term',
    { cell: 'People!A2', record: 0, value: '"#REF!"' },
    ['The cell People!A2 holds the error #REF!', 'rml:null'],
  ],
  [
    'a formula without its value',
    rows('<row><c><v>1</v></c><c><f>A1</f></c></row>'),
    'record/term',
    { cell: 'People!B2' },
    ['holds a formula whose value is not in the file'],
  ],
  [
    'rows out of order',
    rows('<row r="9"><c r="A9"><v>1</v></c></row><row r="3"/>'),
    'source/malformed',
    {},
    ['There is a row 3 behind row 9', SHEET],
  ],
  [
    'cells out of order',
    rows('<row><c r="B2"><v>1</v></c><c r="A2"><v>1</v></c></row>'),
    'source/malformed',
    {},
    ['There is a cell A2 in row 2', SHEET],
  ],
  ['a cell that is not in its table', rows('<row><c r="ZZZ2"><v>1</v></c></row>'), 'source/malformed', {}, ['There is a cell ZZZ2']],
  [
    'a part that is not well-formed',
    part(SHEET, '<worksheet><sheetData></row></worksheet>'),
    'source/malformed',
    {},
    ['There is "</row>" where </sheetData> was expected', SHEET],
  ],
  ['a part that ends too early', part(SHEET, '<worksheet><sheetData><row><c'), 'source/malformed', {}, ['ends within', SHEET]],
  [
    'a declaration of entities',
    part(SHEET, '<!DOCTYPE a [<!ENTITY b "c">]><worksheet/>'),
    'source/malformed',
    {},
    ['document type declaration'],
  ],
  ['elements that are too deep', part(SHEET, `<worksheet>${DEEP}</worksheet>`), 'limit/exceeded', {}, ['nested more than 256 levels deep']],
  [
    'names in a circle',
    book(xlsx({ sheets: SHEETS, names: '<definedName name="a_a">b_b</definedName><definedName name="b_b">a_a</definedName>' }), '#a_a'),
    'source/malformed',
    {},
    ['a_a → b_b → a_a', 'in a circle'],
  ],
  ['a sheet that is not there', book(XLSX, '#Peopel'), 'source/missing', {}, ['no sheet, range or name "Peopel"', 'Did you mean People?']],
  ['an empty sheet', book(xlsx({ sheets: { People: '' } })), 'source/malformed', {}, ['no header row', 'the sheet People: it is empty']],
  ['a workbook without sheets', book(xlsx({ sheets: {} })), 'source/malformed', {}, ['no sheet with cells']],
];
