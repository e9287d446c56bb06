/** `npm run bench -- --against COMMAND`: another engine and ours in turn, on the same workload. */
import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { table } from '../../conformance/summary.ts';
import { type Conditions, examine, runArguments, type Times, withOutput } from '../measure.ts';
import type { Workload } from '../workloads.ts';
import { differingLine } from './sorted.ts';
import { median, ratios, spread } from './statistics.ts';
import { type Ended, quoted, timed } from './timed.ts';

/** What a command may name, each put in as one word of a shell. */
export const PLACEHOLDERS: Readonly<Record<string, string>> = {
  mapping: 'the mapping of the workload, in the vocabulary w3id.org/rml',
  'legacy-mapping': 'the same in the vocabulary of semweb.mmlab.be',
  output: 'the file to write N-Quads or N-Triples to',
  folder: 'the folder of the workload, which the command is started in',
  threads: 'what --threads says, or 1',
};

/** @throws RangeError — a placeholder that there is not */
export function filledIn(command: string, values: Readonly<Record<string, string>>): string {
  return command.replace(/\{([\w-]+)\}/g, (whole, name: string) => {
    const value = values[name];
    if (value === undefined) throw new RangeError(`there is no placeholder ${whole}; there are ${Object.keys(PLACEHOLDERS).join(', ')}`);
    return quoted(value);
  });
}

/** Measures and prints; false when an output is wrong, or the outputs differ and were to be compared. */
export async function benchAgainst(
  name: string,
  workload: Workload,
  conditions: Conditions,
  { command, pairs, compareSorted }: { readonly command: string; readonly pairs: number; readonly compareSorted: boolean },
): Promise<boolean> {
  const folder = resolve(conditions.data, workload.folder);
  const run = async (side: Side, output: string): Promise<Ended & { readonly wrong: string | undefined }> => {
    const ended = await timed(side.command(output), folder);
    if (ended.code !== 0) throw new Error(`${side.name} ended with code ${ended.code}: ${ended.err.trim().slice(-2000)}`);
    return { ...ended, wrong: (await examine(workload, conditions.data, output, undefined)).wrong };
  };
  const [ours, theirs] = sidesOf(workload, folder, conditions.threads, command);

  const wrong: string[] = [];
  const note = (side: Side, fault: string | undefined): void => {
    if (fault !== undefined) wrong.push(`${side.name}: ${fault}`);
  };
  // To nowhere, statements cannot be counted: so a run to a file comes first, which is not measured.
  if (compareSorted || conditions.output === 'null') {
    await withOutput('file', async (first) => {
      const second = `${first}.theirs.nq`;
      note(ours, (await run(ours, first)).wrong);
      note(theirs, (await run(theirs, second)).wrong);
      const line = compareSorted && existsSync(second) ? await differingLine(first, second) : undefined;
      if (line !== undefined) wrong.push(`the outputs differ, ${line}`);
      await rm(second, { force: true });
    });
  }
  const measured: { readonly ours: Times; readonly theirs: Times }[] = [];
  for (let i = 0; i < pairs; i++) {
    const once = async (side: Side): Promise<Times> =>
      withOutput(conditions.output, async (path) => {
        const { wrong: fault, ...times } = await run(side, path);
        note(side, fault);
        return times;
      });
    measured.push({ ours: await once(ours), theirs: await once(theirs) });
    const { ours: a, theirs: b } = measured.at(-1) as (typeof measured)[number];
    console.error(`${name}: ${a.wallSeconds.toFixed(2)} ${b.wallSeconds.toFixed(2)} s`);
  }
  const sorted = compareSorted ? ', sorted bytes equal' : '';
  console.log(
    `\n${name}, ${pairs} pairs: ${wrong.length === 0 ? `ok, statements counted${sorted}` : `WRONG: ${[...new Set(wrong)].join('; ')}`}`,
  );
  console.log(table([['', 'quadmill', 'other', 'quadmill / other'], ...ROWS.map((row) => rowOf(row, measured))]));
  return wrong.length === 0;
}

interface Side {
  readonly name: string;
  /** For a shell. */
  command(output: string): string;
}

function sidesOf(workload: Workload, folder: string, threads: number | undefined, command: string): readonly [Side, Side] {
  const mapping = resolve(folder, workload.mapping);
  const values = {
    mapping,
    'legacy-mapping': join(folder, workload.mapping.replace(/\.ttl$/, '.legacy.ttl')),
    folder,
    threads: String(threads ?? 1),
  };
  return [
    { name: 'quadmill', command: (output) => [process.execPath, ...runArguments(workload, threads, output)].map(quoted).join(' ') },
    { name: 'the other', command: (output) => filledIn(command, { ...values, output }) },
  ];
}

interface Row {
  readonly name: string;
  of(times: Times): number;
  readonly digits: number;
}

const ROWS: readonly Row[] = [
  { name: 'wall s', of: ({ wallSeconds }) => wallSeconds, digits: 2 },
  { name: 'user s', of: ({ userSeconds }) => userSeconds, digits: 2 },
  { name: 'system s', of: ({ systemSeconds }) => systemSeconds, digits: 2 },
  { name: 'user and system s', of: ({ userSeconds, systemSeconds }) => userSeconds + systemSeconds, digits: 2 },
  { name: 'peak MB', of: ({ peakMemoryBytes }) => peakMemoryBytes / 2 ** 20, digits: 0 },
];

function rowOf({ name, of, digits }: Row, measured: readonly { readonly ours: Times; readonly theirs: Times }[]): string[] {
  const ours = measured.map((pair) => of(pair.ours));
  const theirs = measured.map((pair) => of(pair.theirs));
  return [name, median(ours).toFixed(digits), median(theirs).toFixed(digits), spread(ratios(ours, theirs))];
}
