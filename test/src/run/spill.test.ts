import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { addKept, type OutputPattern, OutputText, writerOf } from '../../../src/run/compile/output.ts';
import { LineSpill, SubjectSpill, valueText } from '../../../src/run/distinct/spill.ts';
import { ReifiedLines } from '../../../src/run/nodes/reify.ts';
import { MemoryBudget } from '../../../src/spill/budget.ts';
import { SpillSpace } from '../../../src/spill/space.ts';
import { Random } from '../../support/random.ts';

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

test.each([
  ['in memory, none repeated', 2 ** 30, 20_000, 1e9],
  ['in memory', 2 ** 30, 20_000, 1500],
  // A set holds about a thousand without a budget.
  ['without memory for all subjects', 0, 50_000, 100_000],
  ['with memory for the subjects, and not for those that are repeated', 26_000, 140_000, 50_000],
])('lines of subjects that may be repeated are given once: %s', async (_, budgetBytes, records, subjects) => {
  const random = new Random(subjects);
  const space = new SpillSpace(join(directory, 'subjects'), 1 << 12);
  const [spill, lines] = [new SubjectSpill(space, 11), new LineSpill(space, 7)];
  const outputs = [0, 1].map((number) => new OutputText(number, undefined, undefined));
  const patterns = Array.from({ length: 14 }, (_, rule) => {
    const [before, after] = rule % 3 === 0 ? ['<http://e/', '>'] : ['"', '"'];
    const predicate = `<http://e/p${rule}>`;
    return (outputs[rule === 5 ? 1 : 0] as OutputText).pattern(
      { predicate, before, after, graph: rule === 12 ? '<http://e/g>' : '' },
      false,
    );
  });
  const writers = patterns.map((pattern) => writerOf(pattern));
  const expected = [new Set<string>(), new Set<string>()];
  for (let record = 0; record < records; record++) {
    const subject = `<http://e/${subjects > 1e6 ? record : random.between(0, subjects - 1)}>`;
    // Some are longer than what is read at once.
    const tail = 'x'.repeat(random.chance(0.0002) ? 400_000 : random.between(0, 20));
    const own = new Set<string>();
    let [values, before] = ['', -1];
    for (let count = random.between(1, 3), rule = random.between(0, 13); count > 0 && rule < 14; count--, rule += random.between(0, 2)) {
      const value = `${random.between(0, 3)}${tail}`;
      const { lead, tail: end, output } = patterns[rule] as OutputPattern;
      const line = subject + lead + value + end;
      if (own.has(line)) continue;
      own.add(line);
      (expected[outputs.indexOf(output)] as Set<string>).add(line);
      values += valueText(rule, value, before);
      before = rule;
    }
    spill.add(subject, values);
    if (record % 700 === 0) await space.flush();
  }
  const found: string[][] = [[], []];
  let most = 0;
  const take = (): void => {
    const made = outputs.map((output) => output.take());
    for (const [i, text] of made.entries()) if (text !== '') found[i]?.push(...text.split(/(?<=\n)/));
    most = Math.max(most, made.join('').length);
  };
  for await (const made of spill.drain(new MemoryBudget(budgetBytes), lines, writers)) {
    for (const _ of made) take();
    await space.flush();
  }
  for await (const batch of lines.drain(new MemoryBudget(budgetBytes))) {
    for (const line of batch) addKept(outputs, line);
    take();
  }
  for (const [i, of] of expected.entries()) {
    expect([found[i]?.length, outputs[i]?.statements]).toEqual([of.size, of.size]);
    expect(new Set(found[i])).toEqual(of);
  }
  expect(most).toBeLessThan(2 ** 21);
  expect(files()).toBe(0);
  await space.remove();
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
