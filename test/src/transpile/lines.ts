/** Lines of a run, to compare those of a job with. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { RUN_DEFAULTS } from '../../../src/config/run-defaults.ts';
import { Fault } from '../../../src/core/fault.ts';
import { fromBytes } from '../../../src/core/text.ts';
import { executeRun } from '../../../src/run/run.ts';

export const BASE = 'http://example.com/base/';

/** The lines, sorted; the code of the fault where the run fails. */
export async function linesOfRun(mapping: string, workingDirectory: string, base = BASE): Promise<string[] | string> {
  const outputs = await outputsOfRun(mapping, workingDirectory, base);
  return typeof outputs === 'string' ? outputs : (outputs[''] as string[]);
}

/** The same for each output: by the path of the logical target, and by an empty text. */
export async function outputsOfRun(
  mapping: string,
  workingDirectory: string,
  base = BASE,
): Promise<Readonly<Record<string, string[]>> | string> {
  const texts: Record<string, string> = { '': '' };
  const spillDirectory = mkdtempSync(join(tmpdir(), 'quadmill-transpile-'));
  const sinkOf = (path: string) => ({
    write: (lines: string) => {
      texts[path] += lines;
    },
    commit: async () => [],
    abort: async () => undefined,
  });
  const request = {
    ...RUN_DEFAULTS,
    runId: 'transpile',
    mappings: [mapping],
    inputs: [],
    workingDirectory,
    base,
    onError: 'strict' as const,
    spillDirectory,
  };
  try {
    await executeRun(request, sinkOf(''), {
      openTarget: async ({ path }) => {
        texts[path] = '';
        return sinkOf(path);
      },
    });
    return Object.fromEntries(Object.entries(texts).map(([path, text]) => [path, fromBytes(text).split('\n').slice(0, -1).sort()]));
  } catch (error) {
    return Fault.of(error).code;
  } finally {
    rmSync(spillDirectory, { recursive: true, force: true });
  }
}
