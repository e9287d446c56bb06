/** `quadmill write`: writes N-Quads files to a graph database, in this process. */

import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { targetOf, writeSettingsOf } from '../../queues/requests/writer.ts';
import type { BulkRequest } from '../../src/bulk/bulk.ts';
import { DEFAULTS, type OptionName, type OptionValues, type Snapshot } from '../../src/config/options/options.ts';
import { readEnvironment } from '../../src/config/parse.ts';
import { s3AccessOf } from '../../src/config/run-defaults.ts';
import { describeFault, Fault } from '../../src/core/fault.ts';
import { redact } from '../../src/core/redact.ts';
import type { RejectedStatement } from '../../src/nquads/statement.ts';
import { makeTemporaryDirectory } from '../../src/storage/local/directory.ts';
import { TARGET_TYPES, type TargetType, UPDATE_SCOPES, WRITE_MODES } from '../../src/targets/target.ts';
import { WRITE_SYNTAXES, type WriteHooks, type WriteReport, type WriteRequest, type WriteSyntax } from '../../src/write/request.ts';
import { type Command, commandOf, numberOf, type Parsed, UsageError } from '../command-line.ts';
import { EXIT, failed } from '../exit.ts';
import { interruptible } from '../interruption.ts';
import { readPassword } from '../options/database.ts';
import { SALVAGE } from '../options/salvage.ts';
import { flagValues } from '../options/variables.ts';
import { peakMemoryBytes } from '../report/peak-memory.ts';
import { RejectionLog } from '../report/rejections.ts';
import { count, printError, printLine, progressLine } from '../terminal.ts';

const WRITE: Command = {
  name: 'write',
  usage: 'write FILE…|DIRECTORY…|--dataset DIR --target URL [options]',
  summary:
    'Writes files of statements (.nq, .nt, .ttl, .trig, also compressed), by path or URL, or directories of parts that a job of quadmill compile wrote (of objects: s3://…/), to a triple store or a property graph; to the latter also nodes and edges as CSV. - is standard input. With --dataset the versions of a dataset that the target does not have.',
  options: {
    target: { value: 'URL', summary: 'the graph database, default the variable TRIPLESTORE_ENDPOINT; a directory for the embedded store' },
    type: {
      value: 'TYPE',
      choices: TARGET_TYPES,
      summary:
        'what it is, default the variable TRIPLESTORE_TYPE, else by the URL: sparql for http(s), neo4j for bolt and neo4j, else embedded',
    },
    dataset: { value: 'DIR', summary: 'write the versions of this dataset that the target does not have: a directory, or s3://…' },
    shared: {
      summary:
        'with --dataset: a statement that other datasets make as well stays until the last of them loses it; all of them are written with --shared',
    },
    resync: { summary: 'with --dataset: compare the graphs of the target with the newest version, and make them equal to it' },
    follow: { summary: 'with --dataset: go on with each new version of the dataset, until SIGTERM or SIGINT' },
    mode: { value: 'MODE', choices: WRITE_MODES, summary: 'insert adds, update replaces; default the variable WRITE_MODE, else insert' },
    scope: { value: 'SCOPE', choices: UPDATE_SCOPES, summary: 'what an update replaces, default the variable UPDATE_SCOPE, else property' },
    graph: {
      value: 'IRI',
      multiple: true,
      summary:
        'with --dataset: the graph of statements that the mapping puts in none; with --mode update --scope graph: the files stand for this graph, which becomes empty if they have no statement of it; default is the default graph; default the variable UPDATE_GRAPHS',
    },
    username: { value: 'NAME', summary: 'user of the target, default the variable TRIPLESTORE_USERNAME' },
    'password-file': { value: 'FILE', summary: "file with that user's password, default the variable TRIPLESTORE_PASSWORD" },
    bulk: {
      value: 'DIR',
      summary:
        "add by the store's own loader, which reads files that are put into this directory, or below s3://BUCKET/PREFIX for Neptune. --type is fuseki (--target: the directory of its TDB2 database), neo4j (the name of a new database), virtuoso (HOST:PORT of SQL) or neptune",
    },
    loader: { value: 'COMMAND', summary: 'with --bulk: what starts the loader, default tdb2.tdbloader, neo4j-admin or isql' },
    'iam-role': { value: 'ARN', summary: 'with --bulk and neptune: the role with which the cluster reads the bucket' },
    'input-format': {
      value: 'FORMAT',
      choices: WRITE_SYNTAXES,
      summary: 'syntax of the files, if their names do not show it; of standard input, default nquads',
    },
    rejected: { value: 'FILE', summary: 'file to which rejected statements are appended, as lines of JSON, default rejected.ndjson' },
    'max-rejected': { value: 'N', summary: 'give up after more than N rejected statements' },
    'patience-seconds': {
      value: 'N',
      summary: `how long an overloaded target is retried, default ${DEFAULTS.TRIPLESTORE_PATIENCE_SECONDS}`,
    },
    salvage: SALVAGE,
    stats: { summary: 'a line of JSON on standard error at the end, with --follow for each write: statements, seconds, memory' },
  },
  notes: `The other options of the graph writer (TRIPLESTORE_CA, SKOLEM_BASE_IRI, …) are environment variables, as for the service.
Writing a file twice does no harm: after an interruption, write it again. So does a dataset: what is written is not sent again.
A line that is not a statement is rejected, like a statement with a term that no store takes. Turtle and TriG end at their first error.

Exit codes: 0 done, or with --follow stopped between writes, 1 the write failed, 2 the command line is wrong, 130 interrupted.

  quadmill write graph.nq --target ./store
  quadmill run people.ttl | quadmill write - --target ./store
  quadmill write --dataset ./people --target http://localhost:3030/ds --type fuseki
  quadmill write --dataset ./people --target http://localhost:3030/ds --type fuseki --follow
  quadmill write graph.nq.gz --target http://localhost:3030/ds --type fuseki --mode update
  quadmill write graph.nq --bulk /tmp --target /srv/fuseki/databases/ds --type fuseki
  TRIPLESTORE_PASSWORD=… quadmill write graph.nq --target neo4j://localhost --username neo4j`,
};

/** Command-line options for options of the service. */
const FLAGS: readonly (readonly [flag: string, option: OptionName])[] = [
  ['type', 'TRIPLESTORE_TYPE'],
  ['mode', 'WRITE_MODE'],
  ['scope', 'UPDATE_SCOPE'],
  ['username', 'TRIPLESTORE_USERNAME'],
];

export const write = commandOf(WRITE, async (parsed) => {
  checkDataset(parsed);
  checkBulk(parsed);
  if (!parsed.has('dataset') && parsed.positionals.length === 0) throw new UsageError('write needs at least one file');
  const snapshot = snapshotOf(parsed);
  const spillDirectory = makeTemporaryDirectory('quadmill-');
  const interruption = interruptible();
  try {
    return await executeRequest(requestOf(parsed, snapshot, spillDirectory), parsed, interruption.signal);
  } catch (error) {
    if (error instanceof UsageError) throw error;
    if (!interruption.signal.aborted) return failed(error);
    const what = parsed.has('dataset') ? 'dataset' : 'file';
    printError(
      `interrupted; the target has only some of the statements. Write the ${what} again: statements that are already there do no harm`,
    );
    return EXIT.interrupted;
  } finally {
    interruption.end();
    await rm(spillDirectory, { recursive: true, force: true });
  }
});

/** @throws UsageError */
function checkDataset(parsed: Parsed): void {
  if (!parsed.has('dataset')) {
    if (parsed.has('resync')) throw new UsageError('--resync compares a target with a dataset: give --dataset DIR');
    if (parsed.has('follow')) throw new UsageError('--follow writes new versions of a dataset: give --dataset DIR');
    if (parsed.has('shared')) throw new UsageError('--shared is about statements of datasets: give --dataset DIR');
    return;
  }
  if (parsed.positionals.length > 0) throw new UsageError('write takes files or --dataset, not both');
  if (parsed.has('follow') && parsed.has('resync')) throw new UsageError('--resync ends when the target is equal: leave out --follow');
  for (const name of ['mode', 'scope', 'input-format'])
    if (parsed.has(name)) throw new UsageError(`--dataset writes what was added and removes what was removed: leave out --${name}`);
  if (parsed.values('graph').length > 1) throw new UsageError('--dataset takes one --graph');
}

/** @throws UsageError */
function checkBulk(parsed: Parsed): void {
  if (!parsed.has('bulk')) {
    for (const name of ['loader', 'iam-role']) if (parsed.has(name)) throw new UsageError(`--${name} is about a loader: give --bulk DIR`);
    return;
  }
  if (parsed.has('dataset')) throw new UsageError('--bulk adds files to a store; versions of datasets are written without it');
  if (!parsed.has('type')) throw new UsageError('--bulk needs --type: fuseki, neo4j, virtuoso or neptune');
}

function requestOf(parsed: Parsed, snapshot: Snapshot, spillDirectory: string): WriteRequest {
  const settings = writeSettingsOf(snapshot, process.cwd());
  const syntax = parsed.value('input-format') as WriteSyntax | undefined;
  return {
    ...settings,
    graphs: parsed.has('dataset') ? [] : graphsOf(parsed, snapshot),
    runId: 'command-line',
    inputs: inputsOf(parsed.positionals),
    syntaxes: WRITE_SYNTAXES,
    syntax,
    standardInput: syntax ?? 'nquads',
    workingDirectory: process.cwd(),
    target: { ...targetOf(snapshot, undefined), salvage: parsed.has('salvage') },
    reach: undefined,
    s3: s3AccessOf(snapshot),
    maxRejected: numberOf(parsed, 'max-rejected', 0) ?? settings.maxRejected,
    patienceSeconds: numberOf(parsed, 'patience-seconds', 0) ?? settings.patienceSeconds,
    spillDirectory: join(spillDirectory, 'spill'),
    resume: undefined,
  };
}

function graphsOf(parsed: Parsed, { WRITE_MODE, UPDATE_SCOPE, UPDATE_GRAPHS }: Snapshot): readonly string[] {
  if (parsed.has('graph')) return parsed.values('graph');
  return WRITE_MODE === 'update' && UPDATE_SCOPE === 'graph' ? UPDATE_GRAPHS : [];
}

/** @throws UsageError — standard input is named twice, or is a terminal */
function inputsOf(urls: readonly string[]): readonly string[] {
  const count = urls.filter((url) => url === '-').length;
  if (count > 1) throw new UsageError(`- is given ${count} times, and standard input can be read once`);
  if (count === 1 && process.stdin.isTTY) throw new UsageError('- reads standard input, which is a terminal here: pipe something into it');
  return urls;
}

function snapshotOf(parsed: Parsed): Snapshot {
  const values: OptionValues = { ...readEnvironment(process.env).values, ...flagValues(parsed, FLAGS) };
  const target = parsed.value('target') ?? values.TRIPLESTORE_ENDPOINT;
  if (target === undefined) throw new UsageError('write needs a target: --target URL, or the variable TRIPLESTORE_ENDPOINT');
  const file = parsed.value('password-file');
  return {
    ...DEFAULTS,
    TRIPLESTORE_TYPE: typeByUrl(target),
    ...values,
    TRIPLESTORE_ENDPOINT: target,
    ...(file === undefined ? {} : { TRIPLESTORE_PASSWORD: readPassword(file) }),
  };
}

function typeByUrl(target: string): TargetType {
  if (/^https?:/i.test(target)) return 'sparql';
  if (/^(bolt|neo4j)(\+s|\+ssc)?:/i.test(target)) return 'neo4j';
  if (/^[a-z][a-z0-9+.-]+:\/\//i.test(target) && !/^file:/i.test(target)) {
    throw new UsageError(`the target ${redact(target)} is neither http(s), bolt, neo4j nor a directory: give --type, or another URL`);
  }
  return 'embedded';
}

async function executeRequest(request: WriteRequest, parsed: Parsed, signal: AbortSignal): Promise<number> {
  const log = new RejectionLog(parsed.value('rejected') ?? 'rejected.ndjson', 'append');
  const time = new Date().toISOString();
  const first: RejectedStatement[] = [];
  const line = progressLine();
  let waiting = false;
  const hooks: WriteHooks = {
    signal,
    progress: ({ statements, quadsWritten, bytesRead }) => line.update({ records: statements, quads: quadsWritten, bytesRead }),
    reject: (rejected) => {
      if (first.length < MAX_SHOWN) first.push(rejected);
      log.addRow({ time, ...rejected });
    },
    waiting: (failure) => {
      if (waiting === (failure?.lasting ?? false)) return;
      waiting = !waiting;
      line.clear();
      if (failure === undefined) printError('the target accepts statements again');
      else printError(`${describeFault(failure.reason)}. Retrying for ${request.patienceSeconds} s`);
    },
  };
  if (parsed.has('follow')) {
    const { followDataset } = await import('../datasets/write.ts');
    try {
      await followDataset(request, parsed, hooks, {
        written(report, summary) {
          printReport(report, first.splice(0), log.path, summary);
          if (parsed.has('stats')) printLine(JSON.stringify(statsOf(report)));
        },
        lost: (fault, waitMs) => printError(`${describeFault(fault)}\n  it is tried again in ${waitMs / 1000} s`),
      });
      return EXIT.done;
    } finally {
      line.clear();
      log.close();
    }
  }
  let written: { readonly report: WriteReport; readonly summary: string; readonly more: object };
  try {
    if (parsed.has('dataset')) written = await (await import('../datasets/write.ts')).writeDataset(request, parsed, hooks);
    else {
      const report = parsed.has('bulk')
        ? await (await import('../../src/bulk/bulk.ts')).executeBulkWrite(bulkOf(request, parsed), hooks)
        : await (await import('../../src/write/write.ts')).executeWrite(request, hooks);
      written = { report, summary: summaryOf(report), more: {} };
    }
  } finally {
    line.clear();
    log.close();
  }
  const { report, summary, more } = written;
  printReport(report, first, log.path, summary);
  if (parsed.has('stats')) printLine(JSON.stringify({ ...statsOf(report), ...more }));
  return EXIT.done;
}

const bulkOf = (request: WriteRequest, parsed: Parsed): BulkRequest => ({
  ...request,
  place: parsed.value('bulk') as string,
  loader: parsed.value('loader')?.trim().split(/\s+/),
  role: parsed.value('iam-role'),
});

const MAX_SHOWN = 3;

function printReport(report: WriteReport, first: readonly RejectedStatement[], path: string, summary: string): void {
  for (const warning of report.warnings) printLine(warning);
  if (report.rejected > 0) {
    const reasons = first.map(({ fault }) => describeFault(Fault.from(fault)));
    const more = report.rejected > first.length ? '\n  …' : '';
    printLine(
      `${count(report.rejected)} ${report.rejected === 1 ? 'statement was' : 'statements were'} rejected, see ${path}\n  ${reasons.join('\n  ')}${more}`,
    );
  }
  process.stdout.write(`${summary}\n`);
}

/** The result of the command, so it goes to standard output. */
function summaryOf({ quadsWritten, statements, target, seconds }: WriteReport): string {
  const written = `${count(quadsWritten)} ${quadsWritten === 1 ? 'statement' : 'statements'}`;
  return `${written}${quadsWritten === statements ? '' : ` of ${count(statements)}`} written in ${seconds.toFixed(2)} s to ${target}`;
}

/** Seconds and CPU time count from the start of the process. */
function statsOf(report: WriteReport): Readonly<Record<string, number>> {
  const { userCPUTime, systemCPUTime } = process.resourceUsage();
  const { statements, quadsWritten, rejected, batches, retries, bytesRead, bytesSpilled } = report;
  return {
    statements,
    quadsWritten,
    rejected,
    batches,
    retries,
    bytesRead,
    bytesSpilled,
    seconds: performance.now() / 1000,
    cpuSeconds: (userCPUTime + systemCPUTime) / 1e6,
    peakMemoryBytes: peakMemoryBytes(),
  };
}
