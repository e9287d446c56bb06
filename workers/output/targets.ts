/** The files of the logical targets of a run. They stand beside its output, whatever place the mapping names: a mapping decides no path on a server. */
import type { LogicalTarget } from '../../src/run/request.ts';
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
  readonly #open: { readonly target: LogicalTarget; readonly name: string; readonly sink: FileSink }[] = [];

  constructor(output: Task['output']) {
    this.#output = output;
  }

  /** @throws Fault sink/failed */
  open = async (target: LogicalTarget): Promise<FileSink> => {
    const { directory, attempt } = this.#output;
    const { serialization: format, encoding, compression } = target;
    const name = this.#nameOf(target);
    const sink = await openFileSink({ directory, name, attempt, format, encoding, compression });
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
