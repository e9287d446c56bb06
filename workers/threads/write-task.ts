/** An order to write, carried out in a thread: statements go to the target, those that it refuses into a file of the run. */

import { createReadStream } from 'node:fs';
import { readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';
import type { RejectedStatement } from '../../src/nquads/statement.ts';
import { writeFault } from '../../src/sinks/descriptor.ts';
import { makeDirectory } from '../../src/storage/local/directory.ts';
import type { WriteProgress, WriteReport } from '../../src/write/request.ts';
import { RejectionFile, removeEarlier } from '../output/output.ts';
import type { FromThread, TaskContext, WriteTask, WrittenResult } from './messages.ts';

/** Rejected statements that a report names one by one. */
const MAX_NAMED = 100;

/**
 * What is written is written: there is nothing to publish but the file of rejected statements. That of an attempt which failed stays under its
 * temporary name, since the next one goes on where it was; whoever announces a run that has failed for good removes it.
 *
 * @throws Fault — whatever ends the write
 */
export async function writeInputs(
  task: WriteTask,
  { signal, ask }: TaskContext,
  post: (message: FromThread) => void,
): Promise<WrittenResult> {
  const { directory, name } = task.output;
  const { resume } = task.request;
  const log = new RejectionLog(task.output);
  try {
    if (resume === undefined) await removeEarlier(directory, name, task.output.attempt);
    else await log.adoptEarlier();
    const progress = ({ statements, quadsWritten, bytesRead, position }: WriteProgress): void => {
      // Behind the position nobody looks again.
      log.flush();
      post({ kind: 'progress', progress: { records: statements, quads: quadsWritten, bytesRead, position } });
    };
    const { executeWrite } = await import('../../src/write/write.ts');
    const report: WriteReport = await executeWrite(task.request, {
      signal,
      progress,
      reject: (rejected) => log.add(rejected),
      waiting: (trouble) => post({ kind: 'waiting', trouble: trouble && { ...trouble, reason: trouble.reason.message } }),
    });
    signal.throwIfAborted();
    await ask({ kind: 'mapped' });
    return { report, rejections: await log.publish(), rejected: log.first };
  } finally {
    log.close();
    await rm(task.request.spillDirectory, { recursive: true, force: true });
  }
}

/** The rejected statements of all attempts of a run, as lines of JSON. */
class RejectionLog {
  readonly first: RejectedStatement[] = [];
  private readonly output: WriteTask['output'];
  private readonly file: RejectionFile;
  /** Statements of earlier attempts that this one may meet again. */
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

  /** Takes over what earlier attempts had rejected; they are past, or cannot publish any more. */
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

  /** Its URL; undefined where nothing was rejected. @throws Fault sink/failed */
  async publish(): Promise<string | undefined> {
    const temporary = this.file.finish();
    const { directory, name, attempt } = this.output;
    const path = join(directory, `${name}.rejected.ndjson`);
    if (temporary !== undefined) {
      await rename(join(directory, temporary), path).catch((error: unknown) => {
        throw writeFault(path, error);
      });
    }
    await removeEarlier(directory, name, attempt);
    return temporary === undefined ? undefined : pathToFileURL(path).href;
  }

  /** Leaves the file as it is: what ended the write is worth more than what may go wrong here. */
  close(): void {
    try {
      this.file.finish();
    } catch {
      // The next attempt writes the file anew, and meets the same disk.
    }
  }
}

const keyOf = ({ input, line }: RejectedStatement): string => `${line} ${input}`;

/** A process that was killed leaves half a line. */
function parse(line: string): RejectedStatement | undefined {
  try {
    return JSON.parse(line) as RejectedStatement;
  } catch {
    return undefined;
  }
}
