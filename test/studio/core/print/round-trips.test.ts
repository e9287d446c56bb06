/**
 * Mappings that are read and printed again say what they said: their patterns of statements are the same, if all of them is drawn. Of the others,
 * what is drawn is the same, and the text has the rest.
 *
 * The mappings of public suites are read where `CONFORMANCE_CASES` names their folder: a share of them here, all in the soak tests.
 */
import { readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect } from '@jest/globals';
import { RUN_DEFAULTS } from '../../../../src/config/run-defaults.ts';
import { readMapping } from '../../../../src/mapping/parse/read.ts';
import { executeRun } from '../../../../src/run/run.ts';
import { findingsIn } from '../../../../studio/core/commands/invariants.ts';
import { baseOf } from '../../../../studio/core/elements/base.ts';
import { recordsOf } from '../../../../studio/core/elements/records.ts';
import { print } from '../../../../studio/core/print/print.ts';
import { read } from '../../../../studio/core/read/read.ts';
import { patternsOf } from '../../../../studio/core/text/patterns.ts';
import { readManifest } from '../../../conformance/manifest.ts';
import { soakTest, test } from '../../../support/jest/extent.ts';

const folder = process.env.CONFORMANCE_CASES;
const cases = folder === undefined ? [] : (readManifest(folder) ?? []);
const files = [...new Set(cases.flatMap(({ dir, mapping }) => (mapping === null ? [] : [join(dir, mapping)])))];

/** Of all valid mappings, in percent. */
const LEAST_DRAWN = 80;

type Outcome = 'invalid' | 'drawn' | 'partly';

async function roundTrip(file: string): Promise<Outcome> {
  // Cases with a database leave its address to the test.
  const text = readFileSync(join(folder as string, file), 'utf8').replaceAll('CONNECTIONDSN', 'jdbc:mysql://localhost/test');
  const { document, diagnostics } = await read(text, undefined);
  expect(document.text.text).toBe(text);
  expect(findingsIn(document).filter(({ severity }) => severity === 'error')).toEqual([]);
  if (diagnostics.some(({ severity }) => severity === 'error')) return 'invalid';
  for (const { anchor, reason } of recordsOf(document, 'text')) {
    expect(reason).toMatch(/^Kept as text: \S/);
    expect(text.slice(anchor.from, anchor.to).trim()).not.toBe('');
  }
  const printed = await print(document, document.language);
  expect(printed.diagnostics.filter(({ severity }) => severity === 'error')).toEqual([]);
  if (recordsOf(document, 'text').length > 0) return 'partly';
  const options = { baseIri: baseOf(document.language, document.base) };
  const before = await readMapping([{ name: 'a.ttl', text }], options);
  const after = await readMapping([{ name: 'a.ttl', text: printed.text ?? '' }], options);
  expect(after.diagnostics.filter(({ severity }) => severity === 'error')).toEqual([]);
  if (before.mapping.triplesMaps.some(({ source }) => source.kind === 'view')) {
    // Names of fields, and fields that nothing reads, are no part of what is said: the statements are.
    const name = join(folder as string, file);
    expect(await statementsOf(name, printed.text ?? '')).toEqual(await statementsOf(name, text));
  }
  expect(patternsOf(after.mapping)).toEqual(patternsOf(before.mapping));
  return 'drawn';
}

async function statementsOf(name: string, text: string): Promise<readonly string[]> {
  let lines = '';
  const sink = { write: (some: string) => void (lines += some), commit: async () => [], abort: async () => {} };
  const places = { workingDirectory: dirname(name), spillDirectory: tmpdir() };
  const request = { runId: 'round-trip', inputs: [], mappings: [], documents: [{ name, text }], ...places };
  await executeRun({ ...RUN_DEFAULTS, ...request }, sink, {});
  return lines.split('\n').sort();
}

async function count(of: readonly string[]): Promise<Readonly<Record<Outcome, number>>> {
  const counts = { invalid: 0, drawn: 0, partly: 0 };
  for (const file of of) {
    try {
      counts[await roundTrip(file)]++;
    } catch (error) {
      throw new Error(`${file}: ${(error as Error).message}`, { cause: error });
    }
  }
  return counts;
}

const [suites, allSuites] = folder === undefined ? [test.skip, soakTest.skip] : [test, soakTest];

describe('the mappings of public suites (skipped where CONFORMANCE_CASES names no folder)', () => {
  suites('of which some are read say the same when they are printed', async () => {
    const { drawn } = await count(files.filter((_, i) => i % 20 === 0));
    expect(drawn).toBeGreaterThan(0);
  });

  allSuites('say the same when they are printed, and most are drawn', async () => {
    const { drawn, partly } = await count(files);
    const share = (100 * drawn) / (drawn + partly);
    process.stdout.write(`${drawn} of ${drawn + partly} valid mappings are wholly drawn: ${share.toFixed(1)} %\n`);
    expect(share).toBeGreaterThanOrEqual(LEAST_DRAWN);
  });
});
