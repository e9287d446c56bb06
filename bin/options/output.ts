/** The target of `-o`: a file, standard output, or a named device or pipe. */
import { closeSync, openSync } from 'node:fs';
import { realpath, stat } from 'node:fs/promises';
import { basename, dirname, extname, join, resolve } from 'node:path';
import { Fault } from '../../src/core/fault.ts';
import { writeFault } from '../../src/sinks/descriptor.ts';
import { openFileSink } from '../../src/sinks/file.ts';
import { FORMAT_EXTENSION, OUTPUT_FORMATS, type OutputFormat, type QuadSink } from '../../src/sinks/sink.ts';
import { openStreamSink } from '../../src/sinks/stream.ts';
import { locate } from '../../src/storage/url.ts';

export interface Output {
  readonly sink: QuadSink;
  /** File of rejected records under quarantine. */
  readonly rejectedPath: string;
  /** Call after commit or abort. */
  close(): void;
}

/** The name of standard output in `-o`. */
export const STANDARD_OUTPUT = '-';
const STANDARD_OUTPUT_DESCRIPTOR = 1;
const REJECTED_BESIDE_STDOUT = 'rejected.ndjson';

/** The requested format; else by the extension of the file; else N-Quads. */
export function formatFor(target: string, asked: string | undefined): OutputFormat {
  if (asked !== undefined) return asked as OutputFormat;
  const extension = extname(target).slice(1).toLowerCase();
  return OUTPUT_FORMATS.find((format) => FORMAT_EXTENSION[format] === extension) ?? 'nquads';
}

/**
 * Refuses an output that would overwrite a file that the run reads.
 *
 * @param given mappings and inputs as named on the command line
 * @throws Fault request/invalid
 */
export async function refuseOverwritingInputs(target: string, given: readonly string[]): Promise<void> {
  const real = (path: string): Promise<string | undefined> => realpath(path).catch(() => undefined);
  const output = target === STANDARD_OUTPUT ? undefined : await real(target);
  if (output === undefined || !(await stat(output)).isFile()) return;
  for (const url of given) {
    const location = locate(url, process.cwd());
    if (location.kind !== 'file' || (await real(location.path)) !== output) continue;
    throw new Fault('request/invalid', `The output ${target} would replace ${url}, which the run reads`, {
      hint: 'Give it another name, or another directory',
    });
  }
}

/** @throws Fault sink/failed */
export async function openOutput(
  target: string,
  format: OutputFormat,
  prefixes: Readonly<Record<string, string>> | undefined,
): Promise<Output> {
  if (target === STANDARD_OUTPUT) {
    const sink = await openStreamSink({ descriptor: STANDARD_OUTPUT_DESCRIPTOR, name: 'standard output', format, prefixes });
    return { sink, rejectedPath: resolve(REJECTED_BESIDE_STDOUT), close: () => undefined };
  }
  const existing = await stat(target).catch(() => undefined);
  if (existing?.isDirectory()) throw writeFault(target, Object.assign(new Error(), { code: 'EISDIR' }));
  if (existing !== undefined && !existing.isFile()) {
    const descriptor = openSync(target, 'w');
    const sink = await openStreamSink({ descriptor, name: target, format, prefixes });
    return { sink, rejectedPath: resolve(REJECTED_BESIDE_STDOUT), close: () => closeSync(descriptor) };
  }
  // A link is kept: its target is replaced.
  const path = existing === undefined ? resolve(target) : await realpath(target);
  const directory = dirname(path);
  const name = basename(path);
  const sink = await openFileSink({ directory, name, attempt: process.pid, format, prefixes, digest: false, durable: false });
  return { sink, rejectedPath: join(directory, `${name}.rejected.ndjson`), close: () => undefined };
}
