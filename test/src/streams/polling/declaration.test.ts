/** What a mapping says of the changes of tables, what is refused, and what a run does where a read fails or a declaration is wrong. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { fromBytes } from '../../../../src/core/text.ts';
import { Dataset } from '../../../../src/datasets/dataset.ts';
import { openFiles } from '../../../../src/datasets/files.ts';
import { verifyDataset } from '../../../../src/datasets/verify.ts';
import type { RunRequest } from '../../../../src/run/request.ts';
import { USUAL_S3_ACCESS } from '../../../../src/storage/s3-access.ts';
import { openRowsOf } from '../../../../src/streams/kept.ts';
import type { PolledReport } from '../../../../src/streams/polling/report.ts';
import { runOrPoll } from '../../../../src/streams/polling/run.ts';
import { writeSqlite } from '../../../servers/databases/sqlite.ts';
import { requestOf } from '../../run/random/engine.ts';

const PREFIXES = `@prefix rr: <http://www.w3.org/ns/r2rml#> . @prefix rml: <http://w3id.org/rml/> . @prefix ex: <http://example.com/> .
@prefix qms: <http://w3id.org/quadmill/source#> .
`;
const mapped = (
  source: string,
  name = 'M',
): string => `<#${name}> rr:logicalTable [ ${source} ] ; rr:subjectMap [ rr:template "http://example.com/${name}/{id}" ] ;
  rr:predicateObjectMap [ rr:predicate ex:name ; rr:objectMap [ rr:column "name" ] ] .
`;
const DECLARED = 'rr:tableName "t" ; qms:changedSince "at" ; qms:deletedWhen "gone" ; qms:overlap "0"';
const TABLE = `CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT, at TIMESTAMP, gone BOOLEAN);
  INSERT INTO t VALUES (1, 'a', '2026-01-01 10:00:00', 0), (2, 'b', '2026-01-01 10:00:01', NULL), (3, 'c', '2026-01-01 10:00:01', 1);
  CREATE TABLE bare (id INTEGER, name TEXT, at TIMESTAMP); CREATE VIEW v AS SELECT * FROM t;
  CREATE TABLE loose (id TEXT PRIMARY KEY, name TEXT, at INTEGER); INSERT INTO loose VALUES (NULL, 'x', 1)`;

describe('changes that a column tells', () => {
  let directory: string;
  beforeEach(async () => {
    directory = mkdtempSync(join(tmpdir(), 'quadmill-declaration-'));
    await edit(TABLE);
  });
  afterEach(() => rmSync(directory, { recursive: true, force: true }));

  const edit = (script: string): Promise<void> => writeSqlite(join(directory, 't.db'), script);
  const database = (): RunRequest['database'] => ({
    jdbcUrl: `jdbc:sqlite:${join(directory, 't.db')}`,
    user: undefined,
    password: undefined,
  });
  const place = () => ({
    files: openFiles(join(directory, 'd'), directory, USUAL_S3_ACCESS),
    stateDirectory: join(directory, 'd', 'state'),
  });
  const request = (): RunRequest =>
    requestOf({ mappings: ['m.ttl'], workingDirectory: directory, database: database() }, join(directory, 'spill'));
  const run = (mapping: string, whole = false, more: Partial<RunRequest> = {}, hooks = {}): Promise<PolledReport> => {
    writeFileSync(join(directory, 'm.ttl'), PREFIXES + mapping);
    return runOrPoll(place(), { ...request(), ...more }, hooks, undefined, undefined, whole);
  };
  const names = async (): Promise<string> => {
    const dataset = await Dataset.open(place().files);
    let text = '';
    for await (const lines of dataset.graph(dataset.current, undefined, { directory: join(directory, 'f'), memoryBudgetBytes: 2 ** 20 }))
      text += fromBytes(lines);
    return [...text.matchAll(/"(.*)"/g)]
      .map(([, name]) => name)
      .toSorted()
      .join('');
  };
  const verify = async () => {
    const kept = await openRowsOf(place(), request(), database(), undefined);
    const folding = { directory: join(directory, 'f'), memoryBudgetBytes: 2 ** 20 };
    return verifyDataset(place(), request(), database(), folding, { ...kept?.hooks }, () => undefined).finally(() => kept?.close());
  };

  test.each([
    ['rr:tableName "t" ; qms:changedSince "att"', 'mapping/reference', /no column "att"/],
    ['rr:tableName "t" ; qms:changedSince "at" ; qms:deletedWhen "went"', 'mapping/reference', /no column "went"/],
    ['rr:tableName "t" ; qms:changedSince "name"', 'mapping/invalid', /the column name of the type text/],
    ['rr:tableName "t" ; qms:changedSince "at" ; qms:deletedWhen "name"', 'mapping/invalid', /the column name of the type text/],
    ['rr:tableName "bare" ; qms:changedSince "at"', 'mapping/invalid', /table bare, which has no primary key/],
    // SQLite takes NULL in such a key.
    ['rr:tableName "loose" ; qms:changedSince "at"', 'mapping/invalid', /table loose, which has no primary key/],
    ['rr:tableName "v" ; qms:changedSince "at"', 'mapping/invalid', /view v, which has no primary key/],
    ['rr:sqlQuery "SELECT * FROM t" ; qms:changedSince "at"', 'mapping/invalid', /m\.ttl:3:.*beside a query/s],
    ['rr:tableName "t" ; qms:deletedWhen "gone"', 'mapping/invalid', /without qms:changedSince/],
    ['rr:tableName "t" ; qms:changedSince "at", "id"', 'mapping/invalid', /a second qms:changedSince/],
    ['rr:tableName "t" ; qms:changedSince <at>', 'mapping/invalid', /takes the name of a column/],
    ['rr:tableName "t" ; qms:changedSince "at" ; qms:overlap "1 h"', 'mapping/invalid', /takes a whole number/],
  ])('%s is refused', async (source, code, message) => {
    await expect(run(mapped(source))).rejects.toMatchObject({ code, message: expect.stringMatching(message) });
  });

  test('sources of one table that say different things, and queries beside them, are refused', async () => {
    const other = mapped('rr:tableName "t"', 'N');
    await expect(run(mapped(DECLARED) + other)).rejects.toMatchObject({
      code: 'mapping/invalid',
      message: expect.stringMatching(/m\.ttl:5:/),
    });
    const query = mapped('rr:sqlQuery "SELECT * FROM t"', 'N');
    await expect(run(mapped(DECLARED) + query)).rejects.toMatchObject({ message: expect.stringMatching(/a query beside tables/) });
  });

  test('values that do not say what they must are refused, and the dataset stays as it was', async () => {
    await run(mapped(DECLARED));
    expect(await names()).toBe('ab');
    await edit(
      "UPDATE t SET name = 'B', at = '2026-01-02 10:00:00' WHERE id = 2; INSERT INTO t VALUES (4, 'd', '2026-01-02 10:00:00', 'maybe')",
    );
    await expect(run(mapped(DECLARED))).rejects.toMatchObject({
      code: 'database/query',
      message: 'gone is "maybe", which does not say whether the row is deleted',
    });
    await edit('UPDATE t SET gone = 0, at = 1700000000 WHERE id = 4; DELETE FROM t WHERE id <> 4');
    await expect(run(mapped(DECLARED), true)).rejects.toMatchObject({
      message: 'The largest value of at is "1700000000", which is not a date and time from which a read can begin',
    });
    expect(await names()).toBe('ab');
    await edit("UPDATE t SET at = '2026-01-02 10:00:00'; INSERT INTO t VALUES (2, 'B', '2026-01-02 10:00:00', 0)");
    await run(mapped(DECLARED), true);
    expect(await names()).toBe('Bd');
  });

  test('a wrong declaration is found by verify, and mended by a whole read', async () => {
    expect(await run(mapped(DECLARED))).toMatchObject({ version: 1, added: 2, rowsRead: 3 });
    expect(await run(mapped(DECLARED))).toMatchObject({ version: 1, previousVersion: 1, rowsRead: 2, report: undefined });
    await edit("UPDATE t SET name = 'A' WHERE id = 1; DELETE FROM t WHERE id = 2");
    expect(await run(mapped(DECLARED))).toMatchObject({ version: 1, rowsRead: 1 });
    expect(await verify()).toMatchObject({ missing: 1, surplus: 2 });
    expect(await run(mapped(DECLARED), true)).toMatchObject({ version: 2, added: 1, removed: 2, rowsRead: 2 });
    expect(await verify()).toMatchObject({ missing: 0, surplus: 0 });
    expect(await names()).toBe('A');
  });

  test('files beside tables are read each time', async () => {
    const mapping = `${mapped(DECLARED)}<#F> rml:logicalSource [ rml:source [ a rml:FilePath ; rml:path "f.csv" ] ; rml:referenceFormulation rml:CSV ] ;
      rml:subjectMap [ rml:template "http://example.com/f/{id}" ] ; rml:predicateObjectMap [ rml:predicate ex:name ; rml:objectMap [ rml:reference "name" ] ] .`;
    writeFileSync(join(directory, 'f.csv'), 'id,name\n1,x\n');
    await run(mapping);
    writeFileSync(join(directory, 'f.csv'), 'id,name\n1,y\n');
    expect(await run(mapping)).toMatchObject({ version: 2, added: 1, removed: 1 });
    expect(await names()).toBe('aby');
  });

  test.each([1, 2])('a run that ends where it publishes for the %d. time loses no change', async (time) => {
    await run(mapped(DECLARED));
    await edit("UPDATE t SET name = 'B', at = '2026-01-02 10:00:00' WHERE id = 2");
    let calls = 0;
    const confirm = async (): Promise<void> => {
      if (++calls === time) throw new Error('killed');
    };
    await expect(run(mapped(DECLARED), false, { runId: 'one' }, { confirm })).rejects.toThrow('killed');
    await edit("UPDATE t SET name = 'A', at = '2026-01-03 10:00:00' WHERE id = 1");
    await run(mapped(DECLARED), false, { runId: 'two' });
    expect(await names()).toBe('AB');
    expect(await verify()).toMatchObject({ missing: 0, surplus: 0 });
  });

  test('another attempt of a run has the version of the first one; what came since is of the next run', async () => {
    await run(mapped(DECLARED), false, { runId: 'one' }, { isAttempt: true });
    await edit("UPDATE t SET name = 'B', at = '2026-01-02 10:00:00' WHERE id = 2");
    const attempt = await run(mapped(DECLARED), false, { runId: 'one' }, { isAttempt: true });
    expect(attempt).toMatchObject({ version: 1, previousVersion: 0, added: 2, report: undefined });
    expect(await run(mapped(DECLARED), false, { runId: 'two' }, { isAttempt: true })).toMatchObject({ version: 2, added: 1, removed: 1 });
    expect(await names()).toBe('Ba');
  });

  test('a mapping that says nothing is run as ever', async () => {
    expect((await run(mapped('rr:tableName "t"'))).rowsRead).toBeUndefined();
    expect(await names()).toBe('abc');
  });
});
