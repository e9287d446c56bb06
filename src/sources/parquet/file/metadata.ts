/**
 * The footer of a Parquet file: its schema and its row groups. Row groups are read one at a time, of the columns that are needed.
 *
 * @see https://github.com/apache/parquet-format/blob/master/src/main/thrift/parquet.thrift
 */
import { toBytes } from '../../../core/text.ts';
import { BrokenParquet, ThriftReader } from './thrift.ts';

/** An element of the schema, as the footer lists them: a group is followed by its children. */
export interface SchemaElement {
  /** One-byte UTF-8. */
  readonly name: string;
  /** Physical type; undefined: a group. */
  readonly physical: Physical | undefined;
  /** Bytes of a fixed length. */
  readonly length: number;
  readonly repetition: 'required' | 'optional' | 'repeated';
  readonly children: number;
  readonly annotation: Annotation;
}

export const PHYSICAL = ['BOOLEAN', 'INT32', 'INT64', 'INT96', 'FLOAT', 'DOUBLE', 'BYTE_ARRAY', 'FIXED_LEN_BYTE_ARRAY'] as const;

export type Physical = (typeof PHYSICAL)[number];

/** Units of a second. */
export type TimeUnit = 1_000 | 1_000_000 | 1_000_000_000;

/** What the values of a column are: its logical type, or the older converted type. */
export type Annotation =
  | {
      readonly kind:
        | 'none'
        | 'text'
        | 'list'
        | 'map'
        | 'entries'
        | 'date'
        | 'uuid'
        | 'float16'
        | 'interval'
        | 'null'
        | 'variant'
        | 'binary';
    }
  | { readonly kind: 'decimal'; readonly scale: number }
  | { readonly kind: 'time' | 'timestamp'; readonly unit: TimeUnit; readonly utc: boolean }
  | { readonly kind: 'integer'; readonly signed: boolean; readonly bits: number };

export interface Footer {
  readonly elements: readonly SchemaElement[];
  /** Those that have rows. */
  readonly rowGroups: readonly RowGroupPlace[];
}

/** Where the footer describes a row group. */
export interface RowGroupPlace {
  /** Offset in the bytes of the footer. */
  readonly at: number;
  readonly rows: number;
  /** Its position in the file, from 0 as tools of Parquet count. */
  readonly number: number;
  /** Of the first column chunk in the file; it identifies the row group. */
  readonly offset: number;
}

export interface ChunkPlace extends ChunkMetadata {
  /** The number of its row group. */
  readonly rowGroup: number;
}

interface ChunkMetadata {
  /** Names from the root of the schema to the leaf, as ordinary text. */
  readonly path: string;
  readonly codec: number;
  readonly values: number;
  /** Of its first page. */
  readonly offset: number;
  readonly sizeBytes: number;
}

/** A schema has some thousand elements at most. Files with millions are no data. */
const MAX_ELEMENTS = 100_000;

/** @throws BrokenParquet */
export function readFooter(bytes: Buffer): Footer {
  const thrift = new ThriftReader(bytes);
  const elements: SchemaElement[] = [];
  const rowGroups: RowGroupPlace[] = [];
  thrift.struct((field) => {
    if (field === 2)
      thrift.list(() => {
        elements.push(readElement(thrift));
        if (elements.length > MAX_ELEMENTS) throw new BrokenParquet(`its schema has more than ${MAX_ELEMENTS} elements`);
      });
    if (field === 4)
      thrift.list((number) => {
        const group = placeOfRowGroup(thrift, number);
        // Writers leave 0 as the offset of a column without a page.
        if (group.rows > 0) rowGroups.push(group);
      });
    if (field === 8) throw new EncryptedParquet();
  });
  return { elements, rowGroups };
}

export class EncryptedParquet extends BrokenParquet {
  constructor() {
    super('it is encrypted');
  }
}

function readElement(thrift: ThriftReader): SchemaElement {
  let name = '';
  let physical: Physical | undefined;
  let length = 0;
  let repetition = 0;
  let children = 0;
  let converted: number | undefined;
  let scale = 0;
  let logical: Annotation | undefined;
  thrift.struct((field) => {
    if (field === 1) physical = physicalOf(thrift.count());
    if (field === 2) length = thrift.count();
    if (field === 3) repetition = thrift.count();
    if (field === 4) name = toBytes(thrift.binary().toString('utf8'));
    if (field === 5) children = thrift.count();
    if (field === 6) converted = thrift.count();
    if (field === 7) scale = thrift.integer();
    if (field === 10) logical = readLogical(thrift);
  });
  const annotation = logical ?? (converted === undefined ? { kind: 'none' } : convertedType(converted, scale));
  const kind = (['required', 'optional', 'repeated'] as const)[repetition];
  if (kind === undefined) throw new BrokenParquet(`its schema has the unknown repetition ${repetition}`);
  return { name, physical, length, repetition: kind, children, annotation };
}

function physicalOf(number: number): Physical {
  const type = PHYSICAL[number];
  if (type === undefined) throw new BrokenParquet(`its schema has the unknown physical type ${number}`);
  return type;
}

function readLogical(thrift: ThriftReader): Annotation | undefined {
  let found: Annotation | undefined;
  thrift.struct((field) => {
    if (field === 1 || field === 4 || field === 12) found = { kind: 'text' };
    if (field === 2) found = { kind: 'map' };
    if (field === 3) found = { kind: 'list' };
    if (field === 5) {
      let scale = 0;
      thrift.struct((part) => {
        if (part === 1) scale = thrift.integer();
      });
      found = { kind: 'decimal', scale };
    }
    if (field === 6) found = { kind: 'date' };
    if (field === 7 || field === 8) found = readTime(thrift, field === 7 ? 'time' : 'timestamp');
    if (field === 10) {
      let bits = 64;
      let signed = true;
      thrift.struct((part) => {
        if (part === 1) bits = thrift.integer();
        if (part === 2) signed = thrift.boolean();
      });
      found = { kind: 'integer', signed, bits };
    }
    if (field === 11) found = { kind: 'null' };
    if (field === 13 || field === 17 || field === 18) found = { kind: 'binary' };
    if (field === 14) found = { kind: 'uuid' };
    if (field === 15) found = { kind: 'float16' };
    if (field === 16) found = { kind: 'variant' };
  });
  return found;
}

function readTime(thrift: ThriftReader, kind: 'time' | 'timestamp'): Annotation {
  let utc = false;
  let unit: TimeUnit = 1_000;
  thrift.struct((part) => {
    if (part === 1) utc = thrift.boolean();
    if (part === 2)
      thrift.struct((member) => {
        unit = member === 3 ? 1_000_000_000 : member === 2 ? 1_000_000 : 1_000;
      });
  });
  return { kind, unit, utc };
}

/** @see https://github.com/apache/parquet-format/blob/master/LogicalTypes.md */
function convertedType(number: number, scale: number): Annotation {
  if (number === 0 || number === 4 || number === 19) return { kind: 'text' };
  if (number === 1) return { kind: 'map' };
  if (number === 2) return { kind: 'entries' };
  if (number === 3) return { kind: 'list' };
  if (number === 5) return { kind: 'decimal', scale };
  if (number === 6) return { kind: 'date' };
  if (number === 7 || number === 8) return { kind: 'time', unit: number === 7 ? 1_000 : 1_000_000, utc: true };
  if (number === 9 || number === 10) return { kind: 'timestamp', unit: number === 9 ? 1_000 : 1_000_000, utc: true };
  if (number >= 11 && number <= 14) return { kind: 'integer', signed: false, bits: 8 << (number - 11) };
  if (number >= 15 && number <= 18) return { kind: 'integer', signed: true, bits: 8 << (number - 15) };
  if (number === 20) return { kind: 'binary' };
  if (number === 21) return { kind: 'interval' };
  return { kind: 'none' };
}

function placeOfRowGroup(thrift: ThriftReader, number: number): RowGroupPlace {
  const { at } = thrift;
  let rows = 0;
  let offset = Number.POSITIVE_INFINITY;
  thrift.struct((field) => {
    if (field === 1)
      thrift.list((position) => {
        if (position === 0) offset = readChunk(thrift).place?.offset ?? offset;
      });
    if (field === 3) rows = thrift.count();
  });
  return { at, rows, number, offset };
}

/** The chunks of the leaves of `wanted`, by their position in the schema. @throws BrokenParquet */
export function readRowGroup(bytes: Buffer, { at, number }: RowGroupPlace, wanted: ReadonlySet<number>): ReadonlyMap<number, ChunkPlace> {
  const thrift = new ThriftReader(bytes, at);
  const chunks = new Map<number, ChunkPlace>();
  thrift.struct((field) => {
    if (field !== 1) return;
    thrift.list((position) => {
      if (!wanted.has(position)) return;
      const { place, encrypted, otherFile } = readChunk(thrift);
      if (encrypted) throw new EncryptedParquet();
      if (otherFile) throw new BrokenParquet('its columns are in other files');
      if (place !== undefined) chunks.set(position, { ...place, rowGroup: number });
    });
  });
  return chunks;
}

interface Chunk {
  place: ChunkMetadata | undefined;
  encrypted: boolean;
  otherFile: boolean;
}

function readChunk(thrift: ThriftReader): Chunk {
  const chunk: Chunk = { place: undefined, encrypted: false, otherFile: false };
  thrift.struct((field) => {
    if (field === 1) chunk.otherFile = thrift.binary().length > 0;
    if (field === 3) chunk.place = readChunkMetadata(thrift);
    if (field === 8 || field === 9) chunk.encrypted = true;
  });
  return chunk;
}

function readChunkMetadata(thrift: ThriftReader): ChunkMetadata {
  const path: string[] = [];
  let codec = 0;
  let values = 0;
  let sizeBytes = 0;
  let data = 0;
  let dictionary = 0;
  thrift.struct((field) => {
    if (field === 3) thrift.list(() => path.push(thrift.binary().toString('utf8')));
    if (field === 4) codec = thrift.count();
    if (field === 5) values = thrift.count();
    if (field === 7) sizeBytes = thrift.count();
    if (field === 9) data = thrift.count();
    if (field === 11) dictionary = thrift.count();
  });
  // Some writers say 0 for no dictionary, and some older ones place it where the data pages are.
  return { path: path.join('.'), codec, values, sizeBytes, offset: dictionary > 0 && dictionary < data ? dictionary : data };
}

export interface PageHeader {
  readonly kind: 'data' | 'data v2' | 'dictionary' | 'other';
  readonly packedBytes: number;
  readonly sizeBytes: number;
  readonly checksum: number | undefined;
  readonly values: number;
  readonly encoding: number;
  /** Encodings of levels, of the first version of data pages. */
  readonly levels: readonly [repetition: number, definition: number];
  /** Bytes of levels before the values, of the second version. */
  readonly levelBytes: readonly [repetition: number, definition: number];
  /** Of the second version: the values are compressed. */
  readonly packed: boolean;
  /** Of the header itself. */
  readonly headerBytes: number;
}

/** @throws CutOff — the header goes on behind the bytes; BrokenParquet */
export function readPageHeader(bytes: Buffer): PageHeader {
  const thrift = new ThriftReader(bytes);
  let type = -1;
  let packedBytes = 0;
  let sizeBytes = 0;
  let checksum: number | undefined;
  let values = 0;
  let encoding = 0;
  let packed = true;
  const levels: [number, number] = [3, 3];
  const levelBytes: [number, number] = [0, 0];
  thrift.struct((field) => {
    if (field === 1) type = thrift.count();
    if (field === 2) sizeBytes = thrift.count();
    if (field === 3) packedBytes = thrift.count();
    if (field === 4) checksum = thrift.integer() >>> 0;
    if (field === 5)
      thrift.struct((part) => {
        if (part === 1) values = thrift.count();
        if (part === 2) encoding = thrift.count();
        if (part === 3) levels[1] = thrift.count();
        if (part === 4) levels[0] = thrift.count();
      });
    if (field === 7)
      thrift.struct((part) => {
        if (part === 1) values = thrift.count();
        if (part === 2) encoding = thrift.count();
      });
    if (field === 8)
      thrift.struct((part) => {
        if (part === 1) values = thrift.count();
        if (part === 4) encoding = thrift.count();
        if (part === 5) levelBytes[1] = thrift.count();
        if (part === 6) levelBytes[0] = thrift.count();
        if (part === 7) packed = thrift.boolean();
      });
  });
  const kind = type === 0 ? 'data' : type === 3 ? 'data v2' : type === 2 ? 'dictionary' : 'other';
  return { kind, packedBytes, sizeBytes, checksum, values, encoding, levels, levelBytes, packed, headerBytes: thrift.at };
}
