/** Records for the naive evaluator: of random mappings, and of JSON documents. */
import type { Mapping, SqlSource } from '../../../src/mapping/model/model.ts';
import type { Scan } from '../../../src/plan/algebra.ts';
import { type Field, fieldNamed, fileName, type RandomMapping, type Source } from '../run/random/mapping.ts';
import { escaped } from '../run/random/texts.ts';
import type { Data, Value } from './evaluate.ts';

/** A record of a random mapping with its format, which says what references look like. */
interface RandomRecord {
  readonly source: Source;
  readonly values: Readonly<Record<Field, readonly Value[]>>;
}

/**
 * The records of a random mapping. Tables of databases are named like the files, and pairs of their rows are joined here as a database would
 * join them.
 */
export function dataOf({ sources }: RandomMapping): Data {
  const named = (name: string): readonly RandomRecord[] => {
    const source = sources.find((one, i) => fileName(one, i) === name);
    if (source === undefined) throw new Error(`there is no ${name}`);
    return source.records.map((values) => ({ source, values }));
  };
  const ofTable = (source: SqlSource): readonly RandomRecord[] => named(source.content.kind === 'table' ? source.content.name : '');
  const values = (node: unknown, reference: string): readonly Value[] => {
    const { source, values: of } = node as RandomRecord;
    return of[fieldNamed(reference, source)];
  };
  const records = ({ source }: Scan): readonly (readonly RandomRecord[])[] => {
    if (source.kind === 'file') return named(source.path).map((record) => [record]);
    if (source.kind === 'sql') return ofTable(source).map((record) => [record]);
    return ofTable(source.child).flatMap((child) =>
      ofTable(source.parent)
        .filter((parent) =>
          source.conditions.every((on) =>
            values(child, on.child).some((left) => values(parent, on.parent).some((right) => left.written === right.written)),
          ),
        )
        .map((parent) => [child, parent]),
    );
  };
  const none = (): never => {
    throw new Error('records of random mappings have no records within them');
  };
  return { records, values, items: none, within: none };
}

/** The mapping over tables of one database. */
export const overTables = (mapping: Mapping): Mapping => ({
  ...mapping,
  triplesMaps: mapping.triplesMaps.map((map) => {
    const { source } = map;
    if (source.kind !== 'file') return map;
    const { origin, path } = source;
    const table: SqlSource = {
      kind: 'sql',
      origin,
      ids: [],
      connection: undefined,
      content: { kind: 'table', origin, name: path },
      references: 'labels',
      nulls: [],
    };
    return { ...map, source: table };
  }),
});

/** The records of JSON documents. References and iterators: `$`, `$.name` and `$.name[*]`; texts within may be CSV without quotes. */
export function jsonData(documents: Readonly<Record<string, readonly unknown[]>>): Data {
  const nodes = (node: unknown, path: string): readonly unknown[] => {
    const [, name, several] = /^\$(?:\.(\w+))?(\[\*\])?$/.exec(path) ?? [undefined, path, undefined];
    const found = name === undefined ? node : (node as Readonly<Record<string, unknown>>)[name];
    return several === undefined ? [found ?? null] : Array.isArray(found) ? found : [];
  };
  return {
    records: ({ source }) => (documents[source.kind === 'file' ? source.path : ''] ?? []).map((record) => [record]),
    values: (node, reference) => nodes(node, reference).flatMap((one) => (one === null ? [] : [valueOf(one)])),
    items: (node, iterator) => nodes(node, iterator).filter((one) => one !== null),
    within: (text, formulation) => {
      if (formulation !== 'csv') throw new Error(`texts in ${formulation} are tested elsewhere`);
      const [header = [], ...rows] = text.split('\n').map((line) => line.split(','));
      return rows.map((row) => Object.fromEntries(header.map((name, i) => [name, row[i]])));
    },
  };
}

const valueOf = (value: unknown): Value =>
  typeof value === 'string'
    ? { written: value, literal: `"${escaped(value)}"` }
    : { written: String(value), literal: `"${String(value)}"^^<http://www.w3.org/2001/XMLSchema#integer>` };
