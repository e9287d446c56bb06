/** A write task in a thread: sends statements to the target, and writes rejected statements to a file. */

import { createReadStream } from 'node:fs';
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Fault } from '../../src/core/fault.ts';
import { redact } from '../../src/core/redact.ts';
import type { RejectedStatement } from '../../src/nquads/statement.ts';
import { writeFault } from '../../src/sinks/descriptor.ts';
import { makeDirectory } from '../../src/storage/local/directory.ts';
import type { WriteHooks, WriteProgress } from '../../src/write/request.ts';
import { RejectionFile, removeEarlier } from '../output/output.ts';
import { publishFile } from '../output/publication.ts';
import type { WriteTask, WrittenResult } from '../task.ts';
import type { FromTask, TaskContext } from './messages.ts';

/** The number of rejected statements in a report. */
const MAX_NAMED = 100;

/**
 * Written statements need no publishing; only the file of rejected statements does. After a failed attempt that file keeps its temporary
 * name, because the next attempt resumes; announce removes it if the run has failed for good.
 *
 * @throws Fault — whatever ends the write
 */
export async function writeInputs(
  task: WriteTask,
  { signal, ask }: TaskContext,
  post: (message: FromTask) => void,
): Promise<WrittenResult> {
  const { name } = task.output;
  const { resume } = task.request;
  const log = new RejectionLog(task.output);
  try {
    if (resume === undefined) await removeEarlier(task.output, name, task.output.attempt);
    else await log.adoptEarlier();
    const progress = ({ statements, quadsWritten, bytesRead, position }: WriteProgress): void => {
      // No later attempt reads statements before the position again.
      log.flush();
      post({ kind: 'progress', progress: { records: statements, quads: quadsWritten, bytesRead, position } });
    };
    const { report, dataset } = await carryOut(task, {
      signal,
      progress,
      reject: (rejected) => log.add(rejected),
      waiting: (outage) => post({ kind: 'waiting', outage: outage && { ...outage, reason: outage.reason.message } }),
    });
    signal.throwIfAborted();
    await ask({ kind: 'mapped' });
    return { report, dataset, rejections: await log.publish(() => ask({ kind: 'mapped' })), rejected: log.first };
  } finally {
    log.close();
    await rm(task.request.spillDirectory, { recursive: true, force: true });
  }
}

async function carryOut({ request, dataset }: WriteTask, hooks: WriteHooks): Promise<Pick<WrittenResult, 'report' | 'dataset'>> {
  if (dataset === undefined) {
    const { executeWrite } = await import('../../src/write/write.ts');
    return { report: await executeWrite(request, hooks) };
  }
  const [{ Dataset }, { diffLines }, { openFiles }, { executeDatasetWrite }] = await Promise.all([
    import('../../src/datasets/dataset.ts'),
    import('../../src/datasets/diff.ts'),
    import('../../src/datasets/files.ts'),
    import('../../src/write/dataset/write.ts'),
  ]);
  const { name, url, graph, shared = false, resync } = dataset;
  const found = await Dataset.find(openFiles(url, request.workingDirectory, request.s3));
  if (found === undefined) {
    throw new Fault('source/missing', `There is no dataset ${name} at ${redact(url)}`, {
      hint: 'The graph writer reads datasets in DATASETS_DIR_URL: set it as for the transformer',
    });
  }
  const written = { ...request, dataset: found, graph: graph ?? undefined, shared, resync: resync === true ? diffLines : undefined };
  const { version, previousVersion, ...report } = await executeDatasetWrite(written, hooks);
  return { report, dataset: { dataset: report.dataset, version, previousVersion } };
}

/** The rejected statements of all attempts of a run, as JSON lines. */
class RejectionLog {
  readonly first: RejectedStatement[] = [];
  private readonly output: WriteTask['output'];
  private readonly file: RejectionFile;
  /** Statements rejected by earlier attempts that this one may read again. */
  private readonly known = new Set<string>();

  constructor(output: WriteTask['output']) {
    this.output = output;
    this.file = new RejectionFile(output);
  }

  /** @throws Fault sink/failed */
  add(rejected: RejectedStatement): void {
    if (this.known.has(keyOf(rejected))) return;
    if (this.first.length < MAX_NAMED) this.first.push(rejected);
    makeDirectory(this.output.directory);
    this.file.addRow(rejected);
  }

  flush(): void {
    this.file.flush();
  }

  /** Adopts the rejected statements of earlier attempts, which have ended or cannot publish any more. */
  async adoptEarlier(): Promise<void> {
    const { directory, name, attempt } = this.output;
    const files = await readdir(directory).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return [];
      throw writeFault(directory, error);
    });
    const start = `.${name}.rejected.ndjson.`;
    for (const file of files.filter((one) => one.startsWith(start) && one.endsWith('.part') && one !== `${start}${attempt}.part`)) {
      for await (const line of createInterface({ input: createReadStream(join(directory, file)), crlfDelay: Number.POSITIVE_INFINITY })) {
        const rejected = parse(line);
        if (rejected === undefined) continue;
        this.add(rejected);
        this.known.add(keyOf(rejected));
      }
    }
    this.flush();
  }

  /** URL of the file; undefined: nothing was rejected. @throws Fault sink/failed */
  async publish(confirm: () => Promise<unknown>): Promise<string | undefined> {
    const { name, attempt } = this.output;
    const url = await publishFile(this.output, this.file.finish(), `${name}.rejected.ndjson`, confirm);
    await removeEarlier(this.output, name, attempt);
    return url;
  }

  /** Keeps the file. An error here must not hide the error that ended the write. */
  close(): void {
    try {
      this.file.finish();
    } catch {
      // The next attempt writes the file again, and reports the same disk error.
    }
  }
}

const keyOf = ({ input, line }: RejectedStatement): string => `${line} ${input}`;

/** A killed process leaves an incomplete last line. */
function parse(line: string): RejectedStatement | undefined {
  try {
    return JSON.parse(line) as RejectedStatement;
  } catch {
    return undefined;
  }
}
