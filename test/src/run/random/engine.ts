/** Runs of the engine as lines, for the random tests. Each run is checked for what holds of all runs. */
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from '@jest/globals';
import { RUN_DEFAULTS } from '../../../../src/config/run-defaults.ts';
import { fromBytes } from '../../../../src/core/text.ts';
import type { RunReport, RunRequest } from '../../../../src/run/request.ts';
import { executeRun, sliceRun } from '../../../../src/run/run.ts';
import type { SliceSizes } from '../../../../src/run/slices/slices.ts';
import { plainLabels } from '../../../support/read-rdf.ts';

export type Changes = Partial<RunRequest> & Pick<RunRequest, 'mappings' | 'workingDirectory'>;

export const requestOf = (changes: Changes, spillDirectory: string): RunRequest => ({
  ...RUN_DEFAULTS,
  runId: 'random',
  inputs: [],
  spillDirectory,
  ...changes,
});

/** The lines of all outputs; those of a target have the name of its file and a space in front. No record is rejected. */
export async function linesOf(changes: Changes): Promise<string[]> {
  const { lines, report } = await reportedLines(changes);
  expect(report.rejected).toBe(0);
  return lines;
}

/** The lines as `linesOf` gives them, and the report, which agrees with them. Nothing is left behind. */
export async function reportedLines(changes: Changes): Promise<{ readonly lines: string[]; readonly report: RunReport }> {
  const texts = new Map<string, string>();
  const sinkOf = (mark: string) => {
    texts.set(mark, '');
    return {
      write: (lines: string) => void texts.set(mark, `${texts.get(mark)}${lines}`),
      commit: async () => [],
      abort: async () => undefined,
    };
  };
  const spillDirectory = mkdtempSync(join(tmpdir(), 'quadmill-random-spill-'));
  try {
    const openTarget = async ({ path }: { readonly path: string }) => sinkOf(`${path} `);
    const report = await executeRun(requestOf(changes, spillDirectory), sinkOf(''), { openTarget });
    const { quads, bytesWritten, targets = [] } = report;
    expect(readdirSync(spillDirectory)).toEqual([]);
    expect(bytesWritten).toBe([...texts.values()].reduce((sum, text) => sum + text.length, 0));
    const lines = [...texts].map(([mark, text]) =>
      text
        .split('\n')
        .slice(0, -1)
        .map((line) => mark + plainLabels(fromBytes(line))),
    );
    expect(targets.map((target) => target.quads)).toEqual(lines.slice(1).map((of) => of.length));
    const all = lines.flat();
    expect(quads).toBe(all.length);
    if (changes.distinct !== false) expect(new Set(all).size).toBe(all.length);
    return { lines: all, report };
  } finally {
    rmSync(spillDirectory, { recursive: true, force: true });
  }
}

/** The lines of all slices; undefined: the run is not cut. */
export async function linesOfSlices(changes: Changes, limits: SliceSizes): Promise<string[] | undefined> {
  const cut = await sliceRun(requestOf(changes, tmpdir()), limits, new AbortController().signal);
  if (cut === undefined) return undefined;
  const lines = new Set<string>();
  try {
    for (const slice of cut.slices) for (const line of await linesOf({ ...changes, slice, keyBytes: 0 })) lines.add(line);
  } finally {
    await cut.release();
  }
  return [...lines];
}

const NODE = /_:[fl]\w*/g;

/**
 * The lines, sorted, with names for the blank nodes that the engine labels for rows and collections: equal for graphs that differ in these
 * labels alone. Nodes that no statement tells apart, however far, have one name.
 */
export function withoutLabels(lines: readonly string[]): string[] {
  const uses = new Map<string, string[]>();
  for (const line of lines) {
    for (const node of new Set(line.match(NODE))) {
      const known = uses.get(node);
      if (known === undefined) uses.set(node, [line]);
      else known.push(line);
    }
  }
  let names = new Map([...uses.keys()].map((node) => [node, 0]));
  for (let count = 0; ; ) {
    const signatures = new Map<string, string>();
    for (const [node, own] of uses) {
      const seen = own.map((line) => line.replace(NODE, (other) => (other === node ? '_:@' : `_:${names.get(other)}`)));
      signatures.set(node, `${names.get(node)} ${seen.sort().join('\n')}`);
    }
    const numbers = new Map([...new Set(signatures.values())].sort().map((signature, i) => [signature, i]));
    names = new Map([...signatures].map(([node, signature]) => [node, numbers.get(signature) as number]));
    if (numbers.size === count) break;
    count = numbers.size;
  }
  return lines.map((line) => line.replace(NODE, (node) => `_:${names.get(node)}`)).sort();
}
