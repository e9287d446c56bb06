/** Downloads a description and the code that it names, as a set. */
import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { join, posix } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Fault } from '../core/fault.ts';
import { redact } from '../core/redact.ts';
import { readBytes } from '../storage/open.ts';
import type { OpenOptions } from '../storage/storage.ts';
import { hasScheme, isObjectUrl, type Location, locate } from '../storage/url.ts';
import { type Code, isModule, readDescription } from './description.ts';
import { type CodeFile, type FunctionSet, filesOf, SET_FILE, sha256Of, versionOf } from './files.ts';

const MOST_DESCRIPTION_BYTES = 8 * 2 ** 20;
/** All code of a set. */
export const MOST_CODE_BYTES = 64 * 2 ** 20;
/** A server that sends nothing for this long. */
const SILENCE_MS = 30_000;

export interface FunctionSource {
  /** URL or path of the description, optionally with `#sha256=…`. */
  readonly description: string;
  /** Of a JAR or a module, for implementations that name no file, and in place of the JARs that they name. */
  readonly code: string | undefined;
}

type FetchOptions = Pick<OpenOptions, 'workingDirectory' | 'web' | 's3' | 'signal'> & Partial<Pick<OpenOptions, 'reach'>>;

/**
 * Downloads a set into a folder of `directory` named after its version, which is complete or absent.
 *
 * @throws Fault functions/invalid — a file that is missing, too large, or not the one of its SHA-256; a description that is not valid
 */
export async function fetchFunctions(source: FunctionSource, directory: string, options: FetchOptions): Promise<FunctionSet> {
  const contents = new Map<string, Buffer>();
  const keep = (bytes: Buffer): string => {
    const sha256 = sha256Of(bytes);
    contents.set(sha256, bytes);
    return sha256;
  };
  const described = await download(source.description, MOST_DESCRIPTION_BYTES, options);
  const bindings = readDescription(described.bytes.toString('utf8'), described.url);
  const code: CodeFile[] = [];
  let bytes = 0;
  for (const one of neededCode(
    bindings.map(({ code }) => code),
    source.code,
  )) {
    const url = one.url === source.code ? one.url : resolved(one.url, described.url);
    const file = await download(url, MOST_CODE_BYTES - bytes, options);
    bytes += file.bytes.length;
    code.push({ kind: one.kind, named: one.named, url: file.url, sha256: keep(file.bytes) });
  }
  const parts = { description: { url: described.url, sha256: keep(described.bytes) }, code };
  const set: FunctionSet = { version: versionOf(parts), ...parts };
  await writeSet(set, contents, directory);
  return set;
}

interface NeededCode {
  readonly kind: Code['kind'];
  /** As the description names it. */
  readonly named: string | undefined;
  readonly url: string;
}

/** Each file once. @throws Fault functions/invalid — functions whose code is not named */
function neededCode(codes: readonly Code[], given: string | undefined): readonly NeededCode[] {
  const needed = new Map<string, NeededCode>();
  for (const { kind, url } of codes) {
    // The JAR of the option takes the place of those that descriptions for other engines name, which are often names of local files.
    const isGiven = given !== undefined && (kind === 'jar' ? !isModule(given) : url === undefined && isModule(given));
    const from = isGiven ? given : url;
    if (from === undefined) {
      const what = kind === 'jar' ? 'a JAR' : 'a JavaScript module';
      throw new Fault('functions/invalid', `The description binds functions to ${what}, and says not where it is`, {
        hint: 'Set CUSTOM_FUNCTION_JAR_URL (--functions-jar) to its URL, or add doap:download-url to the implementation',
      });
    }
    needed.set(`${kind} ${url}`, { kind, named: url, url: from });
  }
  return [...needed.values()];
}

/**
 * A description from a server must not make this process read its own files, nor one in object storage other buckets, which this process may
 * read and its author may not.
 */
function resolved(url: string, description: string): string {
  if (isObjectUrl(description)) return resolvedObject(url, description);
  let absolute: URL;
  try {
    absolute = new URL(url, description);
  } catch (error) {
    throw new Fault('functions/invalid', `${redact(url)} is not the URL of a file with code`, { cause: error });
  }
  if (/^https?:/.test(description) && !/^https?:$/.test(absolute.protocol)) {
    throw new Fault(
      'functions/invalid',
      `The description ${description} comes from a server and names code elsewhere: ${redact(absolute.href)}`,
      {
        hint: 'Put the code on a server too, and name it by an http: or https: URL',
      },
    );
  }
  return absolute.href;
}

/** Keys are what is written: nothing is percent-decoded. */
function resolvedObject(url: string, description: string): string {
  if (/^https?:/i.test(url)) return url;
  const [, bucket = '', key = ''] = /^s3:\/\/([^/]+)\/(.*)$/is.exec(description) ?? [];
  const own = `s3://${bucket}/`;
  if (url.startsWith(own)) return url;
  if (!hasScheme(url)) return own + posix.join('/', posix.dirname(key), url).slice(1);
  throw new Fault(
    'functions/invalid',
    `The description ${redact(description)} is in object storage and names code elsewhere: ${redact(url)}`,
    {
      hint: 'Put the code into the same bucket, or name it by an http: or https: URL',
    },
  );
}

const DIGEST = /#sha256=([0-9a-f]*)$/i;

interface Downloaded {
  /** Absolute, without login and digest. */
  readonly url: string;
  readonly bytes: Buffer;
}

async function download(given: string, mostBytes: number, options: FetchOptions): Promise<Downloaded> {
  const url = given.replace(DIGEST, '');
  const wanted = DIGEST.exec(given)?.[1]?.toLowerCase();
  if (wanted !== undefined && wanted.length !== 64) {
    throw new Fault('functions/invalid', `${redact(given)} has no SHA-256 of 64 hexadecimal digits after #sha256=`);
  }
  let location: Location;
  let bytes: Buffer;
  try {
    location = locate(url, options.workingDirectory);
    bytes = await readBytes(url, mostBytes, { ...options, reach: options.reach, silenceMs: SILENCE_MS });
  } catch (error) {
    const fault = Fault.of(error);
    if (fault.code === 'run/cancelled' || fault.code === 'request/forbidden') throw fault;
    throw fault.with({ code: 'functions/invalid', message: `The custom functions cannot be downloaded: ${fault.message}` });
  }
  const found = sha256Of(bytes);
  if (wanted !== undefined && wanted !== found) {
    throw new Fault('functions/invalid', `${redact(url)} has the SHA-256 ${found}, and ${wanted} is expected`, {
      hint: 'Check where the file comes from; after a wanted change, set the option to the new SHA-256',
    });
  }
  return { url: shownUrl(location), bytes };
}

/** Absolute, without a login. */
function shownUrl(location: Location): string {
  if (location.kind === 'file') return pathToFileURL(location.path).href;
  return location.kind === 's3' ? `s3://${location.bucket}/${location.key}` : redact(location.url.href);
}

/** Writes a set into its folder of `directory`. Another process may do the same at the same time. */
export async function writeSet(set: FunctionSet, contents: ReadonlyMap<string, Uint8Array>, directory: string): Promise<void> {
  await mkdir(directory, { recursive: true });
  const made = await mkdtemp(join(directory, '.new-'));
  try {
    for (const { sha256 } of filesOf(set)) await writeFile(join(made, sha256), contents.get(sha256) as Uint8Array);
    await writeFile(join(made, SET_FILE), JSON.stringify(set));
    await rename(made, join(directory, set.version)).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error;
    });
  } finally {
    await rm(made, { recursive: true, force: true });
  }
}
