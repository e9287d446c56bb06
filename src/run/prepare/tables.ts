/**
 * The tables in which functions of a run look values up: read before its first record, as inputs are, since functions read no files.
 *
 * Each thread has a copy. They do not spill, so their size is bounded.
 */
import { createHash } from 'node:crypto';
import { Fault } from '../../core/fault.ts';
import { formatOfPath } from '../../core/input/formats.ts';
import { redact } from '../../core/redact.ts';
import { detach, toBytes } from '../../core/text.ts';
import type { Accessor, Value, Values } from '../../core/value.ts';
import type { CustomFunctions } from '../../functions/definition.ts';
import { lookUpsIn, type Table } from '../../functions/families/control.ts';
import { fileKey } from '../../mapping/model/expressions.ts';
import { formatOrigin, type LookUpTable } from '../../mapping/model/model.ts';
import { type RunRequest, TABLE_SHARE } from '../request.ts';
import { locateSource } from './documents/inputs.ts';
import { openFileScan } from './documents/open-scan.ts';

/** About what an entry takes beside its texts, in bytes: two strings, and their place in a map. */
const ENTRY_BYTES = 100;
const NEVER = new AbortController().signal;

/** A table that some calls name, perhaps by several mapping documents. */
interface WantedTable extends LookUpTable {
  readonly url: string;
}

/** Plain data, which threads get as a copy. */
export interface LoadedTables {
  /** Digest of their contents. */
  readonly version: string;
  /** By `nameOf`. */
  readonly byName: ReadonlyMap<string, Table>;
  /** What each process and thread holds of them. */
  readonly bytes: number;
  readonly warnings: readonly string[];
}

/** Where the tables are, in the order in which they are read; one file may have several tables, for other columns. */
export const locateTables = (tables: readonly LookUpTable[], request: RunRequest): readonly WantedTable[] =>
  tables.map((table) => ({ ...table, url: locateSource(table.file, request) }));

/**
 * Reads each table once.
 *
 * @throws Fault those of an input; mapping/reference — there is no such column; limit/exceeded — the tables need more memory than they may have
 */
export async function loadTables(
  wanted: readonly WantedTable[],
  request: RunRequest,
  signal: AbortSignal | undefined,
  step: ((doing: string) => void) | undefined,
): Promise<LoadedTables> {
  const mostBytes = Math.floor(request.memoryBudgetBytes * TABLE_SHARE);
  const byPlace = new Map<string, Table>();
  const byName = new Map<string, Table>();
  const digest = createHash('sha256');
  const warnings: string[] = [];
  let bytes = 0;
  for (const one of wanted) {
    const { url, file, from, to } = one;
    const place = JSON.stringify([url, file.sheet, from, to, file.csv?.delimiter]);
    let table = byPlace.get(place);
    if (table === undefined) {
      step?.(`reading ${redact(url)}`);
      const read = await readTable(one, mostBytes - bytes, request, signal ?? NEVER);
      table = read.table;
      bytes += read.bytes;
      warnings.push(...read.warnings);
      byPlace.set(place, table);
      digest.update(JSON.stringify([from, to, file.csv?.delimiter, ...table]));
    }
    byName.set(nameOf(fileKey(file), from, to, file.csv?.delimiter), table);
  }
  return { version: digest.digest('hex'), byName, bytes, warnings };
}

/** Functions of the run, and those that look values up in tables. */
export function withTables(opened: CustomFunctions | undefined, { version, byName }: LoadedTables): CustomFunctions {
  const lookUps = lookUpsIn((file, from, to, delimiter) => {
    const table = byName.get(nameOf(file, from, to, delimiter));
    if (table === undefined) throw new Error(`no table was read for ${file}`);
    return table;
  });
  const byIri = new Map(lookUps.flatMap((one) => [one.iri, ...one.aliases].map((iri) => [iri, one] as const)));
  return { definitions: [], ...opened, version: `${opened?.version} ${version}`, find: (iri) => opened?.find(iri) ?? byIri.get(iri) };
}

const nameOf = (file: string, from: number, to: number, delimiter: string | undefined): string =>
  JSON.stringify([toBytes(file), from, to, delimiter]);

interface ReadTable {
  readonly table: Table;
  readonly bytes: number;
  readonly warnings: readonly string[];
}

/** The first row of each key counts. As in legacy RML, an empty cell without quotes is no value. */
async function readTable(
  { file, from, to, url }: WantedTable,
  mostBytes: number,
  request: RunRequest,
  signal: AbortSignal,
): Promise<ReadTable> {
  const origin = formatOrigin(file.origin);
  const references = [from, to].map((column) => String(column + 1));
  const plan = { dialect: 'legacy', iterations: [{ iterator: undefined, references, origin }] } as const;
  // The call says how the file is written, and not the options for inputs.
  const options = { ...request, inputOptions: undefined, firstRecords: undefined };
  let close = async (): Promise<void> => undefined;
  try {
    const { scan, name, ...opened } = await openFileScan(plan, file, { url, given: false }, options, signal, undefined, undefined);
    close = () => opened.close();
    const columns = scan.columns?.().length ?? 0;
    const beyond = [from, to].find((column) => column >= columns);
    if (beyond !== undefined) throw noColumn(beyond, columns, name, file.csv?.delimiter ?? (formatOfPath(url) === 'tsv' ? '\t' : ','));
    const [keyOf, valueOf] = references.map((reference) => scan.accessor(0, reference)) as [Accessor, Accessor];
    const table = new Map<string, string | undefined>();
    let bytes = 0;
    for await (const { records } of scan.batches(signal)) {
      for (const record of records) {
        const key = textOf(keyOf(record));
        if (key === undefined || table.has(key)) continue;
        // A first row without a value hides the others, too.
        const value = textOf(valueOf(record));
        bytes += key.length + (value?.length ?? 0) + ENTRY_BYTES;
        if (bytes > mostBytes) throw tooLarge(name, request);
        table.set(detach(key), value === undefined ? undefined : detach(value));
      }
    }
    return { table, bytes, warnings: scan.warnings?.() ?? [] };
  } catch (error) {
    throw placed(error, origin, file.path === url, request);
  } finally {
    await close();
  }
}

function textOf(values: Values): string | undefined {
  const [value] = Array.isArray(values) ? (values as readonly Value[]) : [values as Value | null];
  return value === null || value === undefined ? undefined : typeof value === 'string' ? value : value.written;
}

function noColumn(column: number, columns: number, input: string, delimiter: string): Fault {
  const has = columns === 1 ? 'one column, 0' : `${columns} columns, 0 to ${columns - 1}`;
  return new Fault('mapping/reference', `A function looks values up in column ${column}, and the file has ${has}`, {
    place: { input },
    hint: `Columns are numbered from 0, and ${JSON.stringify(delimiter)} separates them; idlab-fn:lookupWithDelimiter takes another character`,
  });
}

const tooLarge = (input: string, { memoryBudgetBytes }: RunRequest): Fault =>
  new Fault('limit/exceeded', 'The tables in which functions look values up need more than a quarter of the memory of the run', {
    limit: 'MEMORY_BUDGET_MB',
    place: { input },
    hint: `Make the file the logical source of another triples map and join it, or raise MEMORY_BUDGET_MB (--memory-mb), which is ${memoryBudgetBytes / 2 ** 20}`,
  });

/** The fault with the place of the argument that names the file. */
function placed(error: unknown, mapping: string, isAbsolute: boolean, { inputOptions }: RunRequest): unknown {
  if (!(error instanceof Fault) || error.code === 'run/cancelled') return error;
  if (error.code !== 'source/missing' || isAbsolute) return error.with({ place: { mapping } });
  const base = inputOptions?.sourceRoot === undefined ? 'the directory of the mapping' : '--source-root';
  const where = `The relative path of a file in which a function looks values up begins at ${base}`;
  return error.with({ place: { mapping }, hint: error.hint === undefined ? where : `${error.hint}. ${where}` });
}
