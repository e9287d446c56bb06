/** Rows of databases that make a statement: of tables, queries and joins that a run leaves to the database. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { RUN_DEFAULTS } from '../../../src/config/run-defaults.ts';
import { type FoundRecord, findRecords } from '../../../src/explain/find-records.ts';
import { SERVERS, startDatabases, type TestDatabases } from '../../servers/databases/databases.ts';

const MAPPING = `@prefix rr: <http://www.w3.org/ns/r2rml#> . @prefix ex: <http://example.com/> .
<#Person> rr:logicalTable [ rr:tableName "person" ] ; rr:subjectMap [ rr:template "http://example.com/{id}" ] ;
  rr:predicateObjectMap [ rr:predicate ex:name ; rr:objectMap [ rr:column "name" ] ] ;
  rr:predicateObjectMap [ rr:predicate ex:in ; rr:objectMap [
    rr:parentTriplesMap <#City> ; rr:joinCondition [ rr:child "city" ; rr:parent "code" ] ] ] .
<#City> rr:logicalTable [ rr:sqlQuery "SELECT code, label FROM city ORDER BY code" ] ; rr:subjectMap [ rr:template "http://example.com/city/{label}" ] .
`;
const TABLES = `CREATE TABLE city (code varchar(9) PRIMARY KEY, label varchar(20));
CREATE TABLE person (id integer PRIMARY KEY, name varchar(20), city varchar(9));
INSERT INTO city VALUES ('ldn', 'London'), ('nyc', 'New York');
INSERT INTO person VALUES (1, 'Ada', 'ldn'), (2, 'Grace', 'nyc');`;

const told = ({ values }: FoundRecord): string => values.map(({ name, values: texts }) => `${name} = ${texts.join()}`).join(', ');

for (const [product, skip] of SERVERS) {
  (skip === undefined ? describe : describe.skip)(`rows of ${product}`, () => {
    let databases: TestDatabases;
    let directory: string;
    beforeAll(async () => {
      databases = await startDatabases(product);
      await databases.load(TABLES);
      directory = await mkdtemp(join(tmpdir(), 'quadmill-rows-'));
      await writeFile(join(directory, 'mapping.ttl'), MAPPING);
    });
    afterAll(async () => {
      await databases?.stop();
      await rm(directory, { recursive: true, force: true });
    });

    test.each([
      ['http://example.com/name', '"Grace"', 'id = 2, name = Grace', undefined],
      ['http://example.com/in', '<http://example.com/city/New%20York>', 'id = 2, city = nyc', 'label = New York, code = nyc'],
    ])('%s', async (predicate, object, record, parent) => {
      const request = { ...RUN_DEFAULTS, runId: 'rows', mappings: ['mapping.ttl'], inputs: [], workingDirectory: directory };
      const database = { jdbcUrl: databases.jdbcUrl, user: undefined, password: undefined };
      const [found] = await findRecords(
        { ...request, spillDirectory: directory, database },
        [{ subject: '<http://example.com/2>', predicate: `<${predicate}>`, object, graph: '' }],
        {},
      );
      const [row] = found?.rows ?? [];
      expect(found?.count).toBe(1);
      expect([row && told(row.record), row?.parent && told(row.parent)]).toEqual([record, parent]);
      expect(row?.record.places[0]?.scan.source.kind).toBe('sql');
    });
  });
}
