/** Where `-o` leads: a file, standard output, or a device or pipe that has a name. */
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
  /** Where rejected records go under quarantine. */
  readonly rejectedPath: string;
  /** After commit or abort. */
  close(): void;
}

/** As `-o` names it. */
export const STANDARD_OUTPUT = '-';
const STANDARD_OUTPUT_DESCRIPTOR = 1;
const REJECTED_BESIDE_STDOUT = 'rejected.ndjson';

/** The format asked for; else the one that the extension of the file stands for; else N-Quads. */
export function formatFor(target: string, asked: string | undefined): OutputFormat {
  if (asked !== undefined) return asked as OutputFormat;
  const extension = extname(target).slice(1).toLowerCase();
  return OUTPUT_FORMATS.find((format) => FORMAT_EXTENSION[format] === extension) ?? 'nquads';
}

/**
 * The output would take the place of what it is made from.
 *
 * @param given mappings and inputs as the command line names them
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
  // a link stays a link: what it points to is replaced
  const path = existing === undefined ? resolve(target) : await realpath(target);
  const directory = dirname(path);
  const name = basename(path);
  const sink = await openFileSink({ directory, name, attempt: process.pid, format, prefixes, digest: false, durable: false });
  return { sink, rejectedPath: join(directory, `${name}.rejected.ndjson`), close: () => undefined };
}
