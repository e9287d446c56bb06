/** A database that cannot be reached, dies, is locked or is slow, in whole runs: what a person reads, and that nothing is left, here or on the server. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { FAULTY, type Faulty } from '../../servers/faulty.ts';
import { freePort } from '../../servers/port.ts';
import { ask } from '../../support/service/process.ts';
import {
  makeWorkspace,
  mappingOf,
  query,
  runCommand,
  type SqlService,
  startCommand,
  startSqlService,
  table,
  until,
  type Workspace,
} from '../../support/service/sql-runs.ts';

const LIMIT_MS = 60_000;
const ROWS = 1_000_000;

/** Rows that the server makes while they are read, out of no key: their statements are looked up, which spills with a budget of 1 MB. */
const MANY: Readonly<Record<Faulty['product'], string>> = {
  postgresql: `SELECT generate_series(1, ${ROWS}) AS id, 'some name' AS name`,
  mariadb: `SELECT seq AS id, 'some name' AS name FROM seq_1_to_${ROWS}`,
};

/** Never gives a row. */
const SLEEPING: Readonly<Record<Faulty['product'], string>> = {
  postgresql: "SELECT 1 AS id, 'x' AS name FROM pg_sleep(1000)",
  mariadb: "SELECT SLEEP(1000) AS id, 'x' AS name",
};
const COUNTING: Readonly<Record<Faulty['product'], string>> = {
  postgresql: "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i FROM n) SELECT i AS id, 'x' AS name FROM n WHERE i = 2",
  mariadb: "SELECT seq AS id, 'x' AS name FROM seq_1_to_100000000000 WHERE seq * 2 = 1",
};

const LOCK: Readonly<Record<Faulty['product'], readonly [lock: string, unlock: string, limit: string]>> = {
  postgresql: ['BEGIN; LOCK TABLE person IN ACCESS EXCLUSIVE MODE', 'COMMIT', 'options=-c%20lock_timeout%3D300'],
  mariadb: ['LOCK TABLES person WRITE', 'UNLOCK TABLES', 'sessionVariables=lock_wait_timeout%3D1'],
};

const answered = (message: string): string => `Record could not be processed due to: ${message}.`;

/** The same as `mappingOf(table('person'))`, with the database in the mapping. */
const describing = (jdbcUrl: string, password: string): string => `@prefix rr: <http://www.w3.org/ns/r2rml#> .
@prefix rml: <http://semweb.mmlab.be/ns/rml#> . @prefix d2rq: <http://www.wiwiss.fu-berlin.de/suhl/bizer/D2RQ/0.1#> .
<#Db> a d2rq:Database ; d2rq:jdbcDSN "${jdbcUrl}" ; d2rq:username "ann" ; d2rq:password "${password}" .
<#Map> rml:logicalSource [ rml:source <#Db> ; rr:sqlVersion rr:SQL2008 ; rr:tableName "person" ] ;
  rr:subjectMap [ rr:template "http://example.com/{id}" ; rr:class <http://example.com/Person> ] .
`;
const DESCRIBED_AT = 'mapping mappings/mapping.ttl:3:1';

interface Wrong {
  /** Of the right JDBC URL. */
  readonly url: string;
  readonly password?: string;
  readonly message: string;
  readonly retried?: boolean;
  /** The mapping's fault, when the URL is the mapping's: its statement is told. */
  readonly placed?: boolean;
}

const WRONG: readonly (readonly [name: string, wrong: (database: Faulty, otherPort: number) => Wrong])[] = [
  ['password', ({ jdbcUrl: url }) => ({ url, password: 'hunter3-wrong', message: 'Invalid Database Credentials' })],
  [
    'host',
    ({ jdbcUrl, port }) => {
      const url = jdbcUrl.replace('127.0.0.1', 'nowhere.invalid');
      const message = `The database server cannot be reached (nowhere.invalid:${port}: no such host) (input ${url})`;
      return { url, message, retried: true };
    },
  ],
  [
    'port',
    ({ jdbcUrl, port }, otherPort) => {
      const url = jdbcUrl.replace(String(port), String(otherPort));
      const message = `The database server cannot be reached (127.0.0.1:${otherPort}: connection refused) (input ${url})`;
      return { url, message, retried: true };
    },
  ],
  ['database', ({ jdbcUrl }) => ({ url: `${jdbcUrl}ping`, message: `The server has no database shopping (input ${jdbcUrl}ping)` })],
  [
    'scheme',
    ({ jdbcUrl, product }) => ({
      url: jdbcUrl.replace(product, 'oracle'),
      message: 'There is no driver for jdbc:oracle: here; those that work are jdbc:postgresql:, jdbc:mysql: and jdbc:mariadb:',
      placed: true,
    }),
  ],
  [
    'parameter',
    ({ jdbcUrl }) => ({
      url: `${jdbcUrl}?allowLoadLocalInfile=true`,
      message: 'The JDBC parameter allowLoadLocalInfile is not accepted',
      placed: true,
    }),
  ],
];

export function sqlFaults(only: Faulty['product']): void {
  for (const { product, missing, start } of FAULTY) {
    if (product !== only) continue;
    if (missing === undefined) describe(`over ${product}`, () => suite(product, start));
    else describe(`over ${product}`, () => test.skip(`is not tested: ${missing}`, () => undefined));
  }
}

function suite(product: Faulty['product'], start: () => Promise<Faulty>): void {
  let database: Faulty;
  let room: Workspace;
  let service: SqlService;
  const person = mappingOf(table('person'));

  beforeAll(async () => {
    [database, room] = await Promise.all([start(), makeWorkspace()]);
    await database.execute('CREATE TABLE person (id integer PRIMARY KEY, name varchar(40))');
    await database.execute("INSERT INTO person VALUES (1, 'Ann')");
    await room.write(person);
    service = await startSqlService(room, database, { MEMORY_BUDGET_MB: '1', DB_CONNECT_SECONDS: '5' });
  }, LIMIT_MS);
  afterEach(() => room.empty());
  afterAll(async () => {
    expect(service?.process.stderr()).toBe('');
    await service?.process.stop();
    await database?.stop();
    await room?.remove();
  });

  const isAlone = async (): Promise<boolean> => (await database.statements()).length === 0;
  const expectNothingLeft = async (): Promise<void> => {
    expect(await room.files()).toEqual([]);
    await until(isAlone, 2_000, 'the server without connections of ours');
  };

  describe.each(WRONG)('a wrong %s', (_, wrong) => {
    let given: Wrong;
    beforeAll(async () => {
      given = wrong(database, await freePort());
    });
    afterEach(async () => {
      await service.configure({ JDBC_URL: database.jdbcUrl, DB_PASSWORD: 'hunter2-right' });
      await room.write(person);
    });
    const login = (): Readonly<Record<string, string>> => (given.password === undefined ? {} : { DB_PASSWORD: given.password });

    test('at the command line', async () => {
      const { code, out, err } = await runCommand(room, given.url, { env: login() });
      expect([code, out]).toEqual([given.message.startsWith('The JDBC parameter') ? 2 : 1, '']);
      expect(err.startsWith(`quadmill: ${given.message}`)).toBe(true);
      if (given.placed !== true) expect(err).toBe(`quadmill: ${given.message}\n`);
      await expectNothingLeft();
    });

    test('in a mapping', async () => {
      await room.write(describing(given.url, given.password ?? 'hunter2-right'));
      const { code, err } = await runCommand(room, database.jdbcUrl);
      const place = given.placed === true ? ` (${DESCRIBED_AT})` : '';
      expect(err.startsWith(`quadmill: ${given.message}${place}`)).toBe(true);
      expect([code, err]).toEqual([given.message.startsWith('The JDBC parameter') ? 2 : 1, expect.not.stringContaining('hunter')]);
      await expectNothingLeft();
    });

    test('in the options of the service, which tries again only what may get better', async () => {
      await service.configure({ JDBC_URL: given.url, ...login() });
      const { status, body } = await service.run();
      expect(status).toBe(400);
      if (given.placed === true) expect(body.error.startsWith(answered(given.message).slice(0, -1))).toBe(true);
      else expect(body.error).toBe(answered(given.message));
      expect(service.retries()).toEqual(given.retried === true ? ['database/unreachable'] : []);
      await expectNothingLeft();
    });
  });

  describe('a server that is killed in the middle of a run', () => {
    beforeAll(() => room.write(mappingOf(query(MANY[product]))));
    afterAll(() => room.write(person));

    test(
      'ends the command with words, and leaves no half file',
      async () => {
        const { ended } = startCommand(room, database.jdbcUrl, { args: ['-o', 'out/graph.nq', '--memory-mb', '1'] });
        await until(room.isHalfWay);
        await database.crash();
        const { code, err } = await ended;
        await database.restart();
        expect([code, err]).toEqual([
          1,
          expect.stringMatching(
            /^quadmill: The connection to the database broke: .{10,80} \(input jdbc:\w+:\/\/127.0.0.1:\d+\/shop, mapping mappings\/mapping.ttl:3:38\)\n$/,
          ),
        ]);
        await expectNothingLeft();
      },
      LIMIT_MS,
    );

    test(
      'lets the service try again, until the server is back and the file whole',
      async () => {
        await service.configure({ RUN_ATTEMPTS: '20', RETRY_SECONDS: '1' });
        const answer = service.run();
        await until(room.isHalfWay);
        await database.crash();
        await service.process.waitForLog('run retried', ({ code }) => code === 'database/lost');
        expect(await room.files()).toEqual([]);
        await database.restart();
        const { status, body } = await answer;
        expect({ status, ...body }).toMatchObject({ status: 200, records: ROWS, quads: ROWS });
        const lines = (await readFile(fileURLToPath(body.outputFileLocations[0]), 'utf8')).split('\n');
        expect([lines.length, new Set(lines).size, lines.at(-1)]).toEqual([ROWS + 1, ROWS + 1, '']);
        const name = `data/output/SQL-Transformer-${body.runId}`;
        expect(await room.files()).toEqual([`${name}.manifest.json`, `${name}.nq`]);
        expect(service.retries()[0]).toBe('database/lost');
        await service.configure({ RUN_ATTEMPTS: '2', RETRY_SECONDS: '0' });
        await until(isAlone);
      },
      LIMIT_MS,
    );

    test(
      'ends the run of the service with words, when it does not come back',
      async () => {
        const answer = service.run();
        await until(room.isHalfWay);
        await database.crash();
        const { status, body } = await answer;
        await database.restart();
        const message = `The database server cannot be reached (127.0.0.1:${database.port}: connection refused) (input ${database.jdbcUrl})`;
        expect([status, body.error]).toEqual([400, answered(message)]);
        expect(service.retries()).toEqual(['database/lost']);
        await expectNothingLeft();
      },
      LIMIT_MS,
    );
  });

  describe('a table that another session has locked', () => {
    const [lock, unlock, limit] = LOCK[product];
    const WAITED = 'A lock was waited for longer than the limit: another connection holds it';
    const message = (mapping: string): string => `${WAITED} (input ${database.jdbcUrl}, mapping ${mapping}:3:39)`;
    const locked = async (use: (release: () => Promise<unknown>) => Promise<void>): Promise<void> => {
      const other = await database.connect();
      await other.execute(lock);
      await use(() => other.execute(unlock)).finally(() => other.end());
    };

    test('ends the command after the limit of the URL', () =>
      locked(async () => {
        const { code, err } = await runCommand(room, `${database.jdbcUrl}?${limit}`);
        expect([code, err]).toEqual([1, `quadmill: ${message('mappings/mapping.ttl')}\n`]);
        await expectNothingLeft();
      }));

    test(
      'is tried again by the service, which says so at last',
      () =>
        locked(async () => {
          await service.configure({ SQL_LOCK_SECONDS: '1' });
          const { status, body } = await service.run();
          expect([status, body.code, body.error]).toEqual([
            400,
            'database/busy',
            answered(message(join(room.path, 'mappings/mapping.ttl'))),
          ]);
          expect(service.retries()).toEqual(['database/busy']);
          await expectNothingLeft();
        }),
      LIMIT_MS,
    );

    test(
      'is mapped when the lock goes away meanwhile',
      () =>
        locked(async (release) => {
          const before = service.process.log.length;
          const answer = service.run();
          await until(() => service.process.log.slice(before).some(({ msg }) => msg === 'run retried'));
          await release();
          expect(await answer).toMatchObject({ status: 200, body: { records: 1, quads: 1 } });
          expect(service.retries()).toEqual(['database/busy']);
          await until(isAlone);
        }),
      LIMIT_MS,
    );
  });

  describe.each([
    ['waits', SLEEPING[product]],
    ['computes', COUNTING[product]],
  ])('a query that %s without an end', (_, sql) => {
    beforeAll(() => room.write(mappingOf(query(sql))));
    afterEach(() => service.configure({ SQL_TIME_LIMIT_SECONDS: '0' }));
    afterAll(() => room.write(person));
    const runs = async (): Promise<boolean> => (await database.statements()).some((text) => text.includes(sql));

    test('ends with its time limit, and is not tried again', async () => {
      await service.configure({ SQL_TIME_LIMIT_SECONDS: '1' });
      const { status, body } = await service.run();
      const place = `input ${database.jdbcUrl}, mapping ${room.path}/mappings/mapping.ttl:3:38`;
      const message = `The query takes longer than its limit of 1 s (${place}). A shorter query, or a higher limit for statements, may help`;
      expect([status, body.error]).toEqual([400, answered(message)]);
      expect(service.retries()).toEqual([]);
      await expectNothingLeft();
    });

    test('ends on the server within a second when the run is cancelled', async () => {
      const answer = service.run();
      await until(runs);
      const [{ id }] = (await ask(`${service.process.url}/runs?limit=1`)).body.runs;
      const begun = performance.now();
      await ask(`${service.process.url}/runs/${id}`, { method: 'DELETE' });
      await until(async () => !(await runs()));
      expect(performance.now() - begun).toBeLessThan(1_000);
      expect(await answer).toMatchObject({ status: 400, body: { code: 'run/cancelled', error: answered('The run was cancelled') } });
      await expectNothingLeft();
    });

    test('ends on the server within a second when the command is interrupted', async () => {
      const { child, ended } = startCommand(room, database.jdbcUrl);
      await until(runs);
      child.kill('SIGINT');
      expect(await until(async () => !(await runs()))).toBeLessThan(1_000);
      expect(await ended).toEqual({ code: 130, out: '', err: 'quadmill: interrupted; nothing was written\n' });
      await expectNothingLeft();
    });
  });

  describe('a run that is stopped in the middle of its rows', () => {
    beforeAll(() => room.write(mappingOf(query(MANY[product].replaceAll(String(ROWS), String(1000 * ROWS))))));
    afterAll(() => room.write(person));

    test('by DELETE /runs/{id}', async () => {
      const answer = service.run();
      await until(room.isHalfWay);
      const [{ id }] = (await ask(`${service.process.url}/runs?limit=1`)).body.runs;
      const begun = performance.now();
      await ask(`${service.process.url}/runs/${id}`, { method: 'DELETE' });
      await until(isAlone);
      expect(performance.now() - begun).toBeLessThan(1_000);
      expect((await answer).body.error).toBe(answered('The run was cancelled'));
      await expectNothingLeft();
    });

    test('by SIGINT', async () => {
      const { child, ended } = startCommand(room, database.jdbcUrl, { args: ['-o', 'out/graph.nq', '--memory-mb', '1'] });
      await until(room.isHalfWay);
      child.kill('SIGINT');
      expect(await until(isAlone)).toBeLessThan(1_000);
      expect(await ended).toEqual({ code: 130, out: '', err: 'quadmill: interrupted; nothing was written\n' });
      await expectNothingLeft();
    });
  });

  test('the database serves its next run after all that', async () => {
    const { code, err } = await runCommand(room, database.jdbcUrl);
    expect([code, err, await readFile(join(room.path, 'out', 'graph.nq'), 'utf8')]).toEqual([
      0,
      '',
      '<http://example.com/1> <http://example.com/name> "Ann" .\n',
    ]);
  });
}
