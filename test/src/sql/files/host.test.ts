/** The process that reads a database file: it ends with the process of its session, and says which library it misses. */
import { type ChildProcess, spawn } from 'node:child_process';
import { cpSync, existsSync, readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { writeDuckdb } from '../../../servers/databases/duckdb.ts';
import { writeSqlite } from '../../../servers/databases/sqlite.ts';
import { PROJECT_ROOT } from '../../../support/project-root.ts';

const PRODUCTS = {
  sqlite: {
    write: writeSqlite,
    endless: 'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) AS c FROM n',
    library: '@photostructure/sqlite',
  },
  duckdb: {
    write: writeDuckdb,
    endless: 'SELECT sum(hash(a.i) ^ hash(b.i) % 3) AS s FROM range(1000000000) AS a(i), range(1000000000) AS b(i)',
    library: '@duckdb/node-api',
  },
} as const;

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'quadmill-host-'));
});
afterAll(() => rm(directory, { recursive: true }));

/** A process with a session, which reads the rows of a query. @param root of the package */
async function reader(product: keyof typeof PRODUCTS, root: string, sql: string): Promise<ChildProcess> {
  const path = join(directory, `${product}.db`);
  if (!existsSync(path)) await PRODUCTS[product].write(path, 'CREATE TABLE t (x INT)');
  const script = join(directory, `reader-${product}.mjs`);
  const url = JSON.stringify(`jdbc:${product}:${path}`);
  await writeFile(
    script,
    `const { openSession } = await import(${JSON.stringify(join(root, 'dist/src/sql/drivers/open.js'))});
     const { parseJdbcUrl } = await import(${JSON.stringify(join(root, 'dist/src/sql/jdbc/jdbc.js'))});
     try {
       const session = await openSession(parseJdbcUrl({ url: ${url} }), { connectSeconds: 5, statementSeconds: 0, lockSeconds: 1 });
       console.log('open');
       for await (const _ of session.rows(${JSON.stringify(sql)}, 1));
     } catch (error) {
       console.log([error.code, error.message, error.hint].join('|'));
     }`,
  );
  return spawn(process.execPath, [script], { stdio: ['ignore', 'pipe', 'inherit'] });
}

/** The processes that a process has started. */
const childrenOf = (pid: number): number[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((name) => {
      try {
        return readFileSync(`/proc/${name}/stat`, 'utf8')
          .replace(/^.*\) \S /s, '')
          .startsWith(`${pid} `);
      } catch {
        return false;
      }
    })
    .map(Number);

const lives = (pid: number): boolean => {
  try {
    // A zombie has ended.
    return !/^\S+ \(.*\) Z/s.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
};

const onLinux = process.platform === 'linux' ? test : test.skip;

onLinux.each(['sqlite', 'duckdb'] as const)(
  'a query of %s without end ends with the process of its session, however that ends',
  async (product) => {
    const session = await reader(product, PROJECT_ROOT, PRODUCTS[product].endless);
    await new Promise((resolve) => session.stdout?.once('data', resolve));
    const [host] = childrenOf(session.pid as number);
    // The query is under way.
    await sleep(300);
    expect(lives(host as number)).toBe(true);
    session.kill('SIGKILL');
    for (let i = 0; i < 200 && lives(host as number); i++) await sleep(50);
    expect(lives(host as number)).toBe(false);
  },
);

onLinux.each(['sqlite', 'duckdb'] as const)(
  'the process that reads %s has nothing of the environment but what it needs',
  async (product) => {
    process.env.QUADMILL_SECRET = 'hunter2';
    const session = await reader(product, PROJECT_ROOT, PRODUCTS[product].endless);
    await new Promise((resolve) => session.stdout?.once('data', resolve));
    const [host] = childrenOf(session.pid as number);
    const names = readFileSync(`/proc/${host}/environ`, 'utf8')
      .split('\0')
      .filter((entry) => entry !== '')
      .map((entry) => entry.replace(/=.*/s, ''));
    session.kill('SIGKILL');
    expect(['PATH', 'LANG', 'LC_ALL', 'TZ']).toEqual(expect.arrayContaining(names));
    expect(names).toContain('PATH');
  },
);

test.each(['sqlite', 'duckdb'] as const)('without its library, %s says what to install', async (product) => {
  // Compiled code where no package is found.
  const root = join(directory, 'package');
  cpSync(join(PROJECT_ROOT, 'dist/src'), join(root, 'dist/src'), { recursive: true });
  cpSync(join(PROJECT_ROOT, 'package.json'), join(root, 'package.json'));
  const session = await reader(product, root, 'SELECT x FROM t');
  let said = '';
  for await (const chunk of session.stdout as AsyncIterable<Buffer>) said += chunk.toString();
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  if (product === 'sqlite' && (major > 22 || (major === 22 && minor >= 16))) {
    expect(said).toBe('open\n');
    return;
  }
  expect(said).toMatch(/^database\/driver\|/);
  expect(said).toContain(`npm install ${PRODUCTS[product].library} beside Quadmill`);
});
