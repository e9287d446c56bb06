/** Opens a sheet of an OpenDocument spreadsheet (ODS). @see https://docs.oasis-open.org/office/OpenDocument/v1.3/ */
import { Fault } from '../../../core/fault.ts';
import { fromBytes } from '../../../core/text.ts';
import type { WorkbookOptions } from '../../source.ts';
import { type Archive, encryptedFault } from '../package/archive.ts';
import { Part } from '../package/part.ts';
import type { TagHandler, Tokens } from '../package/tokens.ts';
import { choiceOf, type NamedRange, type Sheet } from '../table/choice.ts';
import { remarks, type SheetReader } from '../table/reader.ts';
import { SheetTable } from '../table/table.ts';
import { OdsRows, SHEET_DEPTH } from './rows.ts';
import { OdsStyles } from './styles.ts';

const OASIS = 'urn:oasis:names:tc:opendocument:xmlns:';

const NAMESPACES: Readonly<Record<string, string>> = {
  [`${OASIS}office:1.0`]: 'office:',
  [`${OASIS}table:1.0`]: 'table:',
  [`${OASIS}text:1.0`]: 'text:',
  [`${OASIS}style:1.0`]: 'style:',
  [`${OASIS}drawing:1.0`]: 'draw:',
  [`${OASIS}datastyle:1.0`]: 'number:',
  [`${OASIS}manifest:1.0`]: 'manifest:',
  'urn:org:documentfoundation:names:experimental:calc:xmlns:calcext:1.0': 'calcext:',
};

const CONTENT = 'content.xml';
/** The whole document, encrypted: the only part of it, since ODF 1.4. */
const ENCRYPTED = 'encrypted-package';

/** @throws Fault source/missing — no such sheet; source/malformed, source/type, source/refused, limit/exceeded */
export async function openOds(archive: Archive, options: WorkbookOptions): Promise<SheetReader> {
  await checkManifest(archive, options);
  const index = await readIndex(archive, options);
  const { sheet, area } = choiceOf(options, index.sheets, index.names);
  const styles = new OdsStyles();
  if (archive.has('styles.xml')) await new Part(archive, 'styles.xml', styleReader(styles), NAMESPACES, options).read();
  const table = new SheetTable(sheet.name, area, options);
  const rows = new OdsRows(table, styles, archive, index.sheets.indexOf(sheet));
  const part = new Part(archive, CONTENT, rows, NAMESPACES, options);
  return {
    table,
    get bytesRead() {
      return archive.bytesRead;
    },
    fill: async () => rows.repeat() || part.next(),
    warnings: () => remarks(table, rows.hiddenRows, rows.merged, rows.firstMerged),
    async close() {
      await part.close();
      await archive.close();
    },
  };
}

const styleReader = (styles: OdsStyles): TagHandler => ({
  wantsText: false,
  open: (name, tokens) => styles.open(name, tokens),
  text() {},
  close() {},
});

async function checkManifest(archive: Archive, options: WorkbookOptions): Promise<void> {
  const { name: input } = options;
  const manifest = 'META-INF/manifest.xml';
  const handler: TagHandler = {
    wantsText: false,
    open(name) {
      if (name === 'manifest:encryption-data') throw encryptedFault(input);
    },
    text() {},
    close() {},
  };
  if (archive.has(manifest)) await new Part(archive, manifest, handler, NAMESPACES, options).read();
  if (archive.has(CONTENT)) return;
  if (archive.has(ENCRYPTED)) throw encryptedFault(input);
  if (!archive.has('[Content_Types].xml')) throw archive.missing(CONTENT);
  throw new Fault('source/type', 'The input is an Office Open XML file, and its name or the request says that it is ODS', {
    place: { input },
    hint: 'Name it .xlsx; on the command line, --input-format xlsx says what a file is whose name is wrong',
  });
}

interface Index {
  readonly sheets: readonly Sheet[];
  readonly names: readonly NamedRange[];
}

/**
 * The sheets and names of the document. Names stand at its end, so a name that is no sheet takes a separate pass; without a name, the pass
 * ends at the first sheet that is not hidden.
 */
async function readIndex(archive: Archive, options: WorkbookOptions): Promise<Index> {
  const reader = new IndexReader(options.sheet);
  const part = new Part(archive, CONTENT, reader, NAMESPACES, options);
  try {
    while (!reader.found && (await part.next()));
  } finally {
    await part.close();
  }
  if (!reader.isSpreadsheet)
    throw new Fault('source/type', 'The OpenDocument file is no spreadsheet', {
      place: { input: options.name },
      hint: 'Give a spreadsheet (ODS), not a text or a drawing',
    });
  return reader;
}

class IndexReader implements TagHandler, Index {
  readonly wantsText = false;
  readonly sheets: Sheet[] = [];
  readonly names: NamedRange[] = [];
  found = false;
  isSpreadsheet = false;
  readonly #wanted: string | undefined;
  readonly #styles = new OdsStyles();
  #depth = 0;

  constructor(wanted: string | undefined) {
    this.#wanted = wanted;
  }

  open(name: string, tokens: Tokens): void {
    const depth = ++this.#depth;
    if (name === 'office:spreadsheet') this.isSpreadsheet = true;
    if (this.sheets.length === 0) this.#styles.open(name, tokens);
    if (name === 'table:table' && depth === SHEET_DEPTH) {
      const sheet = {
        name: fromBytes(tokens.attribute('table:name') ?? ''),
        hidden: this.#styles.hiddenTables.has(tokens.attribute('table:style-name') ?? ''),
      };
      this.sheets.push(sheet);
      this.found = this.#wanted === undefined ? !sheet.hidden : sheet.name === this.#wanted;
      if (this.found) tokens.paused = true;
    } else if (name === 'table:named-range' || name === 'table:database-range') {
      const range = tokens.attribute('table:cell-range-address') ?? tokens.attribute('table:target-range-address') ?? '';
      this.names.push({ name: fromBytes(tokens.attribute('table:name') ?? ''), refersTo: fromBytes(range) });
    } else if (name === 'table:named-expression')
      this.names.push({
        name: fromBytes(tokens.attribute('table:name') ?? ''),
        refersTo: fromBytes(tokens.attribute('table:expression') ?? ''),
      });
  }

  text(): void {}

  close(): void {
    this.#depth--;
  }
}
