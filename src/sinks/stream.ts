/** Output to an open descriptor: standard output, a pipe, a device. */
import { randomBytes } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DescriptorWriter } from './descriptor.ts';
import type { QuadSink, Serialization } from './sink.ts';

export interface StreamSinkOptions {
  readonly descriptor: number;
  /** For messages, and as the part's `url`. */
  readonly name: string;
  readonly format: Serialization;
  readonly prefixes?: Readonly<Record<string, string>>;
}

/**
 * Statements reach the descriptor during the run; aborting does not undo them. The descriptor stays open.
 *
 * @throws ReaderGone — the other end of a pipe was closed; Fault sink/failed
 */
export async function openStreamSink(options: StreamSinkOptions): Promise<QuadSink> {
  const writer = new DescriptorWriter(options.descriptor, options.name, { digest: false });
  const sink: QuadSink = {
    write: (lines) => writer.write(lines),
    writeBytes: (buffers) => writer.writeBytes(buffers),
    commit: async () => [{ url: options.name, ...(await writer.finish()) }],
    abort: () => writer.drop(),
  };
  if (options.format === 'nquads') return sink;
  const { formatted } = await import('./formats/format.ts');
  const spillDirectory = join(tmpdir(), `quadmill-${randomBytes(8).toString('hex')}`);
  return formatted(sink, { format: options.format, prefixes: options.prefixes, spillDirectory });
}
