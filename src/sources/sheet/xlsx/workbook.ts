/** What the small parts of an XLSX workbook say: its sheets and names, where their parts are, and what number formats show. */
import { posix } from 'node:path';
import { Fault } from '../../../core/fault.ts';
import { fromBytes } from '../../../core/text.ts';
import type { WorkbookOptions } from '../../source.ts';
import type { Archive } from '../package/archive.ts';
import { Part } from '../package/part.ts';
import type { TagHandler, Tokens } from '../package/tokens.ts';
import type { NamedRange, Sheet } from '../table/choice.ts';
import { type Shown, shownByBuiltIn, shownByCode } from '../values/number-format.ts';

/** Transitional and strict. @see ECMA-376 part 1, annex A */
export const NAMESPACES: Readonly<Record<string, string>> = {
  'http://schemas.openxmlformats.org/spreadsheetml/2006/main': '',
  'http://purl.oclc.org/ooxml/spreadsheetml/main': '',
  'http://schemas.openxmlformats.org/officeDocument/2006/relationships': 'r:',
  'http://purl.oclc.org/ooxml/officeDocument/relationships': 'r:',
  'http://schemas.openxmlformats.org/package/2006/relationships': '',
};

export interface XlsxSheet extends Sheet {
  readonly part: string;
}

export interface Workbook {
  readonly part: string;
  readonly sheets: readonly XlsxSheet[];
  readonly names: readonly NamedRange[];
  readonly date1904: boolean;
  /** Part names; undefined: the workbook has none. */
  readonly strings: string | undefined;
  readonly styles: string | undefined;
}

export interface Relationship {
  /** The last step of the type: `worksheet`, `sharedStrings`. */
  readonly type: string;
  readonly target: string;
}

/** Where the parts of a workbook are. */
interface WorkbookParts {
  /** Of the workbook itself. */
  readonly part: string;
  /** By their id. */
  readonly relationships: ReadonlyMap<string, Relationship>;
  /** The part of this type, such as `styles`. undefined: the workbook has none. */
  partOf(type: string): string | undefined;
}

/** @throws Fault source/malformed — no workbook; source/type — another kind of document */
export async function partsOf(archive: Archive, options: WorkbookOptions): Promise<WorkbookParts> {
  const { name: input } = options;
  const roots = [...(await relationshipsOf(archive, '', options)).values()];
  const part = roots.find(({ type }) => type === 'officeDocument')?.target ?? 'xl/workbook.xml';
  if (!archive.has(part)) {
    if (archive.has('mimetype') && archive.has('content.xml')) throw wrongKind(input, 'an OpenDocument file', '.ods');
    if (archive.has('[Content_Types].xml')) throw archive.missing(part);
    throw new Fault('source/malformed', 'The archive is no workbook', {
      place: { input },
      hint: 'Compare the ending of the file name with the file',
    });
  }
  const relationships = await relationshipsOf(archive, part, options);
  return { part, relationships, partOf: (type) => [...relationships.values()].find((one) => one.type === type)?.target };
}

/** @throws Fault source/malformed — a part is missing or not well-formed; source/type — another kind of document */
export async function readWorkbook(archive: Archive, options: WorkbookOptions): Promise<Workbook> {
  const { part, relationships, partOf } = await partsOf(archive, options);
  if (/\.bin$/i.test(part)) throw wrongKind(options.name, 'a binary workbook (XLSB)', '.xlsb', 'XLSX');
  const reader = new WorkbookReader();
  await new Part(archive, part, reader, NAMESPACES, options).read();
  const sheets = reader.sheets.flatMap(({ name, id, hidden }): XlsxSheet[] => {
    const found = relationships.get(id);
    // Sheets with nothing but a chart or a macro have no cells.
    if (found !== undefined && found.type !== 'worksheet') return [];
    if (found === undefined || !archive.has(found.target)) throw archive.missing(found?.target ?? id, `the sheet ${name}`);
    return [{ name, hidden, part: found.target }];
  });
  return { part, sheets, names: reader.names, date1904: reader.date1904, strings: partOf('sharedStrings'), styles: partOf('styles') };
}

export const wrongKind = (input: string, found: string, ending: string, expected?: string): Fault =>
  new Fault(
    'source/type',
    `The input is ${found}, and its name or the request says ${expected === undefined ? 'otherwise' : `that it is ${expected}`}`,
    {
      place: { input },
      hint: `Name it ${ending}; on the command line, --input-format ${ending.slice(1)} says what a file is whose name is wrong`,
    },
  );

async function relationshipsOf(archive: Archive, part: string, options: WorkbookOptions): Promise<ReadonlyMap<string, Relationship>> {
  const directory = posix.dirname(part);
  const file = posix.join(directory, '_rels', `${posix.basename(part)}.rels`);
  const found = new Map<string, Relationship>();
  if (!archive.has(file)) return found;
  const handler: TagHandler = {
    wantsText: false,
    open(name, tokens) {
      const target = tokens.attribute('Target');
      if (name !== 'Relationship' || target === undefined || tokens.attribute('TargetMode') === 'External') return;
      const type = (tokens.attribute('Type') ?? '').split('/').at(-1) as string;
      found.set(tokens.attribute('Id') ?? '', {
        type,
        target: posix.join('/', directory, '/', target.startsWith('/') ? posix.relative(`/${directory}`, target) : target).slice(1),
      });
    },
    text() {},
    close() {},
  };
  await new Part(archive, file, handler, NAMESPACES, options).read();
  return found;
}

class WorkbookReader implements TagHandler {
  wantsText = false;
  date1904 = false;
  readonly sheets: { readonly name: string; readonly id: string; readonly hidden: boolean }[] = [];
  readonly names: NamedRange[] = [];
  #name: string | undefined;
  #text = '';

  open(name: string, tokens: Tokens): void {
    if (name === 'workbookPr') this.date1904 = isTrue(tokens.attribute('date1904'));
    else if (name === 'sheet') {
      const state = tokens.attribute('state') ?? 'visible';
      this.sheets.push({
        name: fromBytes(tokens.attribute('name') ?? ''),
        id: tokens.attribute('r:id') ?? '',
        hidden: state !== 'visible',
      });
    } else if (name === 'definedName') {
      this.#name = fromBytes(tokens.attribute('name') ?? '');
      this.#text = '';
      this.wantsText = true;
    }
  }

  text(text: string): void {
    this.#text += text;
  }

  close(name: string): void {
    if (name !== 'definedName' || this.#name === undefined) return;
    this.names.push({ name: this.#name, refersTo: fromBytes(this.#text) });
    this.wantsText = false;
  }
}

export const isTrue = (value: string | undefined): boolean => value === '1' || value === 'true' || value === 'on';

/** What cells of each format show, by the number that cells give (`s`). */
export async function readShown(archive: Archive, part: string | undefined, options: WorkbookOptions): Promise<readonly Shown[]> {
  if (part === undefined) return [];
  if (!archive.has(part)) throw archive.missing(part, 'the workbook');
  const codes = new Map<number, Shown>();
  const shown: Shown[] = [];
  let inCells = false;
  const handler: TagHandler = {
    wantsText: false,
    open(name, tokens) {
      if (name === 'numFmt') codes.set(Number(tokens.attribute('numFmtId')), shownByCode(fromBytes(tokens.attribute('formatCode') ?? '')));
      else if (name === 'cellXfs') inCells = true;
      else if (name === 'xf' && inCells) {
        const id = Number(tokens.attribute('numFmtId') ?? 0);
        shown.push(codes.get(id) ?? shownByBuiltIn(id));
      }
    },
    text() {},
    close(name) {
      if (name === 'cellXfs') inCells = false;
    },
  };
  await new Part(archive, part, handler, NAMESPACES, options).read();
  return shown;
}
