/**
 * Reads a Parquet file as records: its rows, or what an iterator finds in their nested columns.
 *
 * Only the columns that references name are read. Memory: a page of each of these columns, and a
 * batch of rows. Pages are decoded here, not by a library: texts go from the page to the output as bytes, and a dictionary is decoded once
 * (docs/decisions/0034-parquet.md).
 *
 * @see https://parquet.apache.org/docs/file-format/
 */
import { Fault, type FaultPlace } from '../../core/fault.ts';
import { fromBytes, toBytes } from '../../core/text.ts';
import { type Accessor, TypedValue, type Values } from '../../core/value.ts';
import type { Query } from '../../paths/json/model.ts';
import { columnOf } from '../csv/columns.ts';
import { descriptionOf, valueOf } from '../csv/described.ts';
import { cutAt, type FindCuts } from '../cuts.ts';
import { parseExpression, parseRecordReference, upsOf } from '../json/expression.ts';
import { compileItems, itemsOf, JsonItems, linkedReaderOf, ofLinked, readerOf, unmatchedOf } from '../json/nested.ts';
import { queriesIn, usesRoot } from '../json/path/filter.ts';
import { compileLinked } from '../json/path/parents.ts';
import { compileFilter, compileSegments, type Find } from '../json/path/query.ts';
import { compileReference, type TrackedReader } from '../json/references.ts';
import { UnreadableValue } from '../json/text.ts';
import type { Batch, Identity, IterationRequest, NestedRecords, OpenScan, ParquetOptions, Scan } from '../source.ts';
import { FlatColumn } from './columns/flat.ts';
import { NestedColumn } from './columns/nested.ts';
import { nameOf, targetOf } from './columns/references.ts';
import { buildSchema, type LeafNode, MAX_DEPTH, type Schema, type SchemaNode } from './columns/schema.ts';
import { parquetFault } from './faults.ts';
import { type ChunkPlace, type RowGroupPlace, readRowGroup } from './file/metadata.ts';
import { type OpenedFooter, openFooter } from './file/open.ts';
import { NO_BYTES, RandomAccess } from './file/random-access.ts';
import { BrokenParquet } from './file/thrift.ts';
import { ChunkPages } from './pages/chunk.ts';
import type { LeafValues } from './pages/values.ts';
import { converted, datatypeOf, hasNoDatatype, type LeafValue, leafValues, nodesOf, writtenValues } from './values/leaf-values.ts';

const BATCH_ROWS = 128;
/** Bytes of memory that a value of a nested column takes at least. */
const NODE_BYTES = 16;

/** The rows of a batch: their positions in what the columns have taken. An object for each row would cost more than to read its values. */
const POSITIONS: readonly number[] = Array.from({ length: BATCH_ROWS }, (_, position) => position);

/**
 * Opens a file. With the formulation of CSV (`options.csv`) references are names of columns, or of members of structs; otherwise names or
 * JSONPaths.
 *
 * @throws Fault source/malformed, source/refused, limit/exceeded; mapping/reference — an iterator that does not lead into the rows
 */
export const openParquet: OpenScan<ParquetOptions> = (bytes, iterations, options) => open(bytes, iterations, options);

/**
 * Opens a file to read whole rows. Values are nodes of JSON, as paths see them.
 *
 * @throws Fault source/malformed, source/refused, limit/exceeded
 */
export async function openParquetRows(bytes: AsyncIterable<Uint8Array>, options: ParquetOptions): Promise<ParquetRows> {
  return (await open(bytes, [{ iterator: undefined, references: [], origin: '' }], options)).rows();
}

/** The rows of a file with all their columns. */
export interface ParquetRows {
  /** In their order, as ordinary text. */
  readonly columns: readonly string[];
  /** Values by column, in the order of `columns`. Called at most once. */
  read(signal: AbortSignal): AsyncIterable<readonly unknown[]>;
  close(): Promise<void>;
}

async function open(
  bytes: AsyncIterable<Uint8Array>,
  iterations: readonly IterationRequest[],
  options: ParquetOptions,
): Promise<ParquetScan> {
  const file = await RandomAccess.open(bytes, options);
  try {
    const footer = await openFooter(file, options.name);
    const schema = buildSchema(footer.elements, Math.min(MAX_DEPTH, options.maxDepth ?? MAX_DEPTH));
    return new ParquetScan(file, footer, schema, iterations, options);
  } catch (error) {
    await file.close();
    throw parquetFault(error, { input: options.name }, options.maxRecordBytes);
  }
}

/** Where row groups begin. A file in which they stand in no order is not cut. */
export const findRowGroupCuts: FindCuts<ParquetOptions> = async (document, _, options, targets) => {
  const offsets = await rowGroupOffsets({ ...options, ranges: document });
  if (offsets.some((offset, i) => !Number.isFinite(offset) || offset <= (offsets[i - 1] ?? 0))) return undefined;
  const cuts = targets.flatMap((target) => offsets.slice(1).find((offset) => offset >= target) ?? []);
  return { head: 0, found: [...new Set(cuts)].map((cut) => cutAt(cut)) };
};

/** Offsets at which the row groups of a file begin, in its order. @param options with `ranges` @throws Fault those of `openParquet` */
async function rowGroupOffsets(options: ParquetOptions): Promise<readonly number[]> {
  const file = await RandomAccess.open(NO_BYTES, options);
  try {
    return (await openFooter(file, options.name)).rowGroups.map(({ offset }) => offset);
  } catch (error) {
    throw parquetFault(error, { input: options.name }, options.maxRecordBytes);
  } finally {
    await file.close();
  }
}

/** A column that is read, and its values in the batch, by position. */
type ReadColumn = { readonly name: string; values: readonly unknown[] } & (
  | { readonly kind: 'flat'; readonly leaf: LeafNode; readonly column: FlatColumn<unknown> }
  | { readonly kind: 'nested'; readonly column: NestedColumn }
);

/** An iterator into nested columns. */
interface Items {
  readonly query: Query;
  /** Whether a row is looked at. undefined: each is. */
  readonly keeps: ((row: unknown, root: unknown) => boolean) | undefined;
  readonly find: Find;
  /** Columns of the object on which it is evaluated. */
  readonly members: readonly (readonly [name: string, column: ReadColumn])[];
  /** Levels above its records that references need. */
  readonly ups: number;
  readonly readers: Map<string, TrackedReader>;
  readonly iterators: Map<string, JsonItems>;
  count: number;
}

class ParquetScan implements Scan {
  readonly #file: RandomAccess;
  readonly #footer: OpenedFooter;
  readonly #schema: Schema;
  readonly #iterations: readonly IterationRequest[];
  readonly #options: ParquetOptions;
  readonly #paths: ParquetOptions;
  readonly #columns = new Map<string, ReadColumn>();
  /** By iteration; undefined: its records are the rows. */
  readonly #items: readonly (Items | undefined)[];
  readonly #readers = new Map<string, TrackedReader>();
  readonly #iterators = new Map<string, JsonItems>();
  #rows = 0;
  /** The column that is being read, for faults. */
  #reading: string | undefined;

  constructor(file: RandomAccess, footer: OpenedFooter, schema: Schema, iterations: readonly IterationRequest[], options: ParquetOptions) {
    this.#file = file;
    this.#footer = footer;
    this.#schema = schema;
    this.#iterations = iterations;
    this.#options = options;
    // Values of nested columns have datatypes, and paths are those of today's RML.
    this.#paths = { ...options, dialect: 'rml' };
    this.#items = iterations.map((iteration) => this.#itemsOf(iteration));
  }

  accessor(iteration: number, reference: string): Accessor {
    const items = this.#items[iteration];
    if (items !== undefined) {
      const { ups, query, readers } = items;
      return ups === 0 ? readerOf(reference, readers, this.#paths).read : linkedReaderOf(reference, query, readers, this.#paths).read;
    }
    const { name, nulls, csv } = this.#options;
    const origin = this.#iterations[iteration]?.origin;
    const place = { input: name, expression: reference, ...(origin === undefined ? {} : { mapping: origin }) };
    if (csv !== undefined && csv.columns !== undefined) return this.#describedAccessor(reference, place);
    const target = targetOf(reference, this.#schema, place, (text) => this.#parse(text, place));
    if (target.kind === 'value') {
      return valueAccessor(this.#flatColumn(target.leaf, reference), nulls, place);
    }
    if (csv !== undefined) throw nestedInTable(reference, place);
    const column = this.#nestedColumn(target.column, target.node);
    let reader = this.#readers.get(reference);
    if (reader === undefined) {
      reader = compileReference(target.query, { dialect: 'rml', nulls, place });
      this.#readers.set(reference, reader);
    }
    const { read } = reader;
    return (row) => read(column.values[row as number]);
  }

  datatype(iteration: number, reference: string): string | null | undefined {
    const { name, csv } = this.#options;
    if (!this.#isTyped || this.#items[iteration] !== undefined || csv?.columns !== undefined) return undefined;
    const place = { input: name, expression: reference };
    const target = targetOf(reference, this.#schema, place, (text) => this.#parse(text, place));
    if (target.kind !== 'value') return undefined;
    return hasNoDatatype(target.leaf.leaf) ? null : datatypeOf(target.leaf.leaf);
  }

  nested(iteration: number, iterator: string): NestedRecords {
    const iterated = this.#items[iteration];
    if (iterated !== undefined) {
      const within = itemsOf(iterator, iterated.iterators, this.#paths);
      return iterated.ups === 0 ? within : ofLinked(within);
    }
    const place = { input: this.#options.name, expression: iterator };
    const query = this.#parse(iterator, place);
    const column = nameOf(query.segments[0]);
    const node = column === undefined ? undefined : this.#schema.columns.get(column);
    if (column === undefined || node === undefined) {
      targetOf(iterator, this.#schema, place, () => query);
      throw new Fault('mapping/reference', `${JSON.stringify(iterator)} does not begin with the name of a column`, { place });
    }
    const read = this.#nestedColumn(column, node);
    let rest = this.#iterators.get(iterator);
    if (rest === undefined) {
      rest = new JsonItems(compileItems({ absolute: true, segments: query.segments.slice(1) }), this.#paths);
      this.#iterators.set(iterator, rest);
    }
    const items = rest;
    return {
      items: (row) => items.items(read.values[row as number]),
      accessor: (reference) => items.accessor(reference),
      nested: (inner) => items.nested(inner),
      unmatched: () => items.unmatched(),
    };
  }

  async *batches(signal: AbortSignal): AsyncGenerator<Batch> {
    try {
      let first = 0;
      for (const group of this.#footer.rowGroups) {
        const { from, to } = this.#options.slice ?? { from: 0, to: Number.POSITIVE_INFINITY };
        if (group.offset >= from && group.offset < to) {
          this.#rows = first;
          yield* this.#groupBatches(group, signal);
        }
        first += group.rows;
      }
    } catch (error) {
      const expression = this.#reading === undefined ? {} : { expression: this.#reading };
      throw parquetFault(error, { input: this.#options.name, record: this.#rows, ...expression }, this.#options.maxRecordBytes);
    } finally {
      await this.close();
    }
  }

  /** In place of accessors. */
  rows(): ParquetRows {
    const columns = [...this.#schema.columns].map(([name, node]) => this.#nestedColumn(name, node));
    const batches = (signal: AbortSignal): AsyncIterable<Batch> => this.batches(signal);
    return {
      columns: [...this.#schema.columns.keys()].map(fromBytes),
      async *read(signal) {
        for await (const { records } of batches(signal))
          for (const row of records) yield columns.map(({ values }) => values[row as number]);
      },
      close: () => this.close(),
    };
  }

  /** A column that is missing has already been reported by `accessor`. */
  unmatched(iteration: number): readonly string[] {
    const items = this.#items[iteration];
    if (items === undefined) return unmatchedOf(this.#readers);
    return items.count === 0 ? [] : unmatchedOf(items.readers);
  }

  close(): Promise<void> {
    return this.#file.close();
  }

  get #isTyped(): boolean {
    return this.#options.csv === undefined || this.#options.naturalDatatypes === true;
  }

  #parse(text: string, place: FaultPlace): Query {
    return withoutRoot(parseExpression(text, this.#paths, place), place);
  }

  #itemsOf({ iterator, references, origin }: IterationRequest): Items | undefined {
    if (iterator === undefined || iterator === '' || this.#options.csv !== undefined) return undefined;
    const place = { input: this.#options.name, expression: iterator, mapping: origin };
    const { segments } = this.#parse(iterator, place);
    const [selector, ...others] = segments[0]?.selectors ?? [];
    const isOfRows = segments[0]?.descendant === false && others.length === 0;
    if (!isOfRows || (selector?.kind !== 'wildcard' && selector?.kind !== 'filter'))
      throw new Fault('mapping/reference', `The iterator ${JSON.stringify(iterator)} does not begin with the rows`, {
        place,
        hint: 'The rows of Parquet are $[*], and the elements of a list in them $[*].name[*]; without an iterator, each row is a record',
      });
    const rest = segments.slice(1);
    const test = selector.kind === 'filter' ? selector.test : undefined;
    if (rest.length === 0 && test === undefined) return undefined;
    const ups = upsOf(references, this.#paths);
    const names = new Set<string>();
    let all = false;
    const note = (query: Query): void => {
      const name = nameOf(query.segments[0]);
      if (name !== undefined) names.add(name);
      else all = true;
    };
    note({ absolute: true, segments: rest });
    for (const query of test === undefined ? [] : queriesIn(test)) note(query);
    for (const reference of references) {
      const { ups: levels, query } = parseRecordReference(reference, this.#paths);
      if (levels > 0) note(query);
    }
    const column = nameOf(rest[0]);
    // For a column that is missing: the fault that names those that are there.
    if (column !== undefined) targetOf(iterator, this.#schema, place, () => ({ absolute: true, segments: rest }));
    const members = [...this.#schema.columns].flatMap(([name, node]) =>
      all || names.has(name) ? [[name, this.#nestedColumn(name, node)] as const] : [],
    );
    const find = ups > 0 ? compileLinked(rest) : compileSegments(rest);
    const keeps = test && compileFilter(test);
    return { query: { absolute: true, segments }, keeps, find, members, ups, readers: new Map(), iterators: new Map(), count: 0 };
  }

  #describedAccessor(reference: string, place: FaultPlace & { input: string; expression: string }): Accessor {
    const { csv = {}, nulls } = this.#options;
    const header = [...this.#schema.columns.keys()];
    const dialect = { ...csv, headerRows: 1, skipColumns: 0 };
    const at = columnOf(reference, header, dialect, place);
    const node = this.#schema.columns.get(header[at] as string) as SchemaNode;
    if (node.kind !== 'leaf') throw nestedInTable(reference, place);
    const column = this.#flatColumn(node, reference);
    const description = descriptionOf(at, header, dialect);
    if (description === undefined) return valueAccessor(column, nulls, place);
    const read = valueOf(description, nulls, place);
    const value = valueAccessor(column, [], place);
    return (row): Values => {
      const cell = value(row);
      if (cell === null) return null;
      return read(cell instanceof TypedValue ? cell.written : (cell as string));
    };
  }

  #flatColumn(leaf: LeafNode, name: string): ReadColumn {
    return this.#column(`value ${leaf.first}`, () => ({
      kind: 'flat',
      name,
      leaf,
      values: [],
      column: new FlatColumn<unknown>(leaf.definition),
    }));
  }

  #nestedColumn(name: string, node: SchemaNode): ReadColumn {
    const maxValues = Math.max(1, Math.floor(this.#options.maxRecordBytes / NODE_BYTES));
    return this.#column(`node ${node.first}`, () => ({
      kind: 'nested',
      name,
      values: [],
      column: new NestedColumn(node, this.#schema.leaves, maxValues),
    }));
  }

  #column(key: string, make: () => ReadColumn): ReadColumn {
    const column = this.#columns.get(key) ?? make();
    this.#columns.set(key, column);
    return column;
  }

  async *#groupBatches(group: RowGroupPlace, signal: AbortSignal): AsyncGenerator<Batch> {
    const columns = [...this.#columns.values()];
    this.#start(columns, group);
    for (let left = group.rows; left > 0; ) {
      const size = await this.#load(columns, Math.min(BATCH_ROWS, left));
      for (const one of columns) {
        this.#reading = one.name;
        one.values = one.column.take(size);
      }
      this.#reading = undefined;
      left -= size;
      yield* this.#batchesOf(POSITIONS.slice(0, size));
      this.#rows += size;
      if (signal.aborted) throw new Fault('run/cancelled', 'The run was cancelled', { cause: signal.reason });
    }
    for (const { name, column } of columns) {
      this.#reading = name;
      await column.end();
    }
    this.#reading = undefined;
  }

  #start(columns: readonly ReadColumn[], group: RowGroupPlace): void {
    const wanted = new Set(columns.flatMap((one) => (one.kind === 'flat' ? [one.leaf.first] : one.column.leaves)));
    const chunks = readRowGroup(this.#footer.bytes, group, wanted);
    for (const one of columns) {
      this.#reading = one.name;
      if (one.kind === 'flat') {
        const { leaf } = one.leaf;
        one.column.start(this.#pages(chunks, one.leaf, this.#isTyped ? leafValues(leaf) : writtenValues(leaf)));
      } else {
        one.column.start(
          one.column.leaves.map((position) => {
            const leaf = this.#schema.leaves[position] as LeafNode;
            return this.#pages(chunks, leaf, converted<unknown>(leafValues(leaf.leaf), nodesOf(datatypeOf(leaf.leaf))));
          }),
        );
      }
    }
    this.#reading = undefined;
  }

  #pages(chunks: ReadonlyMap<number, ChunkPlace>, node: LeafNode, values: LeafValues<unknown>): ChunkPages<unknown> {
    const place = chunks.get(node.first);
    if (place === undefined) throw new BrokenParquet('its row group does not describe the column');
    const { physical, length } = node.leaf;
    return new ChunkPages(this.#file, place, { physical, length, maxBytes: this.#options.maxRecordBytes }, node, values);
  }

  /** The number of rows that every column has loaded, up to `most`. */
  async #load(columns: readonly ReadColumn[], most: number): Promise<number> {
    let size = most;
    for (const one of columns) {
      this.#reading = one.name;
      if (one.kind === 'nested') size = Math.min(size, await one.column.load(size));
      else {
        if (one.column.available === 0) await one.column.load();
        size = Math.min(size, one.column.available);
      }
      if (size === 0) throw new BrokenParquet('a column has fewer values than its row group has rows');
    }
    return size;
  }

  *#batchesOf(rows: readonly number[]): Generator<Batch> {
    for (const [iteration, items] of this.#items.entries()) {
      const { bytesRead: bytes } = this.#file;
      if (items === undefined) {
        yield { iteration, records: rows, first: this.#rows, bytes };
        continue;
      }
      const found: unknown[] = [];
      const identities: Identity[] = [];
      for (const row of rows) {
        const before = found.length;
        const object = Object.fromEntries(items.members.map(([name, { values }]) => [name, values[row]]));
        if (items.keeps === undefined || items.keeps(object, object)) items.find(object, object, found);
        // A row by its number in the file; of several records in it, each by its number among them.
        for (let i = before; i < found.length; i++) identities.push(i === before ? this.#rows + row : [this.#rows + row, i - before]);
      }
      const { count } = items;
      const named = this.#iterations[iteration]?.namesRows === true;
      const identityOf = (position: number): Identity => identities[position - count] as Identity;
      for (let at = 0; at < found.length; at += BATCH_ROWS) {
        const records = found.slice(at, at + BATCH_ROWS);
        yield { iteration, records, first: items.count, bytes, ...(named ? { identityOf } : {}) };
        items.count += records.length;
      }
    }
  }
}

function valueAccessor(column: ReadColumn, nulls: readonly string[], place: FaultPlace): Accessor {
  const isNull = new Set(nulls.map(toBytes));
  const unreadable = ({ message, value }: UnreadableValue): Fault => new Fault('record/term', message, { place: { ...place, value } });
  if (isNull.size === 0)
    return (row) => {
      const value = column.values[row as number] as LeafValue | null;
      if (typeof value === 'string' || value === null) return value;
      if (value instanceof UnreadableValue) throw unreadable(value);
      return value;
    };
  return (row) => {
    const value = column.values[row as number] as LeafValue | null;
    if (value === null) return null;
    if (typeof value === 'string') return isNull.has(value) ? null : value;
    if (value instanceof UnreadableValue) throw unreadable(value);
    return isNull.has(value.written) || isNull.has(value.text) ? null : value;
  };
}

const nestedInTable = (reference: string, place: FaultPlace): Fault =>
  new Fault('mapping/reference', `The column ${JSON.stringify(reference)} is nested, and rml:CSV reads tables`, {
    place,
    hint: 'Name qms:Parquet as the reference formulation (docs/sources.md): a reference is then a path, such as tags[*] or address.city',
  });

/** @throws Fault mapping/reference — a filter refers to `$`, which would be the whole row */
function withoutRoot(query: Query, place: FaultPlace): Query {
  if (query.segments.some(({ selectors }) => selectors.some((one) => one.kind === 'filter' && usesRoot(one.test))))
    throw new Fault('mapping/reference', 'A filter refers to $, which is not possible in Parquet', {
      place,
      hint: 'In a filter, @ is the element that is tested',
    });
  return query;
}
