/** The commands that check the project: which file belongs to which, in which order files run, and what stands at the end. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, jest, test } from '@jest/globals';
import { PROJECT_ROOT } from '../support/project-root.ts';

const load = async <T>(path: string): Promise<T> => (await import(pathToFileURL(join(PROJECT_ROOT, path)).href)) as T;
const FILES = readdirSync(join(PROJECT_ROOT, 'test'), { recursive: true, encoding: 'utf8' })
  .map((path) => `test/${path.replaceAll('\\', '/')}`)
  .filter((path) => path.endsWith('.test.ts'));

interface Configuration {
  readonly testMatch: readonly string[];
  readonly testPathIgnorePatterns: readonly string[];
}

describe('npm test and npm run test:soak', () => {
  test('each file belongs to exactly one of the two', async () => {
    const configurations: Configuration[] = [];
    for (const path of ['jest.config.js', 'jest.soak.config.js'])
      configurations.push((await load<{ readonly default: Configuration }>(path)).default);
    const takes = ({ testMatch, testPathIgnorePatterns }: Configuration, path: string): boolean =>
      testMatch.some((glob) => path.endsWith(glob.replace('<rootDir>/test/**/*', ''))) &&
      !testPathIgnorePatterns.some((pattern) => new RegExp(pattern).test(path));
    const taken = FILES.map((path) => [path, configurations.map((configuration) => takes(configuration, path))] as const);
    for (const [path, byEach] of taken) expect([path, ...byEach]).toEqual([path, !path.includes('.soak.'), path.includes('.soak.')]);
    expect(FILES.some((path) => path.includes('.soak.'))).toBe(true);
  });

  test('seconds stand for files that are there', () => {
    const seconds = JSON.parse(readFileSync(join(PROJECT_ROOT, 'test/support/jest/seconds.json'), 'utf8')) as Record<string, number>;
    expect(Object.keys(seconds).filter((path) => !FILES.includes(path))).toEqual([]);
  });
});

interface File {
  readonly path: string;
  readonly seconds: number;
  readonly hasFailed: boolean;
}

describe('the order of files', () => {
  const file = (path: string, seconds: number, hasFailed = false): File => ({ path, seconds, hasFailed });
  const files = [
    file('test/a/long.test.ts', 60),
    file('test/a/quick.test.ts', 0.5),
    file('test/a/longer.test.ts', 90),
    file('test/a/medium.test.ts', 3),
    file('test/src/run/near.test.ts', 20),
    file('test/src/run/nearer.test.ts', 1),
    file('test/b/failed.test.ts', 70, true),
    ...Array.from({ length: 6 }, (_, i) => file(`test/c/${i}.test.ts`, 1)),
  ];
  const rest = Array.from({ length: 6 }, (_, i) => `test/c/${i}.test.ts`);
  const long = ['test/a/longer.test.ts', 'test/a/long.test.ts'];

  test.each([
    [
      'failures, then neighbours of a change, then quick ones, then the longest first',
      ['src/run/join.ts'],
      [
        'test/b/failed.test.ts',
        'test/src/run/nearer.test.ts',
        'test/src/run/near.test.ts',
        'test/a/quick.test.ts',
        ...rest,
        ...long,
        'test/a/medium.test.ts',
      ],
    ],
    [
      'a changed test is near to itself alone',
      ['test/a/long.test.ts', 'README.md'],
      [
        'test/b/failed.test.ts',
        'test/a/long.test.ts',
        'test/a/quick.test.ts',
        'test/src/run/nearer.test.ts',
        ...rest,
        'test/a/longer.test.ts',
        'test/src/run/near.test.ts',
        'test/a/medium.test.ts',
      ],
    ],
    [
      'a change near to many files says nothing',
      ['src/run/join.ts', 'test/c/support.ts'],
      [
        'test/b/failed.test.ts',
        'test/a/quick.test.ts',
        'test/src/run/nearer.test.ts',
        ...rest,
        ...long,
        'test/src/run/near.test.ts',
        'test/a/medium.test.ts',
      ],
    ],
  ])('%s', async (_, changed, expected) => {
    type Arrange = (files: readonly File[], changed: readonly string[]) => readonly File[];
    const { arrange } = await load<{ readonly arrange: Arrange }>('test/support/jest/order.js');
    expect(arrange(files, changed).map(({ path }) => path)).toEqual(expected);
  });
});

describe('the end of a run', () => {
  const result = (path: string, runtime: number, failing: number, statuses: readonly string[]) => ({
    testFilePath: join(PROJECT_ROOT, path),
    perfStats: { runtime },
    numFailingTests: failing,
    testResults: statuses.map((status, i) => ({ status, fullName: `case ${i} of ${path} (skipped: no server)` })),
  });

  test('names what was skipped, the slowest files, how to run what failed, and ends in the counts', async () => {
    type Reporter = new (config: { readonly rootDir: string }) => { onRunComplete(contexts: unknown, results: unknown): void };
    const { default: Reporter } = await load<{ readonly default: Reporter }>('test/support/jest/reporter.js');
    const said: string[] = [];
    const log = jest.spyOn(console, 'log').mockImplementation((text) => void said.push(String(text)));
    // The counts of this example are not those of the run.
    const countsFile = process.env.COUNTS_FILE;
    delete process.env.COUNTS_FILE;
    // Jest's summary is still to come.
    const atExit: (() => void)[] = [];
    const once = jest.spyOn(process, 'once').mockImplementation((_event, listener) => {
      atExit.push(listener as () => void);
      return process;
    });
    try {
      new Reporter({ rootDir: PROJECT_ROOT }).onRunComplete(undefined, {
        testResults: [
          result('test/a.test.ts', 1_000, 0, ['passed', 'pending']),
          result('test/b.test.ts', 12_340, 1, ['failed']),
          { ...result('test/c.soak.test.ts', 500, 0, []), testExecError: { message: 'not loaded' } },
          ...Array.from({ length: 9 }, (_, i) => result(`test/quick-${i}.test.ts`, 100 - i, 0, ['passed'])),
        ],
        numPassedTests: 10,
        numFailedTests: 1,
        numRuntimeErrorTestSuites: 1,
      });
      expect(said.join('\n')).not.toContain('10 passed');
      for (const listener of atExit) listener();
    } finally {
      log.mockRestore();
      once.mockRestore();
      if (countsFile !== undefined) process.env.COUNTS_FILE = countsFile;
    }
    const text = said.join('\n');
    expect(text).toContain('skipped:\n  case 1 of test/a.test.ts (skipped: no server)\n');
    expect(text).toMatch(/slowest files:\n {4}12\.3 s {2}test\/b\.test\.ts\n {5}1\.0 s {2}test\/a\.test\.ts\n(?: +0\.\d s {2}\S+\n){8}\n/);
    expect(text).toContain('  npm run test -- test/b.test.ts\n  npm run test:soak -- test/c.soak.test.ts\n');
    expect(text.split('\n').at(-1)).toBe('10 passed, 2 failed, 1 skipped');
  });
});
