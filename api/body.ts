/** Reads request bodies: limited in size, with an expected media type, as UTF-8. */
import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { Fault } from '../src/core/fault.ts';
import { findJsonError } from './json-error.ts';

/**
 * The body as text, of one of the media types.
 *
 * @throws Fault request/media-type — another type, a charset other than UTF-8, a content encoding; request/too-large — more than
 *   `limitBytes`; request/malformed — not UTF-8, or incomplete
 */
export async function readTextBody(request: IncomingMessage, mediaTypes: string | readonly string[], limitBytes: number): Promise<string> {
  checkMediaType(request, [mediaTypes].flat());
  const bytes = await readBytes(request, limitBytes);
  if (!isUtf8(bytes)) throw new Fault('request/malformed', 'The request body is not UTF-8');
  return new TextDecoder().decode(bytes);
}

/**
 * The body as a JSON value; undefined: no body.
 *
 * @throws Fault as `readTextBody`; request/malformed — not JSON, with line and column
 */
export async function readJsonBody(request: IncomingMessage, limitBytes: number): Promise<unknown> {
  if (!hasBody(request)) return undefined;
  const text = await readTextBody(request, 'application/json', limitBytes);
  if (text.trim() === '') return undefined;
  try {
    return JSON.parse(text);
  } catch (error) {
    const found = findJsonError(text);
    const where = found === undefined ? (error as Error).message : `line ${found.line}, column ${found.column}: expected ${found.expected}`;
    throw new Fault('request/malformed', `The request body is not JSON: ${where}`, {
      ...(found === undefined ? {} : { place: { input: 'request body', line: found.line } }),
      cause: error,
    });
  }
}

/** In HTTP/1.1 a request has a body if it has a length or a transfer encoding. */
export function hasBody(request: IncomingMessage): boolean {
  return request.headers['transfer-encoding'] !== undefined || Number(request.headers['content-length'] ?? 0) > 0;
}

/** @throws Fault request/media-type — another type, a charset other than UTF-8, a content encoding */
export function checkMediaType(request: IncomingMessage, expected: readonly string[]): void {
  const [type = '', ...parameters] = (request.headers['content-type'] ?? '')
    .toLowerCase()
    .split(';')
    .map((part) => part.trim());
  if (!expected.includes(type)) {
    const given = type === '' ? 'The request has no Content-Type' : `The request has the Content-Type ${type}`;
    throw new Fault('request/media-type', `${given}, expected is ${expected.join(' or ')}`, {
      hint: `Send the header Content-Type: ${expected[0]}`,
    });
  }
  const charset = parameters
    .find((parameter) => parameter.startsWith('charset='))
    ?.slice('charset='.length)
    .replaceAll('"', '');
  if (charset !== undefined && !['utf-8', 'utf8', 'us-ascii'].includes(charset)) {
    throw new Fault('request/media-type', `The request body has the charset ${charset}, expected is utf-8`);
  }
  const encoding = request.headers['content-encoding']?.toLowerCase() ?? 'identity';
  if (encoding !== 'identity') {
    throw new Fault('request/media-type', `The request body has the Content-Encoding ${encoding}, none is accepted`);
  }
}

/** A body that is too long is read to the end and dropped, so that the client receives the answer and can reuse the connection. */
async function readBytes(request: IncomingMessage, limitBytes: number): Promise<Buffer> {
  const tooLarge = (): Fault =>
    new Fault('request/too-large', `The request body is larger than ${limitBytes} bytes`, {
      hint: 'The option MAX_BODY_BYTES says how large it may be',
    });
  if (Number(request.headers['content-length'] ?? 0) > limitBytes) throw tooLarge();
  const parts: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const part of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      bytes += part.length;
      if (bytes > limitBytes) throw tooLarge();
      parts.push(part);
    }
  } catch (error) {
    request.resume();
    if (error instanceof Fault) throw error;
    throw new Fault('request/malformed', 'The request body ended too early', { cause: error });
  }
  return Buffer.concat(parts);
}
