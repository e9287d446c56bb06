/**
 * The W3C Direct Mapping of tables, as an R2RML document that makes the same graph.
 *
 * - A row of a table with a primary key is `<Table/key=value;key2=value2>`; a row of any other table is a blank node.
 * - The class is `<Table>`, the property of a column `<Table#column>`, that of a foreign key `<Table#ref-column;column2>`.
 * - Names of tables in the first schema are not qualified, as in the standard, which has no schemas; IRIs of tables in other schemas begin
 * with `schema/`. So adding a second schema does not change the graph of the first one.
 *
 * @see https://www.w3.org/TR/rdb-direct-mapping/
 */
import { Fault } from '../../core/fault.ts';
import { didYouMean } from '../../core/nearest.ts';
import { encodeIriPart, fromBytes, toBytes } from '../../core/text.ts';
import { defaultSchema, readTable, readTables } from '../catalogue/catalogue.ts';
import { parseTableName, quote } from '../catalogue/identifiers.ts';
import type { Product, SqlSession } from '../database.ts';
import { DIALECTS } from '../dialects/dialects.ts';
import type { ForeignKey, Table, TableName } from '../tables.ts';

export interface DirectMappingRequest {
  /** Absolute. Relative IRIs are resolved against it: the part after its last `/` is dropped. */
  readonly base: string;
  /** Empty: those of the session. The tables of the first schema have IRIs without schema. */
  readonly schemas: readonly string[];
  /** Tables and views by name, with or without schema; empty: all tables. */
  readonly tables: readonly string[];
}

/**
 * The direct mapping of a database.
 *
 * @throws Fault request/invalid — no such schema or table, nothing to map
 */
export async function readDirectMapping(session: SqlSession, request: DirectMappingRequest): Promise<string> {
  const { product, address } = session;
  const own = await defaultSchema(session);
  const all = await readTables(session, request.schemas);
  const searched = request.schemas.length > 0 ? request.schemas : own === undefined ? [] : [own];
  const empty = request.schemas.find((name) => all.every(({ schema }) => schema !== name));
  if (empty !== undefined) throw nothing(session, `has no schema '${empty}', or no table in it that this user can see`);
  const tables: Table[] = [];
  for (const name of request.tables) tables.push(await tableOf(session, name, all));
  if (request.tables.length === 0) tables.push(...all);
  if (tables.length === 0) throw nothing(session, own === undefined ? 'is named without a database' : `has no table in ${own}`);
  const parents = new Map(all.map((table) => [keyOf(table), table]));
  for (const { parent } of tables.flatMap(({ foreignKeys }) => foreignKeys)) {
    const found = parents.has(keyOf(parent)) ? undefined : await readTable(session, [parent.schema, parent.name]);
    if (found !== undefined) parents.set(keyOf(parent), found);
  }
  const plainSchema = searched[0] ?? tables[0]?.schema;
  const options = { base: request.base, product, database: address.name, defaultSchema: own, plainSchema };
  return directMapping(tables, [...parents.values()], options);
}

const nothing = ({ address }: SqlSession, reason: string): Fault =>
  new Fault('request/invalid', `${address.name} ${reason}`, { hint: 'Name the schemas to map (MySQL: databases)' });

/** A name as in the catalogue, else as an SQL identifier. */
async function tableOf(session: SqlSession, name: string, all: readonly Table[]): Promise<Table> {
  const found =
    all.find((table) => table.name === name) ??
    all.find((table) => `${table.schema}.${table.name}` === name) ??
    (await readTable(session, parseTableName(name, session.product)));
  if (found !== undefined) return found;
  const hint = didYouMean(
    name,
    all.map((table) => table.name),
  );
  const reason = `${session.address.name} has no table or view '${name}' that this user can see`;
  throw new Fault('request/invalid', reason, hint === undefined ? {} : { hint });
}

export interface DirectMappingOptions {
  /** Absolute. Relative IRIs are resolved against it: the part after its last `/` is dropped. */
  readonly base: string;
  readonly product: Product;
  /** For the document's first line: `DatabaseAddress.name`. */
  readonly database: string;
  /** The schema in which SQL finds unqualified table names. */
  readonly defaultSchema: string | undefined;
  /** The schema whose IRIs have no `schema/`. */
  readonly plainSchema: string | undefined;
}

/**
 * The document, in Turtle. Its IRIs are absolute, or relative to a base that it declares: it means the same under any other base.
 *
 * @param tables to map, in this order
 * @param parents further tables that foreign keys reference; their rows are named but not described
 */
export function directMapping(tables: readonly Table[], parents: readonly Table[], options: DirectMappingOptions): string {
  const names = namesOf(options);
  const find = finder([...tables, ...parents]);
  const head = `# The W3C Direct Mapping of ${options.database.replace(/[\r\n]+/g, ' ')}, as R2RML.
# https://www.w3.org/TR/rdb-direct-mapping/

@prefix rr: <http://www.w3.org/ns/r2rml#> .
@base <${names.base}> .
`;
  return head + tables.map((table) => `\n${triplesMaps(table, find, names, options)}`).join('');
}

type Find = (name: TableName) => Table | undefined;

interface Names {
  readonly base: string;
  /** `Table`, or `schema/Table`, percent-encoded. */
  path(table: TableName): string;
  /** In Turtle. */
  iri(relative: string): string;
}

function namesOf({ base, plainSchema }: DirectMappingOptions): Names {
  const directory = directoryOf(base);
  return {
    base: directory,
    path: ({ schema, name }) => `${schema === plainSchema ? '' : `${encode(schema)}/`}${encode(name)}`,
    // a name of dots alone would be a step through directories
    iri: (relative) => `<${/^\.{1,2}(?=[/#]|$)/.test(relative) ? directory : ''}${relative}>`,
  };
}

/** The prefix of relative paths. */
function directoryOf(base: string): string {
  const [, start, path] = /^([^:/?#]+:(?:\/\/[^/?#]*)?)([^?#]*)/.exec(base) ?? [undefined, base, ''];
  const directory = (path as string).replace(/[^/]*$/, '');
  return `${start}${directory === '' && start?.includes('//') ? '/' : directory}`;
}

const encode = (name: string): string => fromBytes(encodeIriPart(toBytes(name)));
const encodeAll = (columns: readonly string[]): string => columns.map(encode).join(';');

/**
 * The identity of a row.
 *
 * `columns`: its values in these columns; a blank node unless they are the primary key. Several columns are used only for a primary key:
 * values in the template of a blank node are not encoded, so two rows could get the same label. `row`: a row number, which a view adds to
 * the table as a column of that name.
 */
type Identity =
  | { readonly kind: 'columns'; readonly columns: readonly string[]; readonly termType: 'IRI' | 'BlankNode' }
  | { readonly kind: 'row'; readonly label: string };

function identityOf(table: Table): Identity {
  if (table.primaryKey !== undefined) return { kind: 'columns', columns: table.primaryKey, termType: 'IRI' };
  const required = new Set(table.columns.filter(({ nullable }) => !nullable).map(({ name }) => name));
  const unique = table.uniqueKeys.find(([column, ...others]) => others.length === 0 && column !== undefined && required.has(column));
  if (unique !== undefined) return { kind: 'columns', columns: unique, termType: 'BlankNode' };
  const taken = new Set(table.columns.map(({ name }) => name.toLowerCase()));
  let label = 'row';
  while (taken.has(label)) label += '_';
  return { kind: 'row', label };
}

function triplesMaps(table: Table, find: Find, names: Names, options: DirectMappingOptions): string {
  const path = names.path(table);
  const identity = identityOf(table);
  const views = new Map<string, string>();
  const notes: string[] = [];
  const properties = table.columns.map(({ name }) =>
    property(names.iri(`${path}#${encode(name)}`), `rr:column ${string(reference(name))}`),
  );
  for (const key of distinctKeys(table.foreignKeys)) {
    const columns = encodeAll(key.columns);
    const predicate = names.iri(`${path}#ref-${columns}`);
    const parent = find(key.parent);
    if (parent === undefined) {
      notes.push(`${columns} references ${key.parent.schema}.${key.parent.name}, which is not there.`);
      continue;
    }
    const named = identityOf(parent);
    const child = key.exact && named.kind === 'columns' ? childColumns(named.columns, key) : undefined;
    if (child !== undefined) {
      properties.push(property(predicate, termMap(parent, named, child, names)));
      continue;
    }
    // several foreign keys of the same columns have one predicate, and a triples map each
    let id = `<#${path};ref=${columns}>`;
    for (let n = 2; views.has(id); n++) id = `<#${path};ref=${columns}=${n}>`;
    views.set(id, joinedTriplesMap(id, predicate, { table, parent, key }, names, options));
  }
  const comment = `${path}: ${identityComment(identity)}`;
  const main = `${[comment, ...notes].map((line) => `# ${line.replace(/[\r\n]+/g, ' ')}\n`).join('')}<#${path}>
  rr:logicalTable [ ${logicalTable(table, identity, options)} ] ;
  rr:subjectMap [ ${termMap(table, identity, identityColumns(identity), names)} ; rr:class ${names.iri(path)} ]${properties.join('')} .
`;
  return [main, ...views.values()].join('\n');
}

const property = (predicate: string, objectMap: string): string =>
  ` ;\n  rr:predicateObjectMap [ rr:predicate ${predicate} ; rr:objectMap [ ${objectMap} ] ]`;

function identityComment(identity: Identity): string {
  if (identity.kind === 'row') return 'no key, a blank node for each row.';
  const columns = identity.columns.map((column) => `"${column}"`).join(', ');
  return identity.termType === 'IRI' ? `primary key ${columns}.` : `no primary key, a blank node for each ${columns}.`;
}

/** `rr:template`, and the term type unless it is the default: the name of a row of `table`, made of columns in the order of its identity. */
function termMap(table: TableName, identity: Identity, columns: readonly string[], names: Names): string {
  const keys = identityColumns(identity).map((key, i) => `${encode(key)}={${escapeReference(reference(columns[i] as string))}}`);
  const template = `rr:template ${string(`${names.base}${names.path(table)}/${keys.join(';')}`)}`;
  return identity.kind === 'columns' && identity.termType === 'IRI' ? template : `${template} ; rr:termType rr:BlankNode`;
}

const identityColumns = (identity: Identity): readonly string[] => (identity.kind === 'row' ? [identity.label] : identity.columns);

/** The child's columns with the parent's identity, in the order of the identity; undefined: the foreign key references other columns. */
function childColumns(identity: readonly string[], { columns, parentColumns }: ForeignKey): readonly string[] | undefined {
  if (identity.length !== parentColumns.length) return undefined;
  const found = identity.map((column) => columns[parentColumns.indexOf(column)]);
  return found.every((column) => column !== undefined) ? found : undefined;
}

function logicalTable(table: Table, identity: Identity, options: DirectMappingOptions): string {
  if (identity.kind === 'row') return `rr:sqlQuery ${longString(numbered(table, identity.label, options))}`;
  return `rr:tableName ${string(partsOf(table, options).map(reference).join('.'))}`;
}

/** Without schema if the session finds it so: the document then also works for a copy of the database. */
const partsOf = ({ schema, name }: TableName, { defaultSchema }: DirectMappingOptions): readonly string[] =>
  schema === defaultSchema ? [name] : [schema, name];

const sqlName = (table: TableName, options: DirectMappingOptions): string =>
  partsOf(table, options)
    .map((part) => quote(part, options.product))
    .join('.');

/**
 * For foreign keys that the child's own columns cannot resolve. The join is made in SQL, because `=` there has the meaning of the foreign
 * key, even under a collation for which two texts are equal that RDF distinguishes.
 */
function joinedTriplesMap(
  id: string,
  predicate: string,
  { table, parent, key }: { readonly table: Table; readonly parent: Table; readonly key: ForeignKey },
  names: Names,
  options: DirectMappingOptions,
): string {
  const { product } = options;
  const { alias } = DIALECTS[product];
  const sides = { child: identityOf(table), parent: identityOf(parent) };
  const labels = (side: 'child' | 'parent'): readonly string[] => identityColumns(sides[side]).map((_, i) => `${side} ${i + 1}`);
  const selected = (['child', 'parent'] as const).flatMap((side) =>
    identityColumns(sides[side]).map((column, i) => `${side}.${quote(column, product)} AS ${quote(labels(side)[i] as string, product)}`),
  );
  const from = (of: Table, identity: Identity): string =>
    identity.kind === 'row' ? `(${numbered(of, identity.label, options)})` : sqlName(of, options);
  const on = key.columns.map((column, i) => `child.${quote(column, product)} = parent.${quote(key.parentColumns[i] as string, product)}`);
  const sql = `
SELECT ${selected.join(', ')}
FROM ${from(table, sides.child)}${alias}child
JOIN ${from(parent, sides.parent)}${alias}parent ON ${on.join(' AND ')}
`;
  return `# ${names.path(table)}, foreign key ${encodeAll(key.columns)}.
${id}
  rr:logicalTable [ rr:sqlQuery ${longString(sql)} ] ;
  rr:subjectMap [ ${termMap(table, sides.child, labels('child'), names)} ]${property(predicate, termMap(parent, sides.parent, labels('parent'), names))} .
`;
}

/** A table with a row number in front. */
function numbered(table: Table, label: string, options: DirectMappingOptions): string {
  const { product } = options;
  const columns = table.columns.map((column) => quote(column.name, product));
  return DIALECTS[product].numberedRows(sqlName(table, options), quote(label, product), table.kind, columns);
}

/** An identifier as R2RML writes it, for every product. */
const reference = (name: string): string => `"${name.replaceAll('"', '""')}"`;

const escapeReference = (text: string): string => text.replace(/[\\{}]/g, '\\$&');

/** In Turtle. Identifiers contain quotation marks, so strings are delimited by apostrophes. */
const string = (text: string): string => `'${text.replace(/[\\']/g, '\\$&').replaceAll('\n', '\\n').replaceAll('\r', '\\r')}'`;

const longString = (text: string): string => `"""${text.replaceAll('\\', '\\\\').replaceAll('"""', '\\"\\"\\"').replace(/"$/, '\\"')}"""`;

/** The same reference can have several constraints. */
function distinctKeys(keys: readonly ForeignKey[]): readonly ForeignKey[] {
  return [...new Map(keys.map((key) => [JSON.stringify([key.columns, key.parent, key.parentColumns]), key])).values()];
}

/** By exact name, else by one that differs in case: MySQL stores the name in a foreign key in the spelling of its author. */
function finder(tables: readonly Table[]): Find {
  const exact = new Map(tables.map((table) => [keyOf(table), table]));
  const folded = new Map(tables.map((table) => [keyOf(table).toLowerCase(), table]));
  return (name) => exact.get(keyOf(name)) ?? folded.get(keyOf(name).toLowerCase());
}

const keyOf = ({ schema, name }: TableName): string => `${schema}\0${name}`;
