/** The outputs of a run: its own, and the logical targets of the mapping. */
import { Fault } from '../../core/fault.ts';
import { formatOrigin, type LogicalTarget } from '../../mapping/model/model.ts';
import type { QuadSink, TextForm } from '../../sinks/sink.ts';
import { OutputText, type Reifier } from '../compile/output.ts';
import type { RunHooks } from '../request.ts';

/** Takes the text of all outputs. Each caller writes an output in the form that is asked for. */
export interface StatementSink {
  /** By output; undefined or absent: N-Quads. */
  readonly forms?: readonly (TextForm | undefined)[];
  /** @param text a piece that stands for itself, as a one-byte string @param output 0: the output of the run; n: its n-th target */
  write(text: string, output: number): void | Promise<void>;
  rollOver?(): Promise<void>;
}

/** What the engine needs of the sink of an output. */
type OutputSink = Pick<QuadSink, 'write' | 'writeBytes' | 'text' | 'rollOver'>;

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
  const sinks: OutputSink[] = [sink];
  for (const target of targets) sinks.push(await (openTarget as NonNullable<typeof openTarget>)(target));
  // Who looks at rows sees N-Quads.
  return new Outputs(hooks.row === undefined ? sinks : sinks.map((one) => ({ write: (lines) => one.write(lines) })));
}

export class Outputs implements StatementSink {
  readonly forms: readonly (TextForm | undefined)[];
  /** What all outputs together got so far. */
  bytes = 0;
  readonly #sinks: readonly OutputSink[];

  /** @param sinks the output of the run first */
  constructor(sinks: readonly OutputSink[]) {
    this.#sinks = sinks;
    this.forms = sinks.map(({ text }) => text?.form);
  }

  write(text: string, output: number): void | Promise<void> {
    this.bytes += text.length;
    return this.#textSink(output).write(text);
  }

  /** The same for buffers of pieces, which the caller may reuse once it resolves. */
  async writeBytes(buffers: readonly Uint8Array[], output: number): Promise<void> {
    const sink = this.#textSink(output);
    for (const { length } of buffers) this.bytes += length;
    if (sink.writeBytes !== undefined) await sink.writeBytes(buffers);
    else for (const bytes of buffers) await sink.write(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1'));
  }

  /** Targets are one file each. */
  async rollOver(): Promise<void> {
    await this.#sinks[0]?.rollOver?.();
  }

  #textSink(output: number): Pick<QuadSink, 'write' | 'writeBytes'> {
    const sink = this.#sinks[output] as OutputSink;
    return sink.text ?? sink;
  }
}

/** The texts of the outputs, to which statements are added. */
export async function openTexts(forms: StatementSink['forms'], targets: number, reifier?: Reifier): Promise<readonly OutputText[]> {
  const format = forms?.some((form) => form !== undefined) === true ? await import('../../sinks/formats/format.ts') : undefined;
  return Array.from({ length: 1 + targets }, (_, i) => {
    const form = forms?.[i];
    return new OutputText(i, form && format?.openWriter(form), reifier);
  });
}
