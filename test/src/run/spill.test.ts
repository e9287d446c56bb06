import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { LineSpill } from '../../../src/run/distinct/spill.ts';
import { ReifiedLines } from '../../../src/run/nodes/reify.ts';
import { MemoryBudget } from '../../../src/spill/budget.ts';
import { SpillSpace } from '../../../src/spill/space.ts';

let directory: string;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'quadmill-spill-'));
});
afterAll(() => rmSync(directory, { recursive: true }));

/** Spill files that are there, and descriptors that are open. */
const files = (): number => readdirSync(directory, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile()).length;
const descriptors = (): number => (existsSync('/proc/self/fd') ? readdirSync('/proc/self/fd').length : 0);

test('lines that fit nowhere are partitioned again and again, and neither files nor descriptors pile up', async () => {
  const space = new SpillSpace(join(directory, 'run'));
  const spill = new LineSpill(space, 7);
  const before = descriptors();
  const lines = Array.from(
    { length: 80_000 },
    (_, i) => `<http://example.com/subject/${i % 60_000}> <http://example.com/p> "some text" .\n`,
  );
  for (const [i, line] of lines.entries()) {
    spill.add(line);
    if (i % 1000 === 0) await space.flush();
  }
  const found: string[] = [];
  let most = 0;
  let open = 0;
  // No budget: a set holds about a thousand lines, a partition of this input nearly two thousand.
  for await (const batch of spill.drain(new MemoryBudget(0))) {
    found.push(...batch);
    most = Math.max(most, files());
    open = Math.max(open, descriptors() - before);
  }
  expect(found.sort()).toEqual([...new Set(lines)].sort());
  expect(most).toBeLessThanOrEqual(64);
  expect(open).toBeLessThanOrEqual(72);
  expect(files()).toBe(0);
  await space.remove();
  expect(existsSync(join(directory, 'run'))).toBe(false);
});

test('statements of reifiers are written once, also those that no table could decide', async () => {
  const space = new SpillSpace(join(directory, 'reified'));
  const told = new Set<string>();
  const state = { distinct: true, seed: 7, budget: new MemoryBudget(0), subject: (token: string) => void told.add(token) };
  const lines = new ReifiedLines(state, space);
  const triple = (i: number): string => `<http://e/${i}> <http://e/p> "<< a >>"`;
  const statement = (i: number, q: number): string => `<< ${triple(i % 5000)} >> <http://e/q${q}> "x" <http://e/g> .\n`;
  let text = '';
  /** Statements of reifiers that are decided at once. */
  let decided = 0;
  for (let q = 0; q < 3; q++)
    for (let i = 0; i < 5000; i += 10) {
      for (let k = 0; k < 10; k++) {
        const made = lines.rewrite(statement(i + k, q), '');
        decided += made.length - 1;
        text += made.join('');
      }
      await space.flush();
    }
  expect(decided).toBeLessThan(5000);
  for await (const batch of lines.drain()) text += batch.join('');
  const written = text.split('\n').slice(0, -1);
  expect(new Set(written).size).toBe(written.length);
  expect(written.length).toBe(3 * 5000 + 5000);
  const reifiers = written.flatMap((line) => /^(\S+) <\S+#reifies> <<\( (.*) \)>> <http:\/\/e\/g> \.$/.exec(line)?.[1] ?? []);
  expect([reifiers.length, told.size]).toEqual([5000, 5000]);
  expect([...told].sort()).toEqual(reifiers.sort());
  expect(files()).toBe(0);
  await space.remove();
});
