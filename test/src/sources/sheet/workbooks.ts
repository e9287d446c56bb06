/** Workbooks for tests: zip archives of small parts, written here so that every byte is known. */
import { crc32, deflateRawSync } from 'node:zlib';

export type Parts = Readonly<Record<string, string | Buffer>>;

export interface ZipOptions {
  /** Bit 0: encrypted. */
  readonly flags?: number;
  readonly method?: number;
  /** Damages the content of this part. */
  readonly damaged?: string;
}

/** A zip archive with its directory at the end. */
export function zip(parts: Parts, { flags = 0, method = 8, damaged }: ZipOptions = {}): Buffer {
  const files: Buffer[] = [];
  const directory: Buffer[] = [];
  let at = 0;
  for (const [name, content] of Object.entries(parts)) {
    const bytes = Buffer.from(content as string);
    const packed = method === 0 ? bytes : deflateRawSync(bytes);
    const written = name === damaged ? Buffer.from(packed).fill(0xff, 4, Math.min(24, packed.length)) : packed;
    const fields = Buffer.alloc(26);
    fields.writeUInt16LE(20, 0);
    fields.writeUInt16LE(flags, 2);
    fields.writeUInt16LE(method, 4);
    fields.writeUInt32LE(crc32(bytes), 10);
    fields.writeUInt32LE(packed.length, 14);
    fields.writeUInt32LE(bytes.length, 18);
    fields.writeUInt16LE(Buffer.byteLength(name), 22);
    files.push(Buffer.from('PK\x03\x04'), fields, Buffer.from(name), written);
    const rest = Buffer.alloc(14);
    rest.writeUInt32LE(at, 10);
    directory.push(Buffer.from('PK\x01\x02\x14\x00', 'latin1'), fields, rest, Buffer.from(name));
    at += 30 + Buffer.byteLength(name) + written.length;
  }
  const list = Buffer.concat(directory);
  const end = Buffer.alloc(18);
  end.writeUInt16LE(Object.keys(parts).length, 4);
  end.writeUInt16LE(Object.keys(parts).length, 6);
  end.writeUInt32LE(list.length, 8);
  end.writeUInt32LE(at, 12);
  return Buffer.concat([...files, list, Buffer.from('PK\x05\x06'), end]);
}

const MAIN = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';
const OFFICE = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const RELATIONSHIPS = 'http://schemas.openxmlformats.org/package/2006/relationships';

export interface XlsxParts {
  /** What stands in `sheetData`, by the name of the sheet; a name that begins with `!` is that of a hidden sheet. */
  readonly sheets: Readonly<Record<string, string>>;
  /** Behind `sheetData` of every sheet. */
  readonly behind?: string;
  /** `<si>` elements. */
  readonly strings?: string;
  /** Format codes, of the styles 1, 2, … */
  readonly formats?: readonly string[];
  readonly date1904?: boolean;
  /** `<definedName>` elements. */
  readonly names?: string;
  /** undefined removes a part. */
  readonly parts?: Readonly<Record<string, string | undefined>>;
}

export function xlsxParts({ sheets, behind = '', strings, formats = [], date1904 = false, names = '', parts = {} }: XlsxParts): Parts {
  const all = Object.entries(sheets);
  const escape = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
  const list = all.map(([name], i) => {
    const state = name.startsWith('!') ? ' state="hidden"' : '';
    return `<sheet name="${escape(name.replace(/^!/, ''))}" sheetId="${i + 1}"${state} r:id="rId${i + 1}"/>`;
  });
  const related = all.map((_, i) => `<Relationship Id="rId${i + 1}" Type="${OFFICE}/worksheet" Target="worksheets/sheet${i + 1}.xml"/>`);
  const others = ['sharedStrings', 'styles'].map((type) => `<Relationship Id="${type}" Type="${OFFICE}/${type}" Target="${type}.xml"/>`);
  const whole: Record<string, string | undefined> = {
    '[Content_Types].xml': '<Types/>',
    '_rels/.rels': `<Relationships xmlns="${RELATIONSHIPS}"><Relationship Id="a" Type="${OFFICE}/officeDocument" Target="xl/workbook.xml"/></Relationships>`,
    'xl/workbook.xml': `<?xml version="1.0" encoding="UTF-8"?>\n<workbook xmlns="${MAIN}" xmlns:r="${OFFICE}"><workbookPr date1904="${date1904}"/><sheets>${list.join('')}</sheets><definedNames>${names}</definedNames></workbook>`,
    'xl/_rels/workbook.xml.rels': `<Relationships xmlns="${RELATIONSHIPS}">${related.join('')}${others.join('')}</Relationships>`,
    'xl/styles.xml': `<styleSheet xmlns="${MAIN}"><numFmts>${formats.map((code, i) => `<numFmt numFmtId="${i + 164}" formatCode="${escape(code)}"/>`).join('')}</numFmts><cellStyleXfs><xf numFmtId="14"/></cellStyleXfs><cellXfs><xf numFmtId="0"/>${formats.map((_, i) => `<xf numFmtId="${i + 164}"/>`).join('')}</cellXfs></styleSheet>`,
    'xl/sharedStrings.xml': `<sst xmlns="${MAIN}">${strings ?? ''}</sst>`,
    ...Object.fromEntries(
      all.map(([, rows], i) => [
        `xl/worksheets/sheet${i + 1}.xml`,
        `<worksheet xmlns="${MAIN}"><sheetData>${rows}</sheetData>${behind}</worksheet>`,
      ]),
    ),
    ...parts,
  };
  return Object.fromEntries(Object.entries(whole).filter((entry): entry is [string, string] => entry[1] !== undefined));
}

export const xlsx = (parts: XlsxParts): Buffer => zip(xlsxParts(parts));

const OASIS = 'urn:oasis:names:tc:opendocument:xmlns:';
const DECLARED = [
  ...['office', 'table', 'text', 'style', 'manifest'].map((name) => `xmlns:${name}="${OASIS}${name}:1.0"`),
  `xmlns:number="${OASIS}datastyle:1.0" xmlns:draw="${OASIS}drawing:1.0"`,
  'xmlns:calcext="urn:org:documentfoundation:names:experimental:calc:xmlns:calcext:1.0"',
].join(' ');

export interface OdsParts {
  /** What stands in `table:table`, by name. A name that begins with `!` is that of a hidden sheet. */
  readonly sheets: Readonly<Record<string, string>>;
  readonly styles?: string;
  /** Behind the sheets. */
  readonly behind?: string;
  readonly parts?: Readonly<Record<string, string | undefined>>;
}

export function odsParts({ sheets, styles = '', behind = '', parts = {} }: OdsParts): Parts {
  const tables = Object.entries(sheets).map(
    ([name, rows]) =>
      `<table:table table:name="${name.replace(/^!/, '')}" table:style-name="${name.startsWith('!') ? 'hidden' : 'ta1'}">${rows}</table:table>`,
  );
  const hidden = '<style:style style:name="hidden" style:family="table"><style:table-properties table:display="false"/></style:style>';
  const whole: Record<string, string | undefined> = {
    mimetype: 'application/vnd.oasis.opendocument.spreadsheet',
    'content.xml': `<?xml version="1.0" encoding="UTF-8"?>\n<office:document-content ${DECLARED}><office:automatic-styles>${hidden}${styles}</office:automatic-styles><office:body><office:spreadsheet>${tables.join('')}${behind}</office:spreadsheet></office:body></office:document-content>`,
    'META-INF/manifest.xml': `<manifest:manifest ${DECLARED}/>`,
    ...parts,
  };
  return Object.fromEntries(Object.entries(whole).filter((entry): entry is [string, string] => entry[1] !== undefined));
}

export const ods = (parts: OdsParts): Buffer => zip(odsParts(parts));

/** Rows of plain texts, as `sheetData` and as rows of ODS. */
export const xlsxRows = (rows: readonly (readonly string[])[]): string =>
  rows
    .map(
      (row) =>
        `<row>${row.map((text) => (text === '' ? '<c/>' : `<c t="inlineStr"><is><t>${escaped(text).replace(/_x[\dA-F]{4}_/gi, '_x005F$&')}</t></is></c>`)).join('')}</row>`,
    )
    .join('');

export const odsRows = (rows: readonly (readonly string[])[]): string =>
  rows
    .map((row) => {
      const cells = row.map((text) =>
        text === '' ? '<table:table-cell/>' : `<table:table-cell office:value-type="string">${paragraphs(text)}</table:table-cell>`,
      );
      return `<table:table-row>${cells.join('')}</table:table-row>`;
    })
    .join('');

const paragraphs = (text: string): string =>
  text
    .split('\n')
    .map((line) => `<text:p>${escaped(line).replaceAll(' ', '<text:s/>').replaceAll('\t', '<text:tab/>')}</text:p>`)
    .join('');

const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');

/** A record of XLSB: its type and its size in seven bits a byte, and its content. @see [MS-XLSB] 2.1.4 */
export function xlsbRecord(type: number, ...content: readonly Buffer[]): Buffer {
  const bytes = Buffer.concat(content);
  const head = type < 128 ? [type] : [(type & 127) | 128, type >> 7];
  let size = bytes.length;
  for (; size > 127; size >>= 7) head.push((size & 127) | 128);
  return Buffer.concat([Buffer.from([...head, size]), bytes]);
}

export const u32 = (...numbers: readonly number[]): Buffer => Buffer.from(Uint32Array.from(numbers).buffer);
export const u16 = (...numbers: readonly number[]): Buffer => Buffer.from(Uint16Array.from(numbers).buffer);
export const wide = (text: string): Buffer => Buffer.concat([u32(text.length), Buffer.from(text, 'utf16le')]);

/** The part of a sheet of XLSB: rows of texts. */
export const xlsbSheet = (rows: readonly (readonly string[])[], behind: readonly Buffer[] = []): Buffer =>
  Buffer.concat([
    xlsbRecord(129),
    xlsbRecord(145),
    ...rows.flatMap((row, r) => [
      xlsbRecord(0, u32(r, 0), Buffer.alloc(9)),
      ...row.flatMap((text, c) => (text === '' ? [] : [xlsbRecord(6, u32(c, 0), wide(text))])),
    ]),
    ...behind,
    xlsbRecord(146),
    xlsbRecord(130),
  ]);

/** The part of a sheet of XLSB whose only column is `a`: a header, and rows of the given cells. */
export const xlsbColumn = (cells: readonly Buffer[]): Buffer =>
  Buffer.concat([
    xlsbRecord(129),
    xlsbRecord(145),
    xlsbRow(0),
    xlsbRecord(6, u32(0, 0), wide('a')),
    ...cells.flatMap((cell, i) => [xlsbRow(i + 1), cell]),
    xlsbRecord(146),
    xlsbRecord(130),
  ]);

/** A cell of XLSB that names a shared text. */
export const xlsbShared = (column: number, index: number): Buffer => xlsbRecord(7, u32(column, 0, index));
export const xlsbRow = (row: number): Buffer => xlsbRecord(0, u32(row, 0), Buffer.alloc(9));

export interface XlsbParts {
  /** By the name of the sheet. */
  readonly sheets: Readonly<Record<string, Buffer>>;
  /** Areas of the first sheet, 0-based and inclusive, by their name. */
  readonly names?: Readonly<
    Record<string, { readonly top: number; readonly bottom: number; readonly left: number; readonly right: number }>
  >;
  /** undefined removes a part. */
  readonly parts?: Readonly<Record<string, string | Buffer | undefined>>;
}

export function xlsbParts({ sheets, names = {}, parts = {} }: XlsbParts): Parts {
  const all = Object.entries(sheets);
  const related = all.map((_, i) => `<Relationship Id="rId${i + 1}" Type="${OFFICE}/worksheet" Target="worksheets/sheet${i + 1}.bin"/>`);
  const area = ({ top, bottom, left, right }: { top: number; bottom: number; left: number; right: number }): Buffer =>
    Buffer.concat([Buffer.from([0x3b]), u16(0), u32(top, bottom), u16(left, right)]);
  const book = [
    xlsbRecord(131),
    xlsbRecord(153, u32(0, 0), wide('')),
    ...all.map(([name], i) => xlsbRecord(156, u32(0, i + 1), wide(`rId${i + 1}`), wide(name))),
    xlsbRecord(353),
    xlsbRecord(357),
    xlsbRecord(362, u32(1, 0, 0, 0)),
    xlsbRecord(354),
    ...Object.entries(names).map(([name, range]) =>
      xlsbRecord(39, u32(0), Buffer.from([0]), u32(0xffffffff), wide(name), u32(area(range).length), area(range), u32(0, 0xffffffff)),
    ),
    xlsbRecord(132),
  ];
  const whole: Record<string, string | Buffer | undefined> = {
    '[Content_Types].xml': '<Types/>',
    '_rels/.rels': `<Relationships xmlns="${RELATIONSHIPS}"><Relationship Id="a" Type="${OFFICE}/officeDocument" Target="xl/workbook.bin"/></Relationships>`,
    'xl/workbook.bin': Buffer.concat(book),
    'xl/_rels/workbook.bin.rels': `<Relationships xmlns="${RELATIONSHIPS}">${related.join('')}</Relationships>`,
    ...Object.fromEntries(all.map(([, sheet], i) => [`xl/worksheets/sheet${i + 1}.bin`, sheet])),
    ...parts,
  };
  return Object.fromEntries(Object.entries(whole).filter((entry): entry is [string, string | Buffer] => entry[1] !== undefined));
}

export const xlsb = (parts: XlsbParts): Buffer => zip(xlsbParts(parts));
