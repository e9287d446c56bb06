/** The addresses of files that a user may write: `file:` URL, bare path, `http(s):` URL, `s3:` URL. */
import { isAbsolute, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Fault } from '../core/fault.ts';
import { redact } from '../core/redact.ts';

export type Location = { readonly kind: 'file'; readonly path: string } | { readonly kind: 'http'; readonly url: URL } | S3Location;

/** An object, or a directory of objects: a prefix of keys that ends with `/`, or nothing. */
export interface S3Location {
  readonly kind: 's3';
  readonly bucket: string;
  readonly key: string;
}

/** At least two letters: `C:` is a drive, not a scheme. */
const SCHEME = /^([a-zA-Z][a-zA-Z0-9+.-]+):/;

/** Whether it is a URL rather than a path. */
export const hasScheme = (url: string): boolean => SCHEME.test(url);

/** Whether it is a file of this machine. */
export const isLocal = (url: string): boolean => !hasScheme(url) || /^file:/i.test(url);

/**
 * Parses an address. A relative path is relative to `workingDirectory`.
 *
 * @throws Fault source/refused — an unsupported scheme, a `file:` URL of another host, or what names no bucket
 */
export function locate(url: string, workingDirectory: string): Location {
  const scheme = SCHEME.exec(url)?.[1]?.toLowerCase();
  if (scheme === undefined) return { kind: 'file', path: isAbsolute(url) ? url : resolve(workingDirectory, url) };
  if (scheme === 'file') return { kind: 'file', path: filePath(url) };
  if (scheme === 'http' || scheme === 'https') return { kind: 'http', url: parse(url) };
  if (scheme === 's3') return objectOf(url);
  throw new Fault('source/refused', `This version does not read '${scheme}:' addresses: ${redact(url)}`, {
    hint: 'Give a file: URL, a path, or an http:, https: or s3: URL',
  });
}

function filePath(url: string): string {
  try {
    return fileURLToPath(url);
  } catch (error) {
    throw new Fault('source/refused', `${redact(url)} is not a file: URL of this machine: ${(error as Error).message}`, {
      hint: 'Write file:///absolute/path, with characters such as spaces percent-encoded',
      cause: error,
    });
  }
}

function parse(url: string): URL {
  try {
    return new URL(url);
  } catch (error) {
    throw new Fault('source/refused', `${redact(url)} is not a valid URL`, { cause: error });
  }
}

/** As other tools of S3 write it: the key is what follows, and neither a query nor percent-encoding is part of an address. */
const OBJECT = /^s3:\/\/([A-Za-z0-9][A-Za-z0-9._-]{1,254})(?:\/(.*))?$/is;

function objectOf(url: string): S3Location {
  const [, bucket, key = ''] = OBJECT.exec(url) ?? [];
  const place = { input: redact(url) };
  if (bucket === undefined)
    throw new Fault('source/refused', `${redact(url)} is not the address of an object`, { place, hint: 'Write s3://bucket/key' });
  if (Buffer.byteLength(key) > MAX_KEY_BYTES)
    throw new Fault('source/refused', `The key of the object is longer than ${MAX_KEY_BYTES} bytes`, { place });
  // Clients and proxies on the way may take them for steps of a path: that would be another object.
  if (key.split('/').some((step) => step === '.' || step === '..'))
    throw new Fault('source/refused', `${redact(url)} has '.' or '..' in the key, which S3 does not resolve`, { place });
  return { kind: 's3', bucket, key };
}

const MAX_KEY_BYTES = 1024;

/** Whether an address is that of an object, or of a directory of objects. */
export const isObjectUrl = (url: string): boolean => /^s3:/i.test(url);

/** The address of a name in a directory of objects. Nothing is percent-encoded. */
export const objectUrlIn = (directory: string, name: string): string => `${directory.replace(/\/*$/, '')}/${name}`;

/** The last segment of the path, percent-decoded, without query: the part with the extension. The key of an object is as it is. */
export function fileNameOf(url: string): string {
  if (isObjectUrl(url)) return url.slice(url.lastIndexOf('/') + 1);
  const path = SCHEME.test(url) ? url.replace(/[?#].*$/s, '') : url;
  const name = path.slice(path.lastIndexOf('/') + 1);
  if (!SCHEME.test(url)) return name;
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}
