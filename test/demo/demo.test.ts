import { execFile } from 'node:child_process';
import { readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { resolve } from 'node:path';
import { expect, test } from '@jest/globals';
import { missingPostgres } from '../servers/postgres.ts';

async function demo(...argv: readonly string[]): Promise<string> {
  const leftovers = async (): Promise<string[]> => (await readdir(tmpdir())).filter((name) => name.startsWith('quadmill-demo-'));
  const before = await leftovers();
  const { code, out, err } = await new Promise<{ code: number | null; out: string; err: string }>((done) => {
    const child = execFile(process.execPath, [resolve('dist/test/demo/demo.js'), ...argv], (_, stdout, stderr) =>
      done({ code: child.exitCode, out: stdout, err: stderr }),
    );
  });
  expect([code, err]).toEqual([0, '']);
  expect((await leftovers()).filter((name) => !before.includes(name))).toEqual([]);
  return out;
}

test('npm run demo maps its files, shows two failures, asks the graph and leaves nothing behind', async () => {
  const out = await demo();
  expect(out).toContain('Ring Road Secondary School,871,68.25,Ring Road South');
  expect(out).toContain("the file extension 'png'");
  expect(out.match(/→ 400 Bad Request/g)).toHaveLength(2);
});

const missing = await missingPostgres();
const why = missing === undefined ? '' : ` (not tested: ${missing})`;

(missing === undefined ? test : test.skip)(
  `npm run demo -- sql maps a database, shows a failure and leaves nothing behind${why}`,
  async () => {
    const out = await demo('sql');
    expect(out).toContain('Edsger has “Die Physiker” by Friedrich Dürrenmatt');
    expect(out).toMatch(/"successfulIterations": 1/);
    expect(out).toContain('The table book has no column titel');
  },
);
