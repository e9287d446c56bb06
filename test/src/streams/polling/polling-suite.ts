/**
 * Random edits of tables whose changes a column tells: after each run the graph of the newest version is what a plain run over the rows makes that do not
 * count as deleted, and the database gives no other rows than those that may have changed.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { fromBytes } from '../../../../src/core/text.ts';
import { Dataset } from '../../../../src/datasets/dataset.ts';
import { openFiles } from '../../../../src/datasets/files.ts';
import type { RunRequest } from '../../../../src/run/request.ts';
import { USUAL_S3_ACCESS } from '../../../../src/storage/s3-access.ts';
import { runOrPoll } from '../../../../src/streams/polling/run.ts';
import { type Server, startDatabases, type TestDatabases } from '../../../servers/databases/databases.ts';
import { Random } from '../../../support/random.ts';
import { plainLabels } from '../../../support/read-rdf.ts';
import { type Changes, linesOf, requestOf } from '../../run/random/engine.ts';

interface Row {
  readonly key: readonly (string | number)[];
  readonly values: Readonly<Record<string, string | number | boolean | null>>;
  /** Of the column that grows; null: NULL. undefined: the table has none. */
  readonly at?: number | null;
}

/** A table with a column that grows. */
class Growing {
  readonly rows = new Map<string, Row>();
  readonly overlap: number | undefined;
  /** With what the product adds. */
  readonly margin: number;
  readonly #unit: number;
  #clock = 1000;
  /** The largest value that the last read has seen. */
  seen: number | undefined;

  /** @param unit of the clock */
  constructor(overlap: number | undefined, margin: number, unit: number) {
    this.overlap = overlap;
    this.margin = margin;
    this.#unit = unit;
  }

  next(random: Random): number {
    this.#clock += random.pick([0, 0, 1, 20]) * this.#unit;
    return this.#clock - random.between(0, this.overlap ?? 0);
  }

  /** What a read gives, of all rows or of those that may have changed. */
  read(whole: boolean): number {
    const from = whole || this.seen === undefined ? undefined : this.seen - this.margin;
    const read = [...this.rows.values()].filter(({ at }) => from === undefined || at == null || at >= from);
    const values = read.flatMap(({ at }) => at ?? []);
    this.seen = values.length > 0 ? Math.max(...values) : whole ? undefined : this.seen;
    return read.length;
  }
}

const TWICE_SECONDS = 3600;
const USUAL_SECONDS = 60;

const timeOf = (seconds: number): string => new Date(Date.UTC(2026, 0, 1) + seconds * 1000).toISOString().slice(0, 19).replace('T', ' ');
const literal = (value: string | number | boolean | null): string => (typeof value === 'string' ? `'${value}'` : String(value));

const mappingOf = (customers: string, orders: string, lines: string, more: string): string => `
@prefix rr: <http://www.w3.org/ns/r2rml#> . @prefix ex: <http://example.com/> . @prefix qms: <http://w3id.org/quadmill/source#> .
<#Customer> rr:logicalTable [ ${customers} ] ; rr:subjectMap [ rr:template "http://example.com/customer/{id}" ] ;
  rr:predicateObjectMap [ rr:predicate ex:name ; rr:objectMap [ rr:column "name" ] ] ; ${more}
  rr:predicateObjectMap [ rr:predicate ex:updated ; rr:objectMap [ rr:column "updated_at" ] ] .
<#Order> rr:logicalTable [ ${orders} ] ; rr:subjectMap [ rr:template "http://example.com/order/{shop}/{id}" ] ;
  rr:predicateObjectMap [ rr:predicate ex:total ; rr:objectMap [ rr:column "total" ] ] ;
  rr:predicateObjectMap [ rr:predicate ex:by ; rr:objectMap [ rr:parentTriplesMap <#Customer> ;
    rr:joinCondition [ rr:child "customer" ; rr:parent "id" ] ] ] .
<#Line> rr:logicalTable [ ${lines} ] ; rr:subjectMap [ rr:template "http://example.com/line/{text}" ] ;
  rr:predicateObjectMap [ rr:predicate ex:of ; rr:objectMap [ rr:parentTriplesMap <#Order> ;
    rr:joinCondition [ rr:child "order_id" ; rr:parent "id" ] ] ] .
`;
const PLAIN = [
  'rr:sqlQuery "SELECT * FROM customers WHERE deleted_at IS NULL"',
  'rr:sqlQuery "SELECT * FROM orders WHERE gone IS NULL OR gone = false"',
  'rr:tableName "lines"',
] as const;
const MORE = 'rr:predicateObjectMap [ rr:predicate ex:key ; rr:objectMap [ rr:column "id" ] ] ;';

export function pollsTables(servers: readonly Server[], seeds: readonly number[], steps: number): void {
  describe.each(servers)('polls %s', (product, missing) => {
    if (missing !== undefined) {
      test.skip(`is not tested: ${missing}`, () => undefined);
      return;
    }
    let directory: string;
    let databases: TestDatabases;
    beforeAll(async () => {
      directory = mkdtempSync(join(tmpdir(), 'quadmill-polling-'));
      databases = await startDatabases(product);
    }, 60_000);
    afterAll(async () => {
      await databases?.stop();
      rmSync(directory, { recursive: true, force: true });
    });

    test.each(seeds)('seed %d', async (seed) => {
      const random = new Random(seed);
      const place = join(directory, String(seed));
      mkdirSync(place);
      const isTwice = product === 'mariadb' && random.chance(0.5);
      const time = product === 'mariadb' && !isTwice ? 'DATETIME' : 'TIMESTAMP';
      await databases.load(
        `
        CREATE TABLE customers (id INT PRIMARY KEY, name VARCHAR(20), updated_at ${time} NULL, deleted_at ${time} NULL);
        CREATE TABLE orders (shop INT, id VARCHAR(9), customer INT, total DECIMAL(10,2), version BIGINT NOT NULL, gone BOOLEAN, PRIMARY KEY (shop, id));
        CREATE TABLE lines_ (text VARCHAR(20), order_id VARCHAR(9));`.replace('lines_', product === 'mariadb' ? '"lines"' : 'lines'),
      );
      const seconds = random.pick([0, 30, undefined]);
      const units = random.pick([5, undefined]);
      const customers = new Growing(seconds, (seconds ?? USUAL_SECONDS) + (isTwice ? TWICE_SECONDS : 0), random.pick([1, 300]));
      const orders = new Growing(units, units ?? 0, 1);
      const lines: Row[] = [];
      const overlap = (value: number | undefined): string => (value === undefined ? '' : `; qms:overlap "${value}"`);
      let more = '';
      const write = (): void => {
        const declared = [
          `rr:tableName "customers" ; qms:changedSince "updated_at" ; qms:deletedWhen "deleted_at" ${overlap(seconds)}`,
          `rr:tableName "orders" ; qms:changedSince "version" ; qms:deletedWhen "gone" ${overlap(units)}`,
          'rr:tableName "lines"',
        ] as const;
        writeFileSync(join(place, 'mapping.ttl'), mappingOf(...declared, more));
        writeFileSync(join(place, 'plain.ttl'), mappingOf(...PLAIN, more));
      };
      const common: Omit<Changes, 'mappings'> = {
        workingDirectory: place,
        database: { jdbcUrl: databases.jdbcUrl, user: undefined } as RunRequest['database'],
      };
      const files = openFiles(join(place, 'dataset'), place, USUAL_S3_ACCESS);
      const stateDirectory = join(place, 'dataset', 'state');
      const folding = { directory: join(place, 'folding'), memoryBudgetBytes: 2 ** 24 };
      let isWhole = true;
      for (let step = 0; step < steps; step++) {
        const script: string[] = [];
        const put = (table: 'customers' | 'orders', of: Growing, row: Row): void => {
          const id = JSON.stringify(row.key);
          const keys = table === 'customers' ? ['id'] : ['shop', 'id'];
          const where = keys.map((name, i) => `${name} = ${literal(row.key[i] as string)}`).join(' AND ');
          const names = Object.keys(row.values);
          script.push(
            of.rows.has(id)
              ? `UPDATE ${table} SET ${names.map((name) => `${name} = ${literal(row.values[name] as string)}`).join(', ')} WHERE ${where}`
              : `INSERT INTO ${table} (${[...keys, ...names].join(', ')}) VALUES (${[...row.key, ...Object.values(row.values)].map(literal).join(', ')})`,
          );
          of.rows.set(id, row);
        };
        for (let edit = random.between(step === 0 ? 10 : 0, step === 0 ? 40 : 8); edit > 0; edit--) {
          if (random.chance(0.5)) {
            const at = random.chance(0.1) ? null : customers.next(random);
            const moment = at === null ? null : timeOf(at);
            const values = {
              name: random.pick(['Ada', 'Bob', 'Ünï', null]),
              updated_at: moment,
              deleted_at: random.chance(0.2) ? timeOf(5) : null,
            };
            put('customers', customers, { key: [random.between(1, 20)], values, at });
          } else if (random.chance(0.7)) {
            const at = orders.next(random);
            const values = {
              customer: random.between(1, 22),
              total: random.between(0, 99),
              version: at,
              gone: random.pick([null, false, false, true]),
            };
            put('orders', orders, { key: [random.between(1, 3), random.pick(['a', 'b', 'ö', 'c"d', '7'])], values, at });
          } else if (random.chance(0.6)) {
            const [text, of] = [random.pick(['x', 'y', 'z']), random.pick(['a', 'b', '7'])];
            lines.push({ key: [text, of], values: {} });
            script.push(`INSERT INTO "lines" VALUES ('${text}', '${of}')`);
          } else {
            const text = random.pick(['x', 'y', 'z']);
            script.push(`DELETE FROM "lines" WHERE text = '${text}'`);
            lines.splice(0, lines.length, ...lines.filter(({ key }) => key[0] !== text));
          }
        }
        let whole = random.chance(0.1);
        const [some] = customers.rows.keys();
        if (some !== undefined && random.chance(0.2)) {
          // No column tells it.
          customers.rows.delete(some);
          script.push(`DELETE FROM customers WHERE id = ${JSON.parse(some)[0]}`);
          whole = true;
        }
        if (script.length > 0) await databases.run(script.join(';\n'));
        if (random.chance(0.1)) {
          rmSync(stateDirectory, { recursive: true, force: true });
          isWhole = true;
        }
        if (random.chance(0.1)) {
          more = more === '' ? MORE : '';
          isWhole = true;
        }
        write();
        const expected = await linesOf({ ...common, mappings: [join(place, 'plain.ttl')] });
        const request = requestOf({ ...common, runId: `${seed}-${step}`, mappings: [join(place, 'mapping.ttl')] }, join(place, 'spill'));
        const made = await runOrPoll({ files, stateDirectory }, request, {}, undefined, undefined, whole);
        expect(made.rowsRead).toBe(customers.read(isWhole || whole) + orders.read(isWhole || whole) + lines.length);
        isWhole = false;
        const dataset = await Dataset.open(files);
        const graph: string[] = [];
        for await (const text of dataset.graph(dataset.current, undefined, folding))
          for (const line of text.split('\n').slice(0, -1)) graph.push(plainLabels(fromBytes(line)));
        expect(graph.toSorted()).toEqual([...new Set(expected)].toSorted());
      }
    });
  });
}
