/**
 * The last words of a test run: what was skipped and why (the names say it), the slowest files, for each failed file the command that
 * runs it alone, and the counts alone on the last line.
 *
 * COUNTS_FILE names a file to append the counts to. UPDATE_SECONDS=1 rewrites `seconds.json`, from which a fresh checkout orders files.
 */
import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';

const SLOWEST = 10;
const SECONDS = new URL('seconds.json', import.meta.url);

export default class Reporter {
  constructor({ rootDir, testNamePattern }) {
    this.root = rootDir;
    this.namePattern = testNamePattern;
  }

  onRunComplete(_contexts, results) {
    const files = results.testResults.map((result) => ({ ...result, path: relative(this.root, result.testFilePath).split(sep).join('/') }));
    const skipped = files.flatMap(({ testResults }) => testResults.filter(({ status }) => status === 'pending' || status === 'todo'));
    // Those that a pattern leaves out were not skipped for a reason.
    const names = this.namePattern ? [] : skipped.map(({ fullName }) => fullName);
    print('skipped', names);
    print('slowest files', slowest(files));
    print('failed files, each to be run alone by', files.filter(hasFailed).map(commandOf));
    const { numPassedTests: passed, numFailedTests: failed, numRuntimeErrorTestSuites: broken } = results;
    const counts = `${passed} passed, ${failed + broken} failed, ${skipped.length} skipped`;
    if (process.env.COUNTS_FILE !== undefined) appendFileSync(process.env.COUNTS_FILE, `${counts}\n`);
    if (process.env.UPDATE_SECONDS === '1') updateSeconds(this.root, files);
    // Jest's own summary comes after all reporters.
    process.once('exit', () => console.log(`\n${counts}`));
  }
}

function print(title, lines) {
  if (lines.length > 0) console.log(`\n${title}:\n${lines.map((line) => `  ${line}`).join('\n')}`);
}

const secondsOf = ({ perfStats }) => perfStats.runtime / 1000;

const slowest = (files) =>
  [...files]
    .sort((a, b) => secondsOf(b) - secondsOf(a))
    .slice(0, SLOWEST)
    .map((file) => `${secondsOf(file).toFixed(1).padStart(6)} s  ${file.path}`);

/** Also one that could not be loaded. */
const hasFailed = ({ numFailingTests, testExecError }) => numFailingTests > 0 || testExecError !== undefined;

const commandOf = ({ path }) => `npm run ${path.endsWith('.soak.test.ts') ? 'test:soak' : 'test'} -- ${path}`;

/** Files of a second and more; those that did not run keep their figure, and those that are gone lose it. */
function updateSeconds(root, files) {
  const known = Object.entries(JSON.parse(readFileSync(SECONDS, 'utf8')));
  const seconds = Object.fromEntries(known.filter(([path]) => existsSync(join(root, path))));
  for (const file of files) {
    const rounded = Math.round(secondsOf(file));
    if (rounded >= 1) seconds[file.path] = rounded;
    else delete seconds[file.path];
  }
  const sorted = Object.fromEntries(Object.entries(seconds).sort(([a], [b]) => (a < b ? -1 : 1)));
  writeFileSync(SECONDS, `${JSON.stringify(sorted, null, 2)}\n`);
}
