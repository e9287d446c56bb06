/** `quadmill diff`: the difference between two files of statements. */
import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { RUN_DEFAULTS } from '../../src/config/run-defaults.ts';
import { diffFiles } from '../../src/datasets/diff.ts';
import { CHANGE_FORMATS, type ChangeFormat, formatChanges } from '../../src/datasets/formats.ts';
import { makeTemporaryDirectory } from '../../src/storage/local/directory.ts';
import { type Command, commandOf, numberOf, UsageError } from '../command-line.ts';
import { EXIT } from '../exit.ts';
import { withInterruption } from '../interruption.ts';
import { webAccess } from '../options/inputs.ts';
import { targetOf, whatIsLeft } from '../options/output.ts';
import { BLANK_NODES, changesAs, formOf, writeText } from './changes.ts';

const MB = 2 ** 20;

const DIFF: Command = {
  name: 'diff',
  usage: 'diff OLD NEW [options]',
  summary:
    'Prints what NEW has and OLD has not, and the other way round: two files of N-Quads of any size, by path or URL, also compressed.',
  options: {
    format: { short: 'f', value: 'FORMAT', choices: CHANGE_FORMATS, summary: 'default rdf-patch' },
    output: { short: 'o', value: 'FILE', summary: 'write to FILE; - is standard output, the default' },
    'blank-nodes': BLANK_NODES,
    'memory-mb': { value: 'N', summary: `memory before temporary files are used, default ${RUN_DEFAULTS.memoryBudgetBytes / MB}` },
  },
  notes: `Blank nodes are compared by their labels: those that runs write name their nodes.

Exit codes: 0 done, whether they differ or not, 1 a file cannot be read, 2 the command line is wrong, 130 interrupted.

  quadmill diff old.nq new.nq
  quadmill diff old.nq.gz new.nq.gz -f sparql-update -o changes.ru`,
};

export const diff = commandOf(DIFF, async (parsed) => {
  const [before, after, more] = parsed.positionals;
  if (before === undefined || after === undefined || more !== undefined)
    throw new UsageError('diff needs two files: quadmill diff OLD NEW');
  const format = (parsed.value('format') ?? 'rdf-patch') as ChangeFormat;
  const form = formOf(parsed, format, 'keep');
  const memoryBudgetBytes = (numberOf(parsed, 'memory-mb', 1) ?? RUN_DEFAULTS.memoryBudgetBytes / MB) * MB;
  const directory = makeTemporaryDirectory('quadmill-');
  return withInterruption(whatIsLeft(targetOf(parsed)), async (signal) => {
    try {
      const web = webAccess();
      const reading = { workingDirectory: process.cwd(), reach: undefined, web, s3: web.s3, signal };
      const changes = diffFiles(before, after, { ...reading, directory: join(directory, 'diff'), memoryBudgetBytes });
      const header = { id: `urn:uuid:${randomUUID()}`, previous: undefined };
      await writeText(parsed, formatChanges(changesAs(changes, form, after), format, header));
      return EXIT.done;
    } finally {
      await rm(directory, { recursive: true, force: true });
    }
  });
});
