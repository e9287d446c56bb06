/** The addresses of files that a user may write: `file:` URL, bare path, `http(s):` URL. */
import { isAbsolute, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Fault } from '../core/fault.ts';
import { redact } from '../core/redact.ts';

export type Location = { readonly kind: 'file'; readonly path: string } | { readonly kind: 'http'; readonly url: URL };

/** At least two letters: `C:` is a drive, not a scheme. */
const SCHEME = /^([a-zA-Z][a-zA-Z0-9+.-]+):/;

/**
 * Parses an address. A relative path is relative to `workingDirectory`.
 *
 * @throws Fault source/refused — an unsupported scheme, or a `file:` URL of another host
 */
export function locate(url: string, workingDirectory: string): Location {
  const scheme = SCHEME.exec(url)?.[1]?.toLowerCase();
  if (scheme === undefined) return { kind: 'file', path: isAbsolute(url) ? url : resolve(workingDirectory, url) };
  if (scheme === 'file') return { kind: 'file', path: filePath(url) };
  if (scheme === 'http' || scheme === 'https') return { kind: 'http', url: parse(url) };
  throw new Fault('source/refused', `This version does not read '${scheme}:' addresses: ${redact(url)}`, {
    hint: 'Give a file: URL, a path, or an http: or https: URL',
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

/** The last segment of the path, percent-decoded, without query: the part with the extension. */
export function fileNameOf(url: string): string {
  const path = SCHEME.test(url) ? url.replace(/[?#].*$/s, '') : url;
  const name = path.slice(path.lastIndexOf('/') + 1);
  if (!SCHEME.test(url)) return name;
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}
