/** Writes what a run makes: text goes to the sink in pieces, buffered rows to their files, and the event loop gets its turns. */
import { Fault } from '../../core/fault.ts';
import { checkCounts } from '../../core/limits.ts';
import type { SpillSpace } from '../../spill/space.ts';
import type { OutputText } from '../compile/output.ts';
import type { RunHooks, RunRequest } from '../request.ts';
import type { StatementSink } from './outputs.ts';

/** Text goes to the sink in pieces of about this size: small enough for V8 to flatten in the young generation. */
const PIECE_CHARACTERS = 1 << 15;
/** Interval at which the loop yields to the event loop: timers, aborts and messages would starve otherwise. */
const TURN_MS = 25;
const PROGRESS_MS = 100;
/** Number of pieces and pairs that are made before a check whether something must be written. */
const PIECES = 4;
const BATCH_PAIRS = 4096;

interface WriterOptions {
  readonly outputs: readonly OutputText[];
  readonly sink: StatementSink;
  readonly space: SpillSpace;
  readonly limits: RunRequest['limits'];
  readonly hooks: Pick<RunHooks, 'progress' | 'signal'>;
}

export class Writer {
  /** The input that is read. */
  input: string | undefined;
  records = 0;
  bytesRead = 0;
  readonly #to: WriterOptions;
  /** Text for outputs, by their numbers. */
  #pieces: (readonly [output: number, text: string])[] = [];
  #turnAt = 0;
  #progressAt = 0;

  constructor(to: WriterOptions) {
    this.#to = to;
  }

  get quads(): number {
    return this.#to.outputs.reduce((sum, { statements }) => sum + statements, 0);
  }

  /** Whether something should be written before more is made. */
  get isDue(): boolean {
    return this.#pieces.length >= PIECES || this.#to.space.due;
  }

  /** Takes the text of each output that has so many characters. A format may hold more than that. */
  cut(characters = PIECE_CHARACTERS): void {
    const { outputs } = this.#to;
    for (let i = 0; i < outputs.length; i++) {
      const output = outputs[i] as OutputText;
      if (output.text.length < characters) continue;
      const text = output.take();
      if (text !== '') this.#pieces.push([i, text]);
    }
  }

  /** Writes what is made while `made` is consumed. */
  async take(made: Iterable<''>): Promise<void> {
    for (const _ of made) {
      this.cut();
      if (this.isDue) await this.yieldToEventLoop();
    }
  }

  /** The same for what is made at the end. */
  async takeLast(made: AsyncIterable<''>): Promise<void> {
    let count = 0;
    for await (const _ of made) {
      this.cut();
      if (this.isDue || ++count % BATCH_PAIRS === 0) await this.yieldToEventLoop();
    }
    await this.yieldToEventLoop();
  }

  /** Writes all that was made. */
  async flush(): Promise<void> {
    this.cut(0);
    await this.#write();
  }

  async yieldToEventLoop(): Promise<void> {
    const { limits, space, hooks } = this.#to;
    if (limits.statements > 0)
      checkCounts(limits, { records: 0, quads: this.quads }, this.input === undefined ? {} : { input: this.input });
    if (this.#pieces.length > 0) await this.#write();
    await space.flush();
    const now = performance.now();
    if (now - this.#turnAt < TURN_MS) return;
    this.#turnAt = now;
    if (now - this.#progressAt >= PROGRESS_MS) this.reportProgress();
    await new Promise((resolve) => setImmediate(resolve));
    if (hooks.signal?.aborted) throw new Fault('run/cancelled', 'The run was cancelled');
  }

  reportProgress(): void {
    this.#progressAt = performance.now();
    this.#to.hooks.progress?.({ records: this.records, quads: this.quads, bytesRead: this.bytesRead });
  }

  async #write(): Promise<void> {
    const pieces = this.#pieces;
    this.#pieces = [];
    for (const [output, text] of pieces) {
      const written = this.#to.sink.write(text, output);
      if (written !== undefined) await written;
    }
  }
}
