/** The target of `-o`: a file, standard output, or a named device or pipe. Its name says the format and the compression. */
import { closeSync, openSync, statSync } from 'node:fs';
import { realpath, stat } from 'node:fs/promises';
import { basename, dirname, extname, join, resolve } from 'node:path';
import { Fault } from '../../src/core/fault.ts';
import { formatOfExtension } from '../../src/core/input/formats.ts';
import { redact } from '../../src/core/redact.ts';
import { writeFault } from '../../src/sinks/descriptor.ts';
import { openFileSink } from '../../src/sinks/file.ts';
import { FORMAT_EXTENSION, type QuadSink, SERIALIZATIONS, type Serialization } from '../../src/sinks/sink.ts';
import { openStreamSink } from '../../src/sinks/stream.ts';
import { type Compression, compressionByName, withoutCompression } from '../../src/storage/compression.ts';
import { locate } from '../../src/storage/url.ts';
import { type Parsed, UsageError } from '../command-line.ts';

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

/** How a file is written. */
export interface OutputForm {
  readonly format: Serialization;
  readonly compression: Compression;
}

const LINES: OutputForm = { format: 'nquads', compression: 'none' };

/** Endings of compressions that are not written. */
const NOT_WRITTEN = /\.(?:xz|bz2|zst|7z|lz4|br|rar|tar)$/i;

/**
 * The form of an output: the format that is asked for, else by the ending of the file, and the compression by its ending. Standard output, pipes,
 * devices and names without an ending get N-Quads.
 *
 * @throws UsageError — the ending names another format, or a compression that is not written
 */
export function formFor(target: string, asked: string | undefined): OutputForm {
  const format = asked as Serialization | undefined;
  if (target === STANDARD_OUTPUT || isOther(target)) return { ...LINES, ...(format && { format }) };
  const compression = compressionByName(target);
  const name = withoutCompression(basename(target));
  if (NOT_WRITTEN.test(name))
    throw new UsageError(`--output is ${target}, and ${extname(name)} is not written: compressed files are .gz, .zip, .tar.gz and .tar.xz`);
  const extension = extname(name).slice(1).toLowerCase();
  const named = extension === '' ? 'nquads' : SERIALIZATIONS.find((one) => FORMAT_EXTENSION[one] === extension);
  if (format === undefined && named === undefined) {
    const known = SERIALIZATIONS.map((one) => `.${FORMAT_EXTENSION[one]} (${one})`).join(', ');
    throw new UsageError(`--output is ${target}, and .${extension} names no format: name it by --format, or by the ending: ${known}`);
  }
  return { format: format ?? (named as Serialization), compression };
}

/** Whether there is something that is no file: a device, a pipe, or a directory, which `openOutput` refuses. */
function isOther(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isFile() === false;
  } catch {
    // `openOutput` reports why it cannot be reached.
    return false;
  }
}

/**
 * The path of a file that is written.
 *
 * @param target a path, a `file:` URL, or `-`
 * @throws UsageError — an address of another kind
 */
export function outputPathOf(target: string): string {
  if (!/^(?:file:|[a-z][a-z0-9+.-]+:\/\/)/i.test(target)) return target;
  const place = /^file:/i.test(target) ? locate(target, process.cwd()) : undefined;
  if (place?.kind === 'file') return place.path;
  throw new UsageError(
    `--output is ${redact(target)}, which is not a local file: write a file and copy it, or let quadmill serve write to OUTPUT_DIR_URL=s3://…`,
  );
}

/** The path of `-o`, or `-`. @throws UsageError */
export const targetOf = (parsed: Parsed): string => outputPathOf(parsed.value('output') ?? STANDARD_OUTPUT);

/** What an interrupted command leaves of its output. */
export const whatIsLeft = (target: string): string => (target === STANDARD_OUTPUT ? 'the output is incomplete' : 'nothing was written');

/** Refuses a file for a mapping whose ending names something else. @throws UsageError */
export function refuseOtherEnding(target: string, language: 'Turtle' | 'YARRRML'): void {
  const extension = extname(target).slice(1).toLowerCase();
  const [own, other] = language === 'Turtle' ? ['.ttl', YARRRML] : ['.yml', /^ttl$/];
  const isOther =
    other.test(extension) ||
    compressionByName(target) !== 'none' ||
    NOT_WRITTEN.test(target) ||
    formatOfExtension(extension) !== undefined ||
    (SERIALIZATIONS.some((format) => FORMAT_EXTENSION[format] === extension) && extension !== 'ttl');
  if (isOther) throw new UsageError(`--output is ${target}, and the mapping is written in ${language}: end the name with ${own}`);
}

const YARRRML = /^(?:ya?ml|yarrrml)$/;

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
  { format, compression }: OutputForm,
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
  const sink = await openFileSink({ directory, name, attempt: process.pid, format, compression, prefixes, digest: false, durable: false });
  return { sink, rejectedPath: join(directory, `${name}.rejected.ndjson`), close: () => undefined };
}
