import { execFile } from 'node:child_process';
import { readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { resolve } from 'node:path';
import { expect, test } from '@jest/globals';

test('npm run demo maps its files, shows two failures and leaves nothing behind', async () => {
  const leftovers = async (): Promise<string[]> => (await readdir(tmpdir())).filter((name) => name.startsWith('quadmill-demo-'));
  const before = await leftovers();
  const { code, out, err } = await new Promise<{ code: number | null; out: string; err: string }>((done) => {
    const child = execFile(process.execPath, [resolve('dist/test/demo/demo.js')], (_, stdout, stderr) =>
      done({ code: child.exitCode, out: stdout, err: stderr }),
    );
  });
  expect([code, err]).toEqual([0, '']);
  expect(out).toContain('Ring Road Secondary School (871 pupils): 68.25 µg/m³ at Ring Road South');
  expect(out).toContain("the file extension 'png'");
  expect(out.match(/→ 400 Bad Request/g)).toHaveLength(2);
  expect((await leftovers()).filter((name) => !before.includes(name))).toEqual([]);
});
