/** The mappings of `docs/how-to/reach-a-parent.md` give what the page says. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from '@jest/globals';
import { RUN_DEFAULTS } from '../../src/config/run-defaults.ts';
import { executeRun } from '../../src/run/run.ts';

const PAGE = readFileSync(join(import.meta.dirname, '../../docs/how-to/reach-a-parent.md'), 'utf8');
const blocksOf = (language: string): readonly string[] =>
  [...PAGE.matchAll(new RegExp(`\`\`\`${language}\n([^]*?)\`\`\``, 'g'))].map(([, text]) => text as string);

const directory = mkdtempSync(join(tmpdir(), 'quadmill-how-to-'));
afterAll(() => rmSync(directory, { recursive: true }));

async function linesOf(mapping: string, document: string): Promise<readonly string[]> {
  writeFileSync(join(directory, 'orders.json'), document);
  writeFileSync(join(directory, 'mapping.ttl'), mapping);
  const parts: string[] = [];
  const sink = { write: (lines: string) => void parts.push(lines), commit: async () => [], abort: async () => {} };
  const mappings = [join(directory, 'mapping.ttl')];
  await executeRun(
    { ...RUN_DEFAULTS, runId: 'how-to', mappings, inputs: [], workingDirectory: directory, spillDirectory: directory },
    sink,
    {},
  );
  return parts.join('').split('\n').filter(Boolean).sort();
}

test('a reference to the parent, and a logical view', async () => {
  const [document] = blocksOf('json') as [string];
  const [expected] = blocksOf('ntriples') as [string];
  const mappings = blocksOf('turtle');
  expect(mappings).toHaveLength(2);
  for (const mapping of mappings) expect(await linesOf(mapping, document)).toEqual(expected.split('\n').filter(Boolean).sort());
});
