/** Broken workbooks, and the messages about them. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  ods,
  odsParts,
  odsRows,
  xlsb,
  xlsbParts,
  xlsbRow,
  xlsbShared,
  xlsbSheet,
  xlsx,
  xlsxParts,
  xlsxRows,
  zip,
} from '../../../src/sources/sheet/workbooks.ts';
import { PROJECT_ROOT } from '../../../support/project-root.ts';
import type { Row } from '../files.ts';
import { CSV } from '../mappings.ts';

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

const BINARY = { People: xlsbSheet(PEOPLE) };
const XLSB = xlsb({ sheets: BINARY });
const BINARY_SHEET = 'xl/worksheets/sheet1.bin';
const binary = (content: Uint8Array, sheet?: string) => files('xlsb', content, sheet);

/** A workbook that LibreOffice made. */
const XLS = readFileSync(join(PROJECT_ROOT, 'test', 'src', 'sources', 'sheet', 'libreoffice', 'features.xls'));
const old = (content: Uint8Array, sheet?: string) => files('xls', content, sheet);

/** The workbook of LibreOffice with other bytes from where `mark` is on, and `offset` behind that. */
function patched(mark: Uint8Array, offset: number, bytes: readonly number[]): Buffer {
  const copy = Buffer.from(XLS);
  const at = copy.indexOf(mark);
  if (at < 0) throw new Error('the mark is not in the file');
  copy.set(bytes, at + offset);
  return copy;
}

const STREAM = Buffer.from('Workbook', 'utf16le');
const BEGIN_OF_BOOK = Buffer.from([0x09, 0x08, 0x10, 0x00, 0x00, 0x06, 0x05, 0x00]);
const BEGIN_OF_SHEET = Buffer.from([0x09, 0x08, 0x10, 0x00, 0x00, 0x06, 0x10, 0x00]);
/** The sector of the directory follows itself. */
function circle(): Buffer {
  const copy = Buffer.from(XLS);
  const directory = copy.readUInt32LE(48);
  const table = copy.readUInt32LE(76);
  copy.writeUInt32LE(directory, (table + 1) * 512 + 4 * directory);
  return copy;
}

const BINARY_WORKBOOKS: readonly Row[] = [
  ['an empty XLS', old(Buffer.alloc(0)), 'source/malformed', {}, ['people.xls', 'is empty']],
  [
    'a table of HTML that is named .xls',
    old(Buffer.from('<table><tr><td>id</td></tr></table>')),
    'source/malformed',
    {},
    ['should be a workbook of Excel 97–2003 (XLS), and is none', 'HTML'],
  ],
  ['XLSX that is named .xls', old(XLSX), 'source/type', {}, ['is an archive', 'Name it .xlsx, .xlsb or .ods']],
  ['XLS that is named .xlsb', binary(XLS), 'source/type', {}, ['Excel 97', 'Name it .xls']],
  [
    'XLSX that is named .xlsb',
    binary(XLSX),
    'source/type',
    {},
    ['is XLSX, and its name or the request says that it is XLSB', 'Name it .xlsx'],
  ],
  ['XLSB that is named .xlsx', book(XLSB), 'source/type', {}, ['a binary workbook (XLSB)', 'Name it .xlsb']],
  ['XLSB that is named .ods', files('ods', XLSB), 'source/type', {}, ['Office Open XML']],
  ['ODS that is named .xlsb', binary(ods({ sheets: TABLES })), 'source/type', {}, ['OpenDocument', 'Name it .ods']],
  [
    'a workbook of Excel 95',
    old(patched(STREAM, 0, [...Buffer.from('Book\0\0\0\0', 'utf16le'), ...Buffer.alloc(48), 10, 0])),
    'source/refused',
    {},
    ['a version before Excel 97', 'Save it as XLSX'],
  ],
  ['a workbook of Excel 4', old(Buffer.concat([Buffer.from([9, 4, 6, 0]), Buffer.alloc(600)])), 'source/refused', {}, ['before Excel 97']],
  ['a document of Word', old(patched(STREAM, 0, [...Buffer.from('WordDocu', 'utf16le')])), 'source/type', {}, ['and no workbook']],
  ['an encrypted XLS', old(patched(BEGIN_OF_BOOK, 20, [0x2f, 0x00])), 'source/refused', {}, ['The workbook is encrypted']],
  [
    'an encrypted package that is named .xls',
    old(patched(STREAM, 0, [...Buffer.from('EncryptedPackage', 'utf16le'), ...Buffer.alloc(32), 34, 0])),
    'source/refused',
    {},
    ['The workbook is encrypted'],
  ],
  ['an encrypted XLSB', binary(ENCRYPTED), 'source/refused', {}, ['The workbook is encrypted']],
  ['XLS that is cut off in its header', old(XLS.subarray(0, 300)), 'source/malformed', {}, ['it is cut off']],
  ['XLS that is cut off', old(XLS.subarray(0, 3000)), 'source/malformed', {}, ['The workbook is damaged', 'Fetch or write the file again']],
  ['sectors in a circle', old(circle()), 'source/malformed', {}, ['runs in a circle']],
  [
    'a sheet that does not begin where it should',
    old(patched(BEGIN_OF_SHEET, 0, [0, 0])),
    'source/malformed',
    {},
    ['its records do not begin'],
  ],
  ['no such sheet in XLS', old(XLS, '#Nots'), 'source/missing', {}, ['no sheet, range or name "Nots"', 'Did you mean Notes?']],
  ['XLSB that is cut off', binary(XLSB.subarray(0, 500)), 'source/malformed', {}, ['The workbook is damaged']],
  [
    'a damaged part of XLSB',
    binary(zip(xlsbParts({ sheets: BINARY }), { damaged: BINARY_SHEET })),
    'source/malformed',
    {},
    ['The workbook is damaged', BINARY_SHEET],
  ],
  [
    'no part for a sheet of XLSB',
    binary(xlsb({ sheets: BINARY, parts: { [BINARY_SHEET]: undefined } })),
    'source/malformed',
    {},
    [`no part "${BINARY_SHEET}"`, 'the sheet People refers'],
  ],
  [
    'a part of XLSB that ends too early',
    binary(xlsb({ sheets: { People: xlsbSheet(PEOPLE).subarray(0, -4) } })),
    'source/malformed',
    {},
    ['it ends before its last record'],
  ],
  [
    'a shared text that XLSB lacks',
    binary(xlsb({ sheets: { People: xlsbSheet([['id', 'name']], [xlsbRow(1), xlsbShared(0, 7)]) } })),
    'source/malformed',
    { cell: 'People!A2' },
    ['the shared text 7, and the workbook has 0 of them'],
  ],
  [
    'rows of XLSB out of order',
    binary(xlsb({ sheets: { People: xlsbSheet(PEOPLE, [xlsbRow(1), xlsbShared(0, 0)]) } })),
    'source/malformed',
    {},
    ['there is the cell People!A2, behind People!B3'],
  ],
  [
    'an empty sheet of XLSB',
    binary(xlsb({ sheets: { People: xlsbSheet([]) } })),
    'source/malformed',
    {},
    ['the sheet People: it is empty'],
  ],
];

const ODS = ods({ sheets: TABLES });
const table = (content: Uint8Array, sheet?: string) => files('ods', content, sheet);

const ODS_ALONE: readonly Row[] = [
  ['an empty ODS', table(Buffer.alloc(0)), 'source/malformed', {}, ['people.ods', 'is empty']],
  ['text that is named .ods', table(Buffer.from('id,name\n1,Ada\n')), 'source/malformed', {}, ['a zip archive), and is none', '.csv']],
  [
    'ODS that is cut off',
    table(ODS.subarray(0, 400)),
    'source/malformed',
    {},
    ['The workbook is damaged', 'Fetch or write the file again'],
  ],
  [
    'a damaged part of ODS',
    table(zip(odsParts({ sheets: TABLES }), { damaged: 'content.xml' })),
    'source/malformed',
    {},
    ['The workbook is damaged', 'content.xml'],
  ],
  ['XLS that is named .ods', table(XLS), 'source/type', {}, ['Excel 97', 'Name it .xls']],
  [
    'elements of ODS that are too deep',
    table(ods({ sheets: TABLES, parts: { 'content.xml': `<office:document-content>${DEEP}</office:document-content>` } })),
    'limit/exceeded',
    {},
    ['nested more than 256 levels deep'],
  ],
  ['no such sheet in ODS', table(ODS, '#Peopel'), 'source/missing', {}, ['no sheet, range or name "Peopel"', 'Did you mean People?']],
];

const XLSX_AND_ODS: readonly Row[] = [
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
  [
    'two workbooks in one file',
    book(Buffer.concat([XLSX, xlsx({ sheets: { People: xlsxRows([...PEOPLE, ['3', 'Kim']]) } })])),
    'source/malformed',
    {},
    ['It is unclear what belongs to the workbook', 'and another one before it, at byte 0', 'save it again, or fetch it again'],
  ],
  [
    'a workbook twice in one file',
    book(Buffer.concat([XLSX, XLSX])),
    'source/malformed',
    {},
    ['It is unclear what belongs to the workbook', 'fits to two directories of parts'],
  ],
  [
    'other bytes behind the archive',
    book(Buffer.concat([XLSX, Buffer.from('\n\0more')])),
    'source/malformed',
    {},
    [`the archive ends at byte ${XLSX.length}, and 6 bytes follow that are no padding`, `first at byte ${XLSX.length + 2}`],
  ],
  ['an archive without a workbook', book(zip({ 'a.txt': 'a' })), 'source/malformed', {}, ['The archive is no workbook']],
  ['ODS that is named .xlsx', book(ods({ sheets: TABLES })), 'source/type', {}, ['OpenDocument', 'Name it .ods', '--input-format ods']],
  ['XLSX that is named .ods', files('ods', XLSX), 'source/type', {}, ['Office Open XML', 'Name it .xlsx']],
  ['an older workbook that is named .xlsx', book(COMPOUND), 'source/type', {}, ['Excel 97', 'XLS']],
  ['an encrypted workbook', book(ENCRYPTED), 'source/refused', {}, ['The workbook is encrypted', 'save it without one']],
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
    ['There is a row 3 behind row 9 in the sheet People', SHEET, 'save it again, which sorts them'],
  ],
  [
    'a row twice',
    rows('<row r="2"/><row r="2"/>'),
    'source/malformed',
    {},
    ['There are two rows 2 in the sheet People', SHEET, 'save it again'],
  ],
  ['a row that is none', rows('<row r="x"/>'), 'source/malformed', {}, ['There is a row x in the sheet People, which cannot be', SHEET]],
  [
    'a cell twice',
    rows('<row><c r="B2"><v>1</v></c><c r="A2"><v>1</v></c><c><v>2</v></c></row>'),
    'source/malformed',
    {},
    ['The cell People!B2 is there twice', SHEET, 'Delete one of them'],
  ],
  [
    'a cell of another row',
    rows('<row r="2"><c r="A3"><v>1</v></c></row>'),
    'source/malformed',
    {},
    ['There is a cell A3 in row 2 of the sheet People', SHEET],
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

export const BROKEN_WORKBOOKS: readonly Row[] = [...XLSX_AND_ODS, ...ODS_ALONE, ...BINARY_WORKBOOKS];
