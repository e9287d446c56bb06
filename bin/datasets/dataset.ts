/** `quadmill dataset`: reads, checks and shortens datasets. */
import { randomBytes } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DEFAULTS } from '../../src/config/options/options.ts';
import { RUN_DEFAULTS } from '../../src/config/run-defaults.ts';
import { fromBytes } from '../../src/core/text.ts';
import type { Folding } from '../../src/datasets/changes.ts';
import { CHANGE_FORMATS, type ChangeFormat, formatChanges } from '../../src/datasets/formats.ts';
import { removeVersions } from '../../src/datasets/retention.ts';
import { verifyDataset } from '../../src/datasets/verify.ts';
import { makeTemporaryDirectory } from '../../src/storage/local/directory.ts';
import { type Command, commandOf, numberOf, type Parsed, UsageError } from '../command-line.ts';
import { EXIT } from '../exit.ts';
import { withInterruption } from '../interruption.ts';
import { DATABASE_OPTIONS, databaseOf, sqlLimits } from '../options/database.ts';
import { webAccess } from '../options/inputs.ts';
import { variablesOf } from '../options/variables.ts';
import { count, printData, printError, printLine } from '../terminal.ts';
import { BLANK_NODES, blankNodesAs, changesAs, formOf, writeText } from './changes.ts';
import { datasetPlace, openDataset } from './place.ts';

const MB = 2 ** 20;

const DATASET: Command = {
  name: 'dataset',
  usage: 'dataset log|changes|export|verify|remove-versions|remove DIR [options]',
  summary:
    'Reads, checks and shortens a dataset: a graph in versions, which quadmill run --dataset DIR makes. DIR is a directory or s3://….',
  options: {
    since: { value: 'N', summary: 'changes: those since version N, as one net change; needed' },
    version: { value: 'N', summary: 'export: the graph of version N, default the newest one' },
    target: { value: 'PATH', summary: 'changes, export: of the logical target with this path in the mapping' },
    format: { short: 'f', value: 'FORMAT', choices: [...CHANGE_FORMATS, 'json'], summary: 'changes: default rdf-patch; log: json' },
    output: { short: 'o', value: 'FILE', summary: 'changes, export: write to FILE; - is standard output, the default' },
    'blank-nodes': { ...BLANK_NODES, summary: `${BLANK_NODES.summary}; default skolem for changes, keep for export` },
    keep: { value: 'N', summary: 'remove-versions: how many of the newest ones stay; needed' },
    ...DATABASE_OPTIONS,
    yes: { summary: 'remove: do so; needed' },
    'memory-mb': { value: 'N', summary: `memory before temporary files are used, default ${RUN_DEFAULTS.memoryBudgetBytes / MB}` },
  },
  notes: `log              the versions: when, what was read, what was added and removed
changes          what has changed since a version, as text
export           the graph of a version, in N-Quads
verify           maps the inputs again, or the rows that a follower keeps, and prints what differs from the newest version
remove-versions  makes the oldest version that stays the base, and removes those before it
remove           removes the dataset with its state, and what a follower has made elsewhere: slot and publication in PostgreSQL, consumer groups.
                 Login and TLS of brokers are the variables that quadmill follow reads

Exit codes: 0 done, 1 it failed, or verify found a difference, 2 the command line is wrong, 130 interrupted.

  quadmill dataset log ./people
  quadmill dataset changes ./people --since 3 -f sparql-update -o changes.ru
  quadmill dataset export ./people --version 2 -o people-2.nq.gz
  quadmill dataset remove-versions ./people --keep 30
  quadmill dataset remove ./people --yes`,
};

const ACTIONS = { log, changes, export: exportGraph, verify, 'remove-versions': removeOld, remove } as const;
/** Of the table: an option of an action is refused with the others. */
const OPTIONS: Readonly<Record<keyof typeof ACTIONS, readonly string[]>> = {
  log: ['format'],
  changes: ['since', 'target', 'format', 'output', 'blank-nodes', 'memory-mb'],
  export: ['version', 'target', 'output', 'blank-nodes', 'memory-mb'],
  verify: ['memory-mb', ...Object.keys(DATABASE_OPTIONS)],
  'remove-versions': ['keep', 'memory-mb'],
  remove: ['yes', ...Object.keys(DATABASE_OPTIONS)],
};

const LEFT = 'nothing was written';
const INTERRUPTED: Readonly<Record<keyof typeof ACTIONS, string>> = {
  log: LEFT,
  changes: 'the output is incomplete, if it is standard output',
  export: 'the output is incomplete, if it is standard output',
  verify: LEFT,
  'remove-versions': 'run it again: versions that were to be removed may be left',
  remove: 'run it again: a part may be left',
};

export const dataset = commandOf(DATASET, async (parsed) => {
  const [action, url, more] = parsed.positionals;
  const known = Object.keys(ACTIONS).join(', ');
  if (action === undefined || !Object.hasOwn(ACTIONS, action))
    throw new UsageError(
      action === undefined ? `dataset needs one of ${known}` : `dataset has no '${action}', expected is one of ${known}`,
    );
  if (url === undefined || more !== undefined) throw new UsageError(`dataset ${action} needs one directory`);
  const name = action as keyof typeof ACTIONS;
  const other = Object.keys(DATASET.options).find((option) => parsed.has(option) && !OPTIONS[name].includes(option));
  if (other !== undefined) throw new UsageError(`dataset ${action} has no option --${other}`);
  return withInterruption(INTERRUPTED[name], (signal) => ACTIONS[name](url, parsed, signal));
});

async function log(url: string, parsed: Parsed): Promise<number> {
  const format = parsed.value('format');
  if (format !== undefined && format !== 'json') throw new UsageError('dataset log takes --format json alone');
  const opened = await openDataset(url);
  const manifests = await Promise.all(opened.versions.map((version) => opened.manifest(version)));
  if (format === 'json') {
    for (const manifest of manifests) printData(`${JSON.stringify(manifest)}\n`);
    return EXIT.done;
  }
  const rows = manifests.map(({ version, endedAt, inputs, records, added, removed, statements, runId, files }) => [
    String(version),
    endedAt.replace(/\.\d+Z$/, 'Z'),
    count(inputs.length),
    count(records),
    `+${count(added)}`,
    `-${count(removed)}`,
    count(statements),
    runId,
    files.some(({ kind }) => kind === 'base') ? 'base' : '',
  ]);
  const table = [['version', 'time', 'inputs', 'records', 'added', 'removed', 'statements', 'run', ''], ...rows];
  const widths = table[0]?.map((_, column) => Math.max(...table.map((row) => (row[column] as string).length))) ?? [];
  for (const row of table)
    printData(
      `${row
        .map((cell, column) => cell.padEnd(widths[column] as number))
        .join('  ')
        .trimEnd()}\n`,
    );
  return EXIT.done;
}

async function changes(url: string, parsed: Parsed): Promise<number> {
  const since = numberOf(parsed, 'since', 0);
  if (since === undefined) throw new UsageError('dataset changes needs --since N: 0 for all changes');
  const format = (parsed.value('format') ?? 'rdf-patch') as ChangeFormat;
  if (!CHANGE_FORMATS.includes(format)) throw new UsageError(`dataset changes takes --format ${CHANGE_FORMATS.join(', ')}`);
  const form = formOf(parsed, format, 'skolem');
  return withFolding(parsed, async (folding) => {
    const opened = await openDataset(url);
    const { id, name } = opened.description;
    const found = changesAs(opened.changes(since, parsed.value('target'), folding), form, name);
    const iri = (version: number): string => `urn:uuid:${id}#${version}`;
    const header = { id: iri(opened.current), previous: since === 0 ? undefined : iri(since) };
    await writeText(parsed, since === opened.current ? nothing() : formatChanges(found, format, header));
    return EXIT.done;
  });
}

/** Of no changes, not even the header of a patch is written. */
async function* nothing(): AsyncGenerator<string> {}

async function exportGraph(url: string, parsed: Parsed): Promise<number> {
  const form = formOf(parsed, undefined, 'keep');
  return withFolding(parsed, async (folding) => {
    const opened = await openDataset(url);
    const version = numberOf(parsed, 'version', 0) ?? opened.current;
    const convert = blankNodesAs(form, opened.description.name);
    const text = async function* (): AsyncGenerator<string> {
      for await (const lines of opened.graph(version, parsed.value('target'), folding)) yield convert(lines);
    };
    await writeText(parsed, text());
    return EXIT.done;
  });
}

const SHOWN = 20;

async function verify(url: string, parsed: Parsed, signal: AbortSignal): Promise<number> {
  return withFolding(parsed, async (folding) => {
    const database = databaseOf(parsed);
    const request = {
      ...RUN_DEFAULTS,
      sql: sqlLimits(),
      web: webAccess(),
      runId: randomBytes(6).toString('hex'),
      threads: 1,
      spillDirectory: tmpdir(),
      memoryBudgetBytes: folding.memoryBudgetBytes,
    };
    const shown: string[] = [];
    const note = (sign: string, lines: readonly string[]): void => {
      for (const line of lines) if (shown.length < SHOWN) shown.push(`${sign} ${fromBytes(line).trimEnd()}`);
    };
    const place = datasetPlace(url);
    const { openRowsOf } = await import('../../src/streams/kept.ts');
    const kept = await openRowsOf(place, request, database, signal);
    if (kept?.isNewer === true) printLine('the follower has read changes of which it has not made a version yet');
    const found = await verifyDataset(place, request, database, folding, { signal, ...kept?.hooks }, note).finally(() => kept?.close());
    if (found.missing + found.surplus === 0) {
      printLine(`version ${found.version} is what the inputs say: ${count(found.statements)} statements`);
      return EXIT.done;
    }
    for (const line of shown) printData(`${line}\n`);
    printError(
      `version ${found.version} differs from what the inputs say: ${count(found.missing)} statements are missing (+), ${count(found.surplus)} are too many (-)`,
    );
    return EXIT.failed;
  });
}

async function removeOld(url: string, parsed: Parsed): Promise<number> {
  const keep = numberOf(parsed, 'keep', 1);
  if (keep === undefined) throw new UsageError('dataset remove-versions needs --keep N');
  return withFolding(parsed, async (folding) => {
    const { removed, base } = await removeVersions(datasetPlace(url), keep, folding);
    printLine(removed === 0 ? 'nothing is older' : `${count(removed)} versions removed; version ${base} is the base`);
    return EXIT.done;
  });
}

async function remove(url: string, parsed: Parsed): Promise<number> {
  if (!parsed.has('yes')) throw new UsageError(`dataset remove removes ${url} for good, with all of its versions: add --yes`);
  const { removeDataset } = await import('../../src/streams/kept.ts');
  const { SECURITY_OPTIONS, securityOf } = await import('../../queues/messaging/kafka/client.ts');
  const security = securityOf({ ...DEFAULTS, ...variablesOf(...SECURITY_OPTIONS) });
  const { name, version, left } = await removeDataset(datasetPlace(url), databaseOf(parsed), sqlLimits(), security);
  for (const warning of left) printError(warning);
  printLine(`dataset ${name} was removed, with its ${count(version)} versions`);
  return EXIT.done;
}

async function withFolding(parsed: Parsed, act: (folding: Folding) => Promise<number>): Promise<number> {
  const directory = makeTemporaryDirectory('quadmill-');
  try {
    const memoryBudgetBytes = (numberOf(parsed, 'memory-mb', 1) ?? RUN_DEFAULTS.memoryBudgetBytes / MB) * MB;
    return await act({ directory: join(directory, 'lines'), memoryBudgetBytes });
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}
