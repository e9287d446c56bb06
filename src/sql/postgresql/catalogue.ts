/** The catalogue of PostgreSQL. */
import { type Catalogue, type CatalogueQuery, type CatalogueRow, keysOf, type Table } from '../tables.ts';

export const postgresCatalogue = (query: CatalogueQuery): Catalogue => ({
  tables: (schemas) => tables(query, schemas),
  table: (parts) => table(query, parts),
  async defaultSchema() {
    const [row] = await query('SELECT current_schema() AS name');
    return row?.name ?? undefined;
  },
});

/** `pg_class c` joined with `pg_namespace n`. Relations owned by an extension (deptype e) contain its data, not the user's. */
async function tables(query: CatalogueQuery, schemas: readonly string[]): Promise<readonly Table[]> {
  const given = schemas.length > 0;
  const rows = await query(
    selectTables(`n.nspname ${given ? 'IN (SELECT json_array_elements_text($1::json))' : '= ANY (current_schemas(false))'}
      AND n.nspname NOT IN ('pg_catalog', 'information_schema') AND c.relkind IN ('r', 'p') AND NOT c.relispartition
      AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.objsubid = 0 AND d.deptype = 'e')`),
    given ? [JSON.stringify(schemas)] : [],
  );
  return rows.map(tableOf);
}

async function table(query: CatalogueQuery, parts: readonly string[]): Promise<Table | undefined> {
  const name = parts.map((part) => `"${part.replaceAll('"', '""')}"`).join('.');
  const [row] = await query(selectTables(`c.oid = to_regclass($1) AND c.relkind IN ('r', 'p', 'v', 'm', 'f')`), [name]);
  return row === undefined ? undefined : tableOf(row);
}

/** Types whose equal values have equal texts; numeric only with a scale, and text only under collations that compare bytes. */
const EXACT = '{int2,int4,int8,oid,bool,uuid,date,time,timestamp,timestamptz,bytea,text,varchar,bpchar,numeric}';

const selectTables = (condition: string): string => `
SELECT n.nspname AS schema, c.relname AS name, c.relkind::text AS kind,
  (CASE WHEN c.relkind = 'p' AND c.reltuples <= 0
    THEN (SELECT sum(greatest(l.reltuples, 0)) FROM pg_partition_tree(c.oid) t JOIN pg_class l ON l.oid = t.relid WHERE t.isleaf)
    WHEN c.reltuples > 0 OR c.relpages > 0 THEN greatest(c.reltuples, 0) END)::bigint::text AS rows,
  (SELECT json_agg(json_build_object('name', a.attname, 'nullable', NOT a.attnotnull) ORDER BY a.attnum)
    FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped)::text AS columns,
  (SELECT json_agg(json_build_object('primary', i.indisprimary, 'columns', k.columns) ORDER BY i.indkey::text, i.indexrelid)
    FROM pg_index i, LATERAL (
      SELECT json_agg(a.attname ORDER BY u.position) AS columns
      FROM unnest(i.indkey::int2[]) WITH ORDINALITY u(attnum, position)
      JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = u.attnum
      WHERE u.position <= i.indnkeyatts) k
    WHERE i.indrelid = c.oid AND i.indisunique AND i.indisvalid AND NOT i.indisexclusion AND i.indpred IS NULL AND i.indexprs IS NULL
      AND NOT (c.relkind = 'r' AND EXISTS (SELECT FROM pg_inherits h WHERE h.inhparent = c.oid)))::text AS keys,
  (SELECT json_agg(json_build_object('columns', k.columns, 'parent', json_build_object('schema', pn.nspname, 'name', p.relname),
      'parentColumns', k.parents, 'exact', k.exact AND f.convalidated) ORDER BY f.conkey, f.oid)
    FROM pg_constraint f JOIN pg_class p ON p.oid = f.confrelid JOIN pg_namespace pn ON pn.oid = p.relnamespace, LATERAL (
      SELECT json_agg(ca.attname ORDER BY u.position) AS columns, json_agg(pa.attname ORDER BY u.position) AS parents,
        bool_and(
          (ca.atttypid = pa.atttypid AND ca.atttypmod = pa.atttypmod
              AND (t.typtype = 'e' OR t.oid = ANY ('${EXACT}'::regtype[]) AND NOT (t.oid = 'numeric'::regtype AND ca.atttypmod = -1))
            OR ca.atttypid = ANY ('{int2,int4,int8}'::regtype[]) AND pa.atttypid = ANY ('{int2,int4,int8}'::regtype[])
            OR ca.atttypid = ANY ('{text,varchar}'::regtype[]) AND pa.atttypid = ANY ('{text,varchar}'::regtype[]))
          AND NOT EXISTS (SELECT FROM pg_collation o
            WHERE o.oid IN (ca.attcollation, pa.attcollation) AND to_jsonb(o) ->> 'collisdeterministic' = 'false')) AS exact
      FROM unnest(f.conkey, f.confkey) WITH ORDINALITY u(child, parent, position)
      JOIN pg_attribute ca ON ca.attrelid = f.conrelid AND ca.attnum = u.child
      JOIN pg_attribute pa ON pa.attrelid = f.confrelid AND pa.attnum = u.parent
      JOIN pg_type t ON t.oid = ca.atttypid) k
    WHERE f.contype = 'f' AND f.conrelid = c.oid
      -- a reference to a partitioned table has a constraint for each partition, below the one that was written
      AND NOT EXISTS (SELECT FROM pg_constraint w WHERE w.oid = f.conparentid AND w.conrelid = f.conrelid)
      -- PERIOD: the parent is any number of rows whose ranges together contain the child's
      AND NOT EXISTS (SELECT FROM pg_index i WHERE i.indexrelid = f.conindid AND i.indisexclusion))::text AS "references"
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE ${condition}`;

function tableOf(row: CatalogueRow): Table {
  const list = <Item>(name: string): Item[] => JSON.parse(row[name] ?? '[]') as Item[];
  return {
    schema: row.schema as string,
    name: row.name as string,
    kind: row.kind === 'r' || row.kind === 'p' ? 'table' : 'view',
    columns: list('columns'),
    ...keysOf(list('keys')),
    foreignKeys: list('references'),
    estimatedRows: row.rows === null ? undefined : Number(row.rows),
  };
}
