/** Grouping statements takes no more memory for a million of them. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { PROJECT_ROOT } from '../../support/project-root.ts';

type By = 'subject' | 'graph';

let directory: string;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'quadmill-groups-'));
});
afterAll(() => rmSync(directory, { recursive: true }));

describe('memory', () => {
  const dist = (path: string): string => JSON.stringify(join(PROJECT_ROOT, 'dist', path));

  /** Peak memory, in MB, of a process that reads so many statements of subjects that repeat many times, and groups them. */
  function peak(count: number, by: By): number {
    const script = `
      import { readStatements } from ${dist('src/nquads/read.js')};
      import { openGroups } from ${dist('src/nquads/group.js')};
      import { peakMemoryBytes } from ${dist('bin/report/peak-memory.js')};
      async function* input() {
        let text = '';
        for (let i = 0; i < ${count}; i++) {
          text += \`<http://example.com/person/\${i % ${count / 5}}> <http://example.com/ontology/property\${i % 7}> "value \${i} of it all" <http://example.com/graph/1> .\\n\`;
          if (text.length > 65536) {
            yield Buffer.from(text);
            text = '';
          }
        }
        yield Buffer.from(text);
      }
      const groups = openGroups({ directory: ${JSON.stringify(join(directory, 'memory'))}, by: '${by}', memoryBudgetBytes: 16 * 2 ** 20 });
      for await (const { statements } of readStatements(input(), { input: 'a.nq', skolem: undefined })) await groups.add(statements);
      let found = 0;
      for (let index = 0; index < groups.partitions; index++) for await (const statements of groups.partition(index)) found += statements.length;
      await groups.remove();
      console.log(JSON.stringify({ found, megabytes: peakMemoryBytes() / 2 ** 20 }));`;
    // Young objects may grow to three times of what their half is given, whatever the program: little, so that the rest is seen.
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      ['--max-old-space-size=64', '--max-semi-space-size=8', '--input-type=module', '-e', script],
      { encoding: 'utf8' },
    );
    expect([status, stderr]).toEqual([0, '']);
    const { found, megabytes } = JSON.parse(stdout) as { found: number; megabytes: number };
    expect(found).toBe(count);
    return megabytes;
  }

  test.each<By>(['subject', 'graph'])(
    'a million statements by %s take less than 64 MB',
    (by) => {
      expect(peak(1_000_000, by) - peak(1000, by)).toBeLessThan(64);
    },
    120_000,
  );
});
