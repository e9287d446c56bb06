/** The database of the SQL transformer: its content, the mapping, and the statements that each run must produce. */
import pg from 'pg';
import { type Postgres, startPostgres } from '../../servers/databases/postgres.ts';

export const NAMES = ['Ann', 'Bob "the Miller"', 'Çelik, Zoë', 'two\nlines', '李雷', 'O’Neil', 'back\\slash'] as const;
export const TOWNS = ['Basel', 'Chur', 'Olten', 'Thun'] as const;

export const TABLE_ROWS = 3_000;
/** Rows per slice: a run has six slices, and one for tables that are not cut. */
export const SLICE_ROWS = 500;

/** `person` is cut by its key, `town` is too small. Some persons have no town. */
export const TABLE_MAPPING = `@prefix rr: <http://www.w3.org/ns/r2rml#> . @prefix ex: <http://example.com/> .
<#Person> rr:logicalTable [ rr:tableName "person" ] ;
  rr:subjectMap [ rr:template "http://example.com/person/{id}" ; rr:class ex:Person ] ;
  rr:predicateObjectMap [ rr:predicate ex:name ; rr:objectMap [ rr:column "name" ] ] ;
  rr:predicateObjectMap [ rr:predicate ex:town ; rr:objectMap [ rr:template "http://example.com/town/{town}" ] ] .
<#Town> rr:logicalTable [ rr:tableName "town" ] ;
  rr:subjectMap [ rr:template "http://example.com/town/{id}" ] ;
  rr:predicateObjectMap [ rr:predicate ex:label ; rr:objectMap [ rr:column "label" ] ] .
`;

interface Person {
  readonly id: number;
  readonly name: string;
  /** Position in TOWNS, from 1. */
  readonly town: number | null;
}

const people = (): readonly Person[] =>
  Array.from({ length: TABLE_ROWS }, (_, i) => ({
    id: i + 1,
    name: `${NAMES[i % NAMES.length]} ${i + 1}`,
    town: i % 10 === 9 ? null : (i % TOWNS.length) + 1,
  }));

const ESCAPES: Readonly<Record<string, string>> = { '"': '\\"', '\\': '\\\\', '\n': '\\n' };

/** A plain literal of N-Quads. */
export const literal = (text: string): string => `"${text.replace(/["\\\n]/g, (c) => ESCAPES[c] as string)}"`;

/** The statements that a run over the tables must write, each once. */
export function tableStatements(): ReadonlySet<string> {
  const statements = new Set<string>();
  for (const { id, name, town } of people()) {
    const subject = `<http://example.com/person/${id}>`;
    statements.add(`${subject} <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://example.com/Person> .`);
    statements.add(`${subject} <http://example.com/name> ${literal(name)} .`);
    if (town !== null) statements.add(`${subject} <http://example.com/town> <http://example.com/town/${town}> .`);
  }
  for (const [i, town] of TOWNS.entries()) {
    statements.add(`<http://example.com/town/${i + 1}> <http://example.com/label> ${literal(town)} .`);
  }
  return statements;
}

export interface Database {
  readonly jdbcUrl: string;
  readonly user: string;
  /** In use by a fault. */
  busy: boolean;
  readonly server: Postgres;
}

/** A text is the reason why there is none. */
export async function startDatabase(): Promise<Database | string> {
  const server = await startPostgres();
  if ('skip' in server) return server.skip;
  const client = new pg.Client({ connectionString: server.url });
  try {
    await client.connect();
    await client.query('CREATE TABLE town (id integer PRIMARY KEY, label varchar(40))');
    await client.query('CREATE TABLE person (id integer PRIMARY KEY, name varchar(60) NOT NULL, town integer REFERENCES town)');
    await client.query('INSERT INTO town SELECT * FROM unnest($1::int[], $2::text[])', [TOWNS.map((_, i) => i + 1), TOWNS]);
    const rows = people();
    const columns = [rows.map(({ id }) => id), rows.map(({ name }) => name), rows.map(({ town }) => town)];
    await client.query('INSERT INTO person SELECT * FROM unnest($1::int[], $2::text[], $3::int[])', columns);
    // Whether a table is cut depends on its size in the statistics.
    await client.query('ANALYZE');
  } catch (error) {
    await server.stop();
    throw error;
  } finally {
    await client.end();
  }
  return { jdbcUrl: `jdbc:postgresql://127.0.0.1:${server.port}/postgres`, user: 'postgres', busy: false, server };
}
