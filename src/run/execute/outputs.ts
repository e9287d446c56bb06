/** The outputs of a run: its own, and the logical targets of the mapping. */
import { Fault } from '../../core/fault.ts';
import { formatOrigin, type LogicalTarget } from '../../mapping/model/model.ts';
import type { QuadSink } from '../../sinks/sink.ts';
import { OUTPUT_MARK } from '../compile/ends.ts';
import type { RunHooks, TargetReport } from '../request.ts';

/** What the engine needs of a sink. */
export type LineSink = Pick<QuadSink, 'write' | 'writeBytes' | 'rollOver'>;

export interface Outputs {
  /** Takes lines for all outputs. */
  readonly sink: LineSink;
  /** What the targets got so far, in the order of the plan. */
  reports(): readonly TargetReport[];
  /** Bytes of lines that all outputs together got so far. */
  readonly bytes: number;
}

/** Opens the targets. @throws Fault request/invalid — the caller takes none; and those of `openTarget` */
export async function openOutputs(sink: QuadSink, targets: readonly LogicalTarget[], hooks: RunHooks): Promise<Outputs> {
  const [first] = targets;
  const { openTarget } = hooks;
  if (first !== undefined && openTarget === undefined) {
    throw new Fault('request/invalid', `The mapping has logical targets, and this run writes to no other place: ${first.path}`, {
      place: { mapping: formatOrigin(first.origin) },
      hint: 'Remove rml:logicalTarget; a program that calls executeRun gives the hook openTarget',
    });
  }
  const sinks: LineSink[] = [sink];
  for (const target of targets) sinks.push(await (openTarget as NonNullable<typeof openTarget>)(target));
  const router = new OutputRouter(sinks);
  return {
    sink: router as LineSink,
    get bytes() {
      return router.bytes;
    },
    reports: () =>
      targets.map(({ id, path, origin }, i) => ({ id, path, origin: formatOrigin(origin), quads: router.counts[i + 1] as number })),
  };
}

const LINE_FEED = 10;
const DOT = 46;

/** Passes each line on to its output. A line ends with ` .` for the output of the run, else with the mark and number of its target. */
export class OutputRouter {
  /** Lines by output; not counted where the output of the run is the only one. */
  readonly counts: number[];
  /** Of the lines without their marks. */
  bytes = 0;
  readonly #sinks: readonly LineSink[];
  /** Where the output of the run is the only one, and takes bytes. */
  readonly writeBytes: LineSink['writeBytes'];

  /** @param sinks the output of the run first */
  constructor(sinks: readonly LineSink[]) {
    this.#sinks = sinks;
    this.counts = sinks.map(() => 0);
    const [own, ...targets] = sinks;
    this.writeBytes =
      targets.length > 0 || own?.writeBytes === undefined
        ? undefined
        : (buffers) => {
            for (const { length } of buffers) this.bytes += length;
            return own.writeBytes?.(buffers) as Promise<void>;
          };
  }

  write(lines: string): void | Promise<void> {
    // Without targets no line has a mark.
    if (this.#sinks.length === 1) return this.#writeAll([lines], 0);
    const texts: string[] = this.#sinks.map(() => '');
    /** Start of the lines of the run's own output that were not yet passed on. */
    let own = 0;
    for (let from = 0; from < lines.length; ) {
      const end = lines.indexOf('\n', from);
      const output = outputAt(lines, end);
      this.counts[output] = (this.counts[output] as number) + 1;
      if (output > 0) {
        texts[0] += lines.slice(own, from);
        texts[output] += `${lines.slice(from, lines.lastIndexOf(OUTPUT_MARK, end))}\n`;
        own = end + 1;
      }
      from = end + 1;
    }
    texts[0] += lines.slice(own);
    return this.#writeAll(texts, 0);
  }

  /** Asynchronous only if a sink is. */
  #writeAll(texts: readonly string[], from: number): void | Promise<void> {
    for (let i = from; i < texts.length; i++) {
      const text = texts[i] as string;
      this.bytes += text.length;
      const written = text === '' ? undefined : this.#sinks[i]?.write(text);
      if (written !== undefined) return written.then(() => this.#writeAll(texts, i + 1));
    }
  }

  /** Targets are one file each. */
  async rollOver(): Promise<void> {
    await this.#sinks[0]?.rollOver?.();
  }
}

/** The output of the line whose line feed is at `end`. */
function outputAt(lines: string, end: number): number {
  if (lines.charCodeAt(end) !== LINE_FEED) throw new Error('a line without its end');
  if (lines.charCodeAt(end - 1) === DOT) return 0;
  return Number(lines.slice(lines.lastIndexOf(OUTPUT_MARK, end) + OUTPUT_MARK.length, end));
}
