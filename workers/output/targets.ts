/** The files of the logical targets of a run. They stand beside its output, whatever place the mapping names: a mapping decides no path on a server. */
import { createReadStream } from 'node:fs';
import { join } from 'node:path';
import type { SliceResult } from '../../queues/jobs.ts';
import type { LogicalTarget } from '../../src/run/request.ts';
import { writeFault } from '../../src/sinks/descriptor.ts';
import { type FileSink, openFileSink } from '../../src/sinks/file.ts';
import type { FinishedPart } from '../../src/sinks/sink.ts';
import { fileNameOf } from '../../src/storage/url.ts';
import type { Task } from '../task.ts';

/** A complete file under its temporary name. */
export interface FinishedTarget {
  readonly target: LogicalTarget;
  /** Final name, without path. */
  readonly name: string;
  readonly part: FinishedPart;
}

export class TargetParts {
  readonly #output: Task['output'];
  readonly #ofSlice: boolean;
  readonly #open: { readonly target: LogicalTarget; readonly name: string; readonly sink: FileSink }[] = [];

  /** @param ofSlice the files are N-Quads: the job that waits for the slices writes the targets from them */
  constructor(output: Task['output'], ofSlice = false) {
    this.#output = output;
    this.#ofSlice = ofSlice;
  }

  /** @throws Fault sink/failed */
  open = async (target: LogicalTarget): Promise<FileSink> => {
    const { directory, attempt } = this.#output;
    const { serialization: format, encoding, compression } = target;
    const name = this.#nameOf(target);
    const written = this.#ofSlice ? { format: 'nquads' as const } : { format, encoding, compression };
    const sink = await openFileSink({ directory, name, attempt, ...written });
    this.#open.push({ target, name, sink });
    return sink;
  };

  /** `<run>.target.dump.nq`; a second file of that name is `<run>.target.2.dump.nq`. */
  #nameOf({ path }: LogicalTarget): string {
    const own = fileNameOf(path).replace(/[^\w.-]/g, '_') || 'target';
    const taken = new Set(this.#open.map(({ name }) => name));
    for (let n = 1; ; n++) {
      const name = `${this.#output.name}.target.${n === 1 ? '' : `${n}.`}${own}`;
      if (!taken.has(name)) return name;
    }
  }

  /** In the order of the plan. @throws Fault sink/failed, mapping/invalid — what the serialisation cannot say */
  async finish(): Promise<readonly FinishedTarget[]> {
    const finished: FinishedTarget[] = [];
    // One file each: nothing rolls them over.
    for (const { target, name, sink } of this.#open) finished.push({ target, name, part: (await sink.finish())[0] as FinishedPart });
    return finished;
  }

  async abort(): Promise<void> {
    await Promise.allSettled(this.#open.map(({ sink }) => sink.abort()));
  }
}

/** Writes the logical targets of a run from what its slices have for them. @throws Fault as `TargetParts.finish`; the reason of `signal` */
export async function joinTargets(
  output: Task['output'],
  results: readonly SliceResult[],
  signal: AbortSignal,
): Promise<readonly FinishedTarget[]> {
  const joined = new TargetParts(output);
  try {
    for (const [i, { target }] of (results[0]?.targets ?? []).entries()) {
      const sink = await joined.open(target);
      for (const { file } of results.flatMap(({ targets }) => targets?.[i]?.parts ?? [])) {
        for await (const lines of linesOf(join(output.directory, file), signal)) await sink.write(lines);
      }
    }
    return await joined.finish();
  } catch (error) {
    await joined.abort();
    throw error;
  }
}

/** The text of a file of lines, in pieces of whole lines, as one-byte strings. @throws Fault sink/failed; the reason of `signal` */
export async function* linesOf(path: string, signal: AbortSignal): AsyncGenerator<string> {
  let rest = '';
  try {
    for await (const piece of createReadStream(path, { encoding: 'latin1', highWaterMark: 1 << 20 })) {
      signal.throwIfAborted();
      const text = rest + (piece as string);
      const end = text.lastIndexOf('\n') + 1;
      rest = text.slice(end);
      yield text.slice(0, end);
    }
  } catch (error) {
    throw signal.aborted ? error : writeFault(path, error);
  }
}
