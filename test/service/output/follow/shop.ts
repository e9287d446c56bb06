/** A PostgreSQL with two tables, a mapping of them, and services that follow it. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { type Postgres, startPostgres } from '../../../servers/databases/postgres.ts';

const EX = 'http://example.com/';
const MAPPING = `@prefix rr: <http://www.w3.org/ns/r2rml#> . @prefix ex: <${EX}> .
<#Customer> rr:logicalTable [ rr:tableName "customers" ] ; rr:subjectMap [ rr:template "${EX}customer/{id}" ] ;
  rr:predicateObjectMap [ rr:predicate ex:name ; rr:objectMap [ rr:column "name" ] ] .
<#Order> rr:logicalTable [ rr:tableName "orders" ] ; rr:subjectMap [ rr:template "${EX}order/{id}" ] ;
  rr:predicateObjectMap [ rr:predicate ex:by ; rr:objectMap [ rr:parentTriplesMap <#Customer> ;
    rr:joinCondition [ rr:child "customer" ; rr:parent "id" ] ] ] .
`;

export interface Shop {
  readonly server: Postgres;
  readonly jdbcUrl: string;
  query(sql: string): Promise<pg.QueryResult>;
  /** The graph of the tables, one line for each statement, sorted: subject, predicate and object without the namespace. */
  expected(): Promise<readonly string[]>;
  stop(): Promise<void>;
}

/** Its tables are empty. */
export async function startShop(): Promise<Shop> {
  const server = await startPostgres({ settings: ['wal_level=logical'] });
  if ('skip' in server) throw new Error(server.skip);
  const client = new pg.Client({ connectionString: server.url });
  await client.connect();
  await client.query('CREATE TABLE customers (id int PRIMARY KEY, name text); CREATE TABLE orders (id int PRIMARY KEY, customer int)');
  return {
    server,
    jdbcUrl: `jdbc:postgresql://127.0.0.1:${server.port}/postgres?user=postgres`,
    query: (sql) => client.query(sql),
    async expected() {
      const { rows } = await client.query(
        `SELECT 'customer/' || id || ' name ' || name AS line FROM customers WHERE name IS NOT NULL
          UNION ALL SELECT 'order/' || o.id || ' by customer/' || c.id FROM orders o JOIN customers c ON c.id = o.customer`,
      );
      return rows.map(({ line }) => line as string).sort();
    },
    async stop() {
      await client.end();
      await server.stop();
    },
  };
}

/** Puts the mapping where a service with this directory has it. @param service its mapping directory below `mappings`; undefined: it is alone in its process */
export async function putMapping(dataDirectory: string, service: string | undefined, text: string = MAPPING): Promise<void> {
  const directory = join(dataDirectory, 'mappings', ...(service === undefined ? [] : [service]));
  await mkdir(directory, { recursive: true });
  await writeFile(join(directory, 'mapping.ttl'), text);
}

export const withoutNamespace = (iri: string): string => iri.replace(EX, '');

/** Of one line of N-Quads of the mapping. */
export const lineOf = (quad: string): string =>
  quad
    .replace(/ \.$/, '')
    .split(' ')
    .map((term) => withoutNamespace(term.replace(/^[<"]|[>"]$/g, '')))
    .join(' ');

export const CUSTOMERS_ONLY = MAPPING.slice(0, MAPPING.indexOf('<#Order>'));
