import { spawnSync } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { built, PROJECT_ROOT } from '../../support/project-root.ts';
import { filledIn } from './against.ts';
import { verdictOf } from './check.ts';
import { differingLine } from './sorted.ts';
import { median, ratios, spread } from './statistics.ts';
import { timed } from './timed.ts';

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'quadmill-pairs-'));
});
afterAll(() => rm(directory, { recursive: true, force: true }));

describe('numbers', () => {
  test.each([
    [[3], 3],
    [[3, 1, 2], 2],
    [[4, 1, 3, 2], 2.5],
  ])('the median of %j is %d', (numbers, expected) => expect(median(numbers)).toBe(expected));

  test('no numbers have no median', () => expect(() => median([])).toThrow('no numbers'));

  test('ratios are those of pairs, not of all', () => {
    expect(ratios([2, 30, 4], [1, 10, 2])).toEqual([2, 3, 2]);
    expect(() => ratios([1], [1, 2])).toThrow('no pairs');
    expect(spread([2, 3, 2])).toBe('2.00 (2.00–3.00)');
  });

  test.each([
    ['as fast as before', [2, 2.1, 1.9], 2, 'ok'],
    ['within ten per cent', [2.19], 2, 'ok'],
    ['beyond ten per cent', [2.21], 2, 'slower'],
    ['one slow pair of three', [2, 9, 2], 2, 'ok'],
    ['most of them beyond ten per cent', [1.8, 1.9, 2, 2.6, 2.7, 2.8, 2.9, 3], 2, 'slower'],
    ['faster', [1], 2, 'ok'],
    ['a version of Node without numbers', [1], undefined, 'not kept'],
  ] as const)('%s', (_, measured, kept, expected) => expect(verdictOf(measured, kept)).toBe(expected));
});

describe('a command', () => {
  test('gets its placeholders as words of the shell', () => {
    expect(filledIn('engine -m {mapping} > {output}', { mapping: "a b/it's.ttl", output: '/o.nq' })).toBe(
      `engine -m 'a b/it'\\''s.ttl' > '/o.nq'`,
    );
  });

  test('that names something else is refused', () => {
    expect(() => filledIn('engine {maping}', { mapping: 'm' })).toThrow('there is no placeholder {maping}; there are mapping, ');
  });

  const hasTime = spawnSync('time', ['--version'], { encoding: 'utf8' }).error === undefined;
  (hasTime ? test : test.skip)('is timed with the processes that it starts', async () => {
    const fill = 'Buffer.alloc(150e6, 1); while (process.cpuUsage().user < 300e3);';
    const ended = await timed(`"${process.execPath}" -e "${fill}"; echo said >&2; exit 3`, directory);
    expect(ended.code).toBe(3);
    expect(ended.err).toBe('said\n');
    expect(ended.userSeconds).toBeGreaterThan(0.25);
    expect(ended.wallSeconds).toBeGreaterThan(0.25);
    expect(ended.peakMemoryBytes).toBeGreaterThan(150e6);
    expect(ended.peakMemoryBytes).toBeLessThan(400e6);
  });
});

describe('sorted bytes', () => {
  test.each([
    ['the same lines in another order', 'b\na\n', 'a\nb\n', undefined],
    ['a line that only we have', 'a\nb\n', 'a\n', 'only ours: b'],
    ['a line that only the other has', 'a\n', 'a\nb\n', 'only theirs: b'],
    ['a line that comes twice', 'a\na\n', 'a\n', 'only ours: a'],
    ['letters beyond ASCII', 'é\nz\n', 'z\né\n', undefined],
  ])('%s', async (_, ours, theirs, expected) => {
    const [first, second] = [join(directory, 'our lines'), join(directory, 'their lines')];
    await writeFile(first, ours);
    await writeFile(second, theirs);
    expect(await differingLine(first, second)).toBe(expected);
  });

  test('are not those of files that are not there', async () => {
    await expect(differingLine(join(directory, 'none'), join(directory, 'none either'))).rejects.toThrow('outputs cannot be compared: ');
  });
});

describe('npm run bench', () => {
  const bench = (...args: string[]) =>
    spawnSync(process.execPath, [built('test/bench/main.js').pathname, '--data', directory, ...args], {
      cwd: PROJECT_ROOT,
      encoding: 'utf8',
    });
  const bound = `"${process.execPath}" "${built('test/bench/bounds/flat.js').pathname}" {folder} {output}`;

  test('tells user time from system time, with two threads and without output', () => {
    const { stdout, status } = bench('--runs', '1', '--threads', '2', '--output', 'null', 'flat-1k');
    expect(stdout).toMatch(/workload +wall s +user s +system s +peak MB +statements/);
    expect(stdout).toMatch(/flat-1k .* 11000 .* – +ok/);
    expect(status).toBe(0);
  });

  const hasTime = spawnSync('time', ['--version']).error === undefined;
  const timedTest = hasTime ? test : test.skip;

  timedTest('compares with another program, pair by pair', () => {
    const { stdout, stderr, status } = bench('--runs', '2', '--sorted', '--against', bound, 'flat-1k');
    expect({ stderr: stderr.match(/^flat-1k: [\d.]+ [\d.]+ s$/gm)?.length, status }).toEqual({ stderr: 2, status: 0 });
    expect(stdout).toContain('flat-1k, 2 pairs: ok, statements counted, sorted bytes equal');
    expect(stdout).toMatch(/^user s +[\d.]+ +[\d.]+ +[\d.]+ \([\d.]+–[\d.]+\)$/m);
  });

  timedTest('says that the other program writes too little, and what', () => {
    const { stdout, status } = bench('--runs', '1', '--sorted', '--against', `${bound} && sed -i 1d {output}`, 'flat-1k');
    expect(stdout).toContain(
      'WRONG: the other: 10999 statements, 11000 expected; the outputs differ, only ours: <http://example.com/person/0> <',
    );
    expect(status).toBe(1);
  });

  timedTest('says that the other program fails', () => {
    const { stderr, status } = bench('--runs', '1', '--against', 'echo no such engine >&2; exit 7', 'flat-1k');
    expect(stderr).toContain('the other ended with code 7: no such engine');
    expect(status).toBe(1);
  });

  test('draws where the time goes', async () => {
    const { stdout, status } = bench('--flame', directory, 'flat-1k');
    expect(stdout).toMatch(/^src\/\S+ +[\d.]+ %$/m);
    expect(status).toBe(0);
    const picture = await readFile(join(directory, 'flame-flat-1k.svg'), 'utf8');
    expect(picture).toMatch(/<title>\w+, src\/[\w/]+: [\d.]+ %<\/title>/);
  });

  test.each([
    ['a flame graph of nothing', ['--flame', '.'], '--flame takes workloads of files'],
    ['a kind of output that there is not', ['--output', 'tape'], '--output is one of file, memory, null'],
    ['a workload without bound', ['--check', 'xlsx-1m'], 'xlsx-1m has nothing that it can be compared with'],
    ['no threads', ['--threads', '0'], 'take whole numbers'],
  ])('refuses %s', (_, args, message) => {
    const { stderr, status } = bench(...args);
    expect(stderr).toContain(message);
    expect(status).toBe(2);
  });
});
