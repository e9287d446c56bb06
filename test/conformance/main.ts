/** `npm run conformance`: the public RML and R2RML suites, case by case, in this process. */
import { writeFileSync } from 'node:fs';
import { relative, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { LANGUAGES, type Language } from '../../src/mapping/convert/convert.ts';
import { PROJECT_ROOT } from '../support/project-root.ts';
import { CaseDatabases } from './databases.ts';
import { readManifest } from './manifest.ts';
import { runCase } from './run-case.ts';
import { CaseServers } from './servers.ts';
import { isContested, type Result, skipReasons, summaryTable } from './summary.ts';

const USAGE = 'usage: npm run conformance -- [--cases DIR] [--suite NAME] [--format FORMAT] [--case ID] [--via LANGUAGE] [--json FILE]';
const DEFAULT_CASES = '../shared/conformance';
const FAILURE_LENGTH = 240;

async function main(argv: readonly string[]): Promise<number> {
  let options: { cases?: string; suite?: string; format?: string; case?: string; via?: string; json?: string };
  try {
    const option = { type: 'string' } as const;
    const known = { cases: option, suite: option, format: option, case: option, via: option, json: option };
    options = parseArgs({ args: [...argv], options: known }).values;
    if (options.via !== undefined && !isLanguage(options.via)) throw new Error(`--via takes one of ${LANGUAGES.join(', ')}`);
  } catch (error) {
    console.error(`${(error as Error).message}\n${USAGE}`);
    return 2;
  }
  const directory = options.cases === undefined ? resolve(PROJECT_ROOT, DEFAULT_CASES) : resolve(options.cases);
  const cases = readManifest(directory);
  if (cases === undefined) {
    console.error(`there is no manifest.json in ${directory}; name the folder of the cases: npm run conformance -- --cases DIR`);
    return 2;
  }
  const wanted = cases.filter(
    ({ suite, format, id }) =>
      (options.suite === undefined || suite === options.suite) &&
      (options.format === undefined || format === options.format) &&
      (options.case === undefined || id === options.case),
  );
  if (wanted.length === 0) {
    console.error(
      `no case of ${relative(process.cwd(), directory) || '.'} fits; suites: ${[...new Set(cases.map(({ suite }) => suite))].join(', ')}`,
    );
    return 2;
  }
  const results: Result[] = [];
  const databases = new CaseDatabases();
  const servers = new CaseServers();
  try {
    for (const test of wanted)
      results.push({ test, verdict: await runCase(test, directory, databases, servers, options.via as Language | undefined) });
  } finally {
    await databases.close();
    await servers.close();
  }
  report(results);
  if (options.json !== undefined) writeFileSync(options.json, `${JSON.stringify(results.map(asJson), null, 1)}\n`);
  return results.some(({ test, verdict }) => verdict.status === 'failed' && !isContested(test)) ? 1 : 0;
}

const isLanguage = (text: string): text is Language => LANGUAGES.some((language) => language === text);

function report(results: readonly Result[]): void {
  const reasons = skipReasons(results);
  if (reasons !== '') console.log(`skipped:\n${reasons}\n`);
  for (const contested of [true, false]) {
    const failures = results.filter(({ test, verdict }) => verdict.status === 'failed' && isContested(test) === contested);
    if (failures.length === 0) continue;
    console.log(contested ? 'contested, failed:' : 'failed:');
    for (const { test, verdict } of failures) console.log(`  ${test.suite} ${test.id}: ${cut(verdict.reason)}`);
    console.log('');
  }
  console.log(summaryTable(results));
}

const cut = (text: string): string => (text.length > FAILURE_LENGTH ? `${text.slice(0, FAILURE_LENGTH)}…` : text);

const asJson = ({ test, verdict }: Result) => ({
  suite: test.suite,
  id: test.id,
  status: verdict.status,
  reason: verdict.reason,
  contested: isContested(test),
});

process.exitCode = await main(process.argv.slice(2));
