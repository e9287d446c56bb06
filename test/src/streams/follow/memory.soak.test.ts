/** A table of many rows: the memory of the follower does not grow with it, neither by the snapshot nor by a transaction that changes all of it. */
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import pg from 'pg';
import { missingPostgres, type Postgres, startPostgres } from '../../../servers/databases/postgres.ts';

const QUADMILL = resolve('bin/quadmill.js');
const ROWS = 300_000;
const MOST_MB = 300;
const missing = await missingPostgres();

(missing === undefined ? describe : describe.skip)(`many rows${missing === undefined ? '' : ` (skipped: ${missing})`}`, () => {
  let directory: string;
  let server: Postgres;
  let client: pg.Client;
  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), 'quadmill-follow-memory-'));
    server = (await startPostgres({ settings: ['wal_level=logical'] })) as Postgres;
    client = new pg.Client({ connectionString: server.url });
    await client.connect();
    await client.query(
      `CREATE TABLE t (id int PRIMARY KEY, a text); INSERT INTO t SELECT i, md5(i::text) FROM generate_series(1, ${ROWS}) i`,
    );
    writeFileSync(
      join(directory, 'mapping.ttl'),
      `@prefix rr: <http://www.w3.org/ns/r2rml#> .
<#M> rr:logicalTable [ rr:tableName "t" ] ; rr:subjectMap [ rr:template "http://example.com/{id}" ] ;
  rr:predicateObjectMap [ rr:predicate <http://example.com/a> ; rr:objectMap [ rr:column "a" ] ] .`,
    );
  }, 120_000);
  afterAll(async () => {
    await client?.end();
    await server?.stop();
    rmSync(directory, { recursive: true, force: true });
  });

  /** @returns the peak of its memory in MB, and what it printed */
  const follow = (): Promise<{ readonly peakMb: number; readonly told: string }> =>
    new Promise((done, failed) => {
      const url = `jdbc:postgresql://127.0.0.1:${server.port}/postgres?user=postgres`;
      const args = [QUADMILL, 'follow', 'mapping.ttl', '--dataset', 'd', '--jdbc-url', url, '--until-caught-up', '--memory-mb', '64'];
      const child = spawn(process.execPath, args, { cwd: directory, stdio: ['ignore', 'ignore', 'pipe'] });
      let [told, peakMb] = ['', 0];
      child.stderr.on('data', (text) => {
        told += text;
      });
      const timer = setInterval(() => {
        try {
          const status = readFileSync(`/proc/${child.pid}/status`, 'utf8');
          // Pages of the rows are in the cache of the system, and count as files.
          const of = (name: string): number => Number(new RegExp(`${name}:\\s+(\\d+)`).exec(status)?.[1] ?? 0) / 1024;
          peakMb = Math.max(peakMb, of('RssAnon'));
        } catch {
          // It has ended.
        }
      }, 50);
      child.on('exit', (code) => {
        clearInterval(timer);
        if (code === 0) done({ peakMb, told });
        else failed(new Error(`${code}: ${told}`));
      });
    });

  test('are read, changed and truncated in bounded memory', async () => {
    const first = await follow();
    expect(first.told).toContain(`version 1, 300,000 statements added`);
    await client.query(`UPDATE t SET a = 'x' WHERE id % 10 < 3`);
    const second = await follow();
    expect(second.told).toContain('version 2, 90,000 statements added, 90,000 removed');
    await client.query('TRUNCATE TABLE t');
    const third = await follow();
    expect(third.told).toContain('version 3, 0 statements added, 300,000 removed');
    for (const { peakMb } of [first, second, third]) expect(peakMb).toBeLessThan(MOST_MB);
  }, 300_000);
});
