/** Conversions in the conformance harness: a case whose mapping was converted must give the statements that it gives itself. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Fault } from '../../src/core/fault.ts';
import { convertMapping, type Language } from '../../src/mapping/convert/convert.ts';
import { difference } from './compare.ts';
import type { Case } from './manifest.ts';
import type { Verdict } from './run-case.ts';

/** The N-Quads that a run of a case gives, and those of its targets, in the same order for each run; or the fault that ended it. */
export type Outcome = readonly string[] | Fault;

/**
 * Converts the mapping of a case, beside which the text is written, and compares what both give. Values may have other datatypes, and empty
 * cells another meaning, only where a warning of the conversion says so.
 *
 * @param run the case with a mapping of the directory
 */
export async function judgeConverted(
  test: Case,
  directory: string,
  to: Language,
  run: (mapping: string) => Promise<Outcome>,
): Promise<Verdict> {
  if (test.expectsError) return { status: 'skipped', reason: 'an error is expected' };
  const name = test.mapping as string;
  const text = await readFile(join(directory, name), 'utf8');
  const { text: converted, diagnostics } = await convertMapping([{ name, text }], to, { baseIri: test.baseIRI });
  if (converted === undefined) {
    const [first] = diagnostics.filter(({ severity }) => severity === 'error');
    const isFault = first?.code === 'changed-meaning';
    return { status: isFault ? 'failed' : 'skipped', reason: first?.message ?? 'nothing was written, and no error says why' };
  }
  const mapping = to === 'yarrrml' ? 'converted-mapping-of-the-case.yml' : 'converted-mapping-of-the-case.ttl';
  await writeFile(join(directory, mapping), converted);
  const [before, after] = [await run(name), await run(mapping)];
  if ('code' in before) return { status: 'skipped', reason: 'the mapping of the case itself ends with a fault' };
  const told = (what: RegExp): boolean => diagnostics.some(({ code, message }) => code === 'changed-meaning' && what.test(message));
  if ('code' in after) {
    if (after.code === 'mapping/reference' && told(/in these letters alone/) && /no column/.test(after.message))
      return { status: 'skipped', reason: 'a warning tells that a column is found in these letters alone' };
    return failed(`${after.code}: ${after.message}`);
  }
  const document = (text: string) => ({
    text: told(/datatypes/) ? withoutDatatypes(text) : text,
    mediaType: 'application/n-quads',
    baseIri: test.baseIRI,
  });
  const reasons = before.flatMap((text, i) => difference(document(after[i] ?? ''), document(text)) ?? []);
  const [reason] = reasons;
  if (reason === undefined) return { status: 'passed', reason: '' };
  if (told(/empty cell|array/) && reasons.every((one) => !(/missing/.test(one) && /unexpected/.test(one))))
    return { status: 'skipped', reason: 'a warning tells that empty cells or arrays are read in another way' };
  return failed(reason);
}

const failed = (reason: string): Verdict => ({ status: 'failed', reason: `converted: ${reason}` });

/** Numbers in the shortest form, and no datatypes. */
const withoutDatatypes = (quads: string): string =>
  quads.replace(/"((?:[^"\\]|\\.)*)"\^\^<[^>]*>/g, '"$1"').replace(/"(-?\d+(?:\.\d+)?(?:E-?\d+)?)"/g, (_, number) => `"${Number(number)}"`);
