/** Finds the columns of a file whose values are all different, by reading these columns alone. */
import type { Query } from '../../paths/json/model.ts';
import { parseExpression } from '../json/expression.ts';
import type { IsKey, ParquetOptions } from '../source.ts';
import { FlatColumn } from './columns/flat.ts';
import { targetOf } from './columns/references.ts';
import { buildSchema, type LeafNode, MAX_DEPTH } from './columns/schema.ts';
import { DistinctValues, type KeyValue } from './distinct-values.ts';
import { parquetFault } from './faults.ts';
import { readRowGroup } from './file/metadata.ts';
import { type OpenedFooter, openFooter } from './file/open.ts';
import { NO_BYTES, RandomAccess } from './file/random-access.ts';
import { ChunkPages } from './pages/chunk.ts';
import type { LeafValues } from './pages/values.ts';

const BLOCK_ROWS = 4096;

/**
 * Of columns of integers and texts.
 *
 * @param options with `ranges`
 * @param memoryBytes for the hashes of texts; those of a column with more must ascend
 */
export const isKey: IsKey<ParquetOptions> = async (reference, options, memoryBytes, signal) => {
  try {
    const file = await RandomAccess.open(NO_BYTES, options);
    const footer = await openFooter(file, options.name);
    const schema = buildSchema(footer.elements, Math.min(MAX_DEPTH, options.maxDepth ?? MAX_DEPTH));
    const place = { input: options.name, expression: reference };
    const parse = (text: string): Query => parseExpression(text, { ...options, dialect: 'rml' }, place);
    const target = targetOf(reference, schema, place, parse);
    if (target.kind !== 'value' || !mayBeKey(target.leaf)) return false;
    return await areDistinct(file, footer, target.leaf, new DistinctValues(memoryBytes), options.maxRecordBytes, signal);
  } catch (error) {
    throw parquetFault(error, { input: options.name }, options.maxRecordBytes);
  }
};

/** Whether different values have different texts, and are read as numbers or texts. */
function mayBeKey({ leaf: { physical, annotation } }: LeafNode): boolean {
  if (physical === 'BYTE_ARRAY') return annotation.kind === 'text';
  return (physical === 'INT32' || physical === 'INT64') && (annotation.kind === 'none' || annotation.kind === 'integer');
}

async function areDistinct(
  file: RandomAccess,
  footer: OpenedFooter,
  node: LeafNode,
  values: DistinctValues,
  maxBytes: number,
  signal: AbortSignal,
): Promise<boolean> {
  const { physical, length } = node.leaf;
  const column = new FlatColumn<KeyValue>(node.definition);
  for (const group of footer.rowGroups) {
    const place = readRowGroup(footer.bytes, group, new Set([node.first])).get(node.first);
    if (place === undefined) return false;
    column.start(new ChunkPages(file, place, { physical, length, maxBytes }, node, AS_THEY_ARE));
    for (await column.load(); column.available > 0; await column.load()) {
      if (signal.aborted) return false;
      for (const value of column.take(Math.min(BLOCK_ROWS, column.available)) as (KeyValue | null)[])
        if (value !== null && !values.add(value)) return false;
    }
  }
  return true;
}

const other = (): never => {
  throw new Error('a column of integers or texts has other values');
};

const AS_THEY_ARE: LeafValues<KeyValue> = {
  ofBoolean: other,
  ofInteger: (value) => value,
  ofLong: (value) => value,
  ofFloat: other,
  ofInt96: other,
  ofText: (text) => text,
  ofBytes: other,
};
