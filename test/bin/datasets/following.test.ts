/** The files and commands of docs/following.md, in their order, with a real PostgreSQL, and what they print. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from '@jest/globals';
import { missingPostgres, startPostgres } from '../../servers/databases/postgres.ts';
import { PROJECT_ROOT } from '../../support/project-root.ts';
import { blocksOf } from './blocks.ts';

const directory = mkdtempSync(join(tmpdir(), 'quadmill-page-'));
afterAll(() => rmSync(directory, { recursive: true }));

const missing = await missingPostgres();
const run = missing === undefined ? test : test.skip;

run(
  `the commands of the page print what it says${missing === undefined ? '' : ` (not tested: ${missing})`}`,
  async () => {
    const server = await startPostgres({ settings: ['wal_level=logical'] });
    if ('skip' in server) throw new Error(server.skip);
    const env = {
      ...process.env,
      PGHOST: '127.0.0.1',
      PGPORT: String(server.port),
      PGUSER: 'postgres',
      COMMAND: join(PROJECT_ROOT, 'bin', 'quadmill.js'),
    };
    try {
      let printed = '';
      for (const { language, name, text } of blocksOf('following.md')) {
        if (name !== undefined) writeFileSync(join(directory, name), text);
        else if (language === 'sh') {
          printed = '';
          const script = text
            .replaceAll('npx quadmill', `"${process.execPath}" "$COMMAND"`)
            .replaceAll('localhost/', `127.0.0.1:${server.port}/`);
          const { status, stdout, stderr } = spawnSync('sh', ['-ec', script], { cwd: directory, encoding: 'utf8', env });
          expect([text, status, stderr]).toEqual([text, 0, stderr]);
          printed += stdout + stderr;
        } else if (language === 'text' || language === 'rdf-patch')
          for (const line of text.trim().split('\n')) expect(printed.split('\n')).toContain(line);
      }
      const { stdout } = spawnSync('psql', ['-Atc', 'SELECT count(*) FROM pg_replication_slots'], { encoding: 'utf8', env });
      expect(stdout.trim()).toBe('0');
    } finally {
      await server.stop();
    }
  },
  90_000,
);
