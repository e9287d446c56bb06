/**
 * Bytes in any encoding → UTF-8 bytes, as a stream.
 *
 * Every text reader works on UTF-8. UTF-8 input passes through unchanged, without its byte order mark, and is validated on the way
 * (`isUtf8` takes 1/15 s per gigabyte), so that no reader needs to validate again.
 */
import { isUtf8 } from 'node:buffer';
import { Fault, type FaultPlace } from '../core/fault.ts';
import { canonicalEncoding } from '../core/input/encoding-name.ts';
import { assertText, isPage, pageFault } from './no-text.ts';
import type { Served } from './source.ts';

const MARKS: readonly (readonly [mark: readonly number[], encoding: string])[] = [
  [[0xef, 0xbb, 0xbf], 'utf-8'],
  [[0xff, 0xfe, 0, 0], 'utf-32le'],
  [[0, 0, 0xfe, 0xff], 'utf-32be'],
  [[0xff, 0xfe], 'utf-16le'],
  [[0xfe, 0xff], 'utf-16be'],
];

/** Number of bytes examined to determine the encoding: enough for an XML declaration. */
const HEAD_BYTES = 256;

type Bytes = AsyncIterable<Uint8Array>;

/**
 * The text of `bytes` as valid UTF-8 without a byte order mark, in chunks of any size.
 *
 * The encoding is `declared`; without it, that of the byte order mark, then the charset of the server (not for JSON), then the result of `sniff` for the first bytes (at most 256), then
 * UTF-16 or UTF-32 by the pattern of zero bytes in ASCII text, then UTF-8. For a declared `utf-16` or `utf-32`, the mark or the zero bytes
 * give the byte order; the default is big-endian. Memory: one chunk.
 *
 * @param input the document's name for messages, already redacted
 * @throws Fault source/encoding — at once for an unknown label; while reading for bytes that are invalid in the encoding, with the byte
 * offset in the original document if that is UTF-8 or UTF-32; source/type — the first bytes are those of a file that is no text, or
 * those of an HTML page where CSV or JSON is read
 * @see https://www.rfc-editor.org/rfc/rfc2781#section-4.3 and https://encoding.spec.whatwg.org/#names-and-labels
 */
export function toUtf8(
  bytes: Bytes,
  declared: string | undefined,
  sniff?: Sniff,
  input?: string,
  format?: TextFormatName,
  served?: Served,
): AsyncIterable<Uint8Array> {
  const label = declared === undefined ? undefined : canonicalEncoding(declared, input);
  return transcode(bytes, label, sniff, input, format, served);
}

/** Formats that are read as text. */
export type TextFormatName = 'CSV' | 'JSON' | 'XML';

type Sniff = (head: Uint8Array) => string | undefined;

async function* transcode(
  bytes: Bytes,
  label: string | undefined,
  sniff: Sniff | undefined,
  input: string | undefined,
  format: TextFormatName | undefined,
  served: Served | undefined,
): AsyncGenerator<Uint8Array> {
  const chunks = bytes[Symbol.asyncIterator]();
  try {
    const first: Uint8Array[] = [];
    let firstBytes = 0;
    let ended = false;
    while (firstBytes < HEAD_BYTES && !ended) {
      const next = await chunks.next();
      if (next.done === true) ended = true;
      else {
        first.push(next.value);
        firstBytes += next.value.length;
      }
    }
    const head = Buffer.concat(first.map((chunk) => chunk.subarray(0, HEAD_BYTES)));
    assertText(head, input);
    // A page may be XML, too.
    if ((format === 'CSV' || format === 'JSON') && isPage(head, served)) throw pageFault(format, input, served);
    // JSON is UTF-8, whatever the server says (RFC 8259, section 11).
    const charset = format === 'JSON' ? undefined : served?.charset;
    const { encoding, skip } = settle(head, label, sniff, input, charset);
    const convert =
      served?.charset === undefined || label !== undefined
        ? converter(encoding, skip, input)
        : told(converter(encoding, skip, input), served.charset);
    let left = skip;
    for (const chunk of first) {
      const mark = Math.min(left, chunk.length);
      left -= mark;
      if (mark < chunk.length) yield* some(convert(chunk.subarray(mark), false));
    }
    while (!ended) {
      const next = await chunks.next();
      if (next.done === true) ended = true;
      else yield* some(convert(next.value, false));
    }
    yield* some(convert(new Uint8Array(0), true));
  } finally {
    await chunks.return?.();
  }
}

/** The same, with what the server says of the encoding in the hint of a fault. */
function told(convert: Convert, charset: string): Convert {
  return (chunk, end) => {
    try {
      return convert(chunk, end);
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      throw error.with({ hint: `The server says charset=${charset}. ${DECLARE}` });
    }
  };
}

const DECLARE =
  'If the file has another encoding, for example windows-1252, declare it with rml:encoding (in YARRRML: encoding) in the mapping or with --encoding on the command line, or convert the file';

function* some(chunk: Uint8Array): Generator<Uint8Array> {
  if (chunk.length > 0) yield chunk;
}

/** The encoding of a document that begins with `head`, and the length of its byte order mark. */
function settle(
  head: Uint8Array,
  label: string | undefined,
  sniff: ((head: Uint8Array) => string | undefined) | undefined,
  input: string | undefined,
  charset?: string,
): { readonly encoding: string; readonly skip: number } {
  const found = MARKS.find(([mark]) => mark.every((byte, i) => head[i] === byte));
  const marked = found === undefined ? undefined : { encoding: found[1], skip: found[0].length };
  if (label === undefined) {
    if (marked !== undefined) return marked;
    if (charset !== undefined) return settle(head, servedEncoding(charset, input), undefined, input);
    const told = sniff?.(head.subarray(0, HEAD_BYTES));
    const zeros = zeroPattern(head);
    // A declaration that is readable byte by byte is not in UTF-16, whatever it says; in UTF-16 there would be zero bytes.
    if (told !== undefined && zeros === undefined) {
      const name = canonicalEncoding(told, input);
      return { encoding: name.startsWith('utf-16') || name.startsWith('utf-32') ? 'utf-8' : name, skip: 0 };
    }
    return { encoding: zeros ?? 'utf-8', skip: 0 };
  }
  // FF FE 00 00 is also UTF-16 that begins with NUL; the declaration decides.
  if (label === 'utf-16' && head[0] === 0xff && head[1] === 0xfe) return { encoding: 'utf-16le', skip: 2 };
  if (marked?.encoding.startsWith(label)) return marked;
  if (label === 'utf-16' || label === 'utf-32') {
    const zeros = zeroPattern(head);
    return { encoding: zeros?.startsWith(label) ? zeros : `${label}be`, skip: 0 };
  }
  return { encoding: label, skip: 0 };
}

/** @throws Fault source/encoding — the server names an encoding that is not known */
function servedEncoding(charset: string, input: string | undefined): string {
  try {
    return canonicalEncoding(charset, input);
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    throw error.with({
      message: `The server says charset=${charset}, which is not known`,
      hint: `Name the encoding with rml:encoding in the mapping, or with --encoding on the command line. ${error.hint}`,
    });
  }
}

/** The length of the byte order mark (0 or 3) of a document that begins with `head`; undefined: it is not UTF-8. */
export function utf8Mark(head: Uint8Array, declared: string | undefined): number | undefined {
  const label = declared === undefined ? undefined : canonicalEncoding(declared);
  const { encoding, skip } = settle(head, label, undefined, undefined);
  return encoding === 'utf-8' ? skip : undefined;
}

/** UTF-16 or UTF-32 without a mark, recognised by the zero bytes of two ASCII characters (one in UTF-32). */
function zeroPattern(head: Uint8Array): string | undefined {
  if (head.length < 4) return undefined;
  const shape = [0, 1, 2, 3].map((i) => (head[i] === 0 ? '0' : 'x')).join('');
  return { x000: 'utf-32le', '000x': 'utf-32be', x0x0: 'utf-16le', '0x0x': 'utf-16be' }[shape];
}

/** Converts chunk after chunk to UTF-8; `end` is true for the last (empty) one. `skip`: bytes before the first chunk. */
type Convert = (chunk: Uint8Array, end: boolean) => Uint8Array;

function converter(encoding: string, skip: number, input: string | undefined): Convert {
  if (encoding === 'utf-8') return checkUtf8(skip, input);
  if (encoding.startsWith('utf-32')) return fromUtf32(encoding === 'utf-32le', skip, input);
  const decoder = new TextDecoder(encoding, { fatal: true, ignoreBOM: true });
  let offset = skip;
  return (chunk, end) => {
    try {
      const text = decoder.decode(chunk, { stream: !end });
      offset += chunk.length;
      return Buffer.from(text, 'utf8');
    } catch (cause) {
      throw new Fault('source/encoding', `The input is not valid ${encoding}`, {
        place: { ...place(input), byte: offset },
        hint: `The first wrong bytes are within ${Math.max(chunk.length, 4)} bytes of that offset; name the encoding that the file really has`,
        cause,
      });
    }
  };
}

/** Passes chunks through unchanged; a character that spans two chunks is validated when it is complete. */
function checkUtf8(skip: number, input: string | undefined): Convert {
  const split = Buffer.alloc(4);
  let held = 0;
  let offset = skip;
  const fail = (byte: number, value: number | undefined): never => {
    const found = value === undefined ? 'it ends within a character' : `byte 0x${value.toString(16).padStart(2, '0')} is out of place`;
    throw new Fault('source/encoding', `The input is not valid UTF-8: ${found}`, {
      place: { ...place(input), byte },
      hint: DECLARE,
    });
  };
  return (chunk, end) => {
    let from = 0;
    if (held > 0) {
      const whole = sequenceLength(split[0] as number);
      while (held < whole && from < chunk.length) split[held++] = chunk[from++] as number;
      if (held === whole) {
        if (!isUtf8(split.subarray(0, whole))) fail(offset + from - whole, split[0]);
        held = 0;
      } else if (end) fail(offset - held, undefined);
    }
    const to = held > 0 ? chunk.length : wholeUntil(chunk, from);
    if (from < to && !isUtf8(chunk.subarray(from, to))) {
      const at = findInvalid(chunk, from, to);
      fail(offset + at, chunk[at]);
    }
    for (let i = to; i < chunk.length; i++) split[held++] = chunk[i] as number;
    offset += chunk.length;
    return chunk;
  };
}

const sequenceLength = (lead: number): number => (lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 1);

/** End of the last complete character: at most three bytes before the end of the chunk. */
function wholeUntil(chunk: Uint8Array, from: number): number {
  for (let back = 1; back <= 3 && chunk.length - back >= from; back++) {
    const byte = chunk[chunk.length - back] as number;
    if (byte >= 0xc0) return sequenceLength(byte) > back ? chunk.length - back : chunk.length;
    if (byte < 0x80) break;
  }
  return chunk.length;
}

/** Position of the first invalid character in a range that contains one. */
function findInvalid(chunk: Uint8Array, from: number, to: number): number {
  let at = from;
  while (at < to) {
    const lead = chunk[at] as number;
    const length = sequenceLength(lead);
    if (lead >= 0x80 && !isUtf8(chunk.subarray(at, Math.min(at + length, to)))) return at;
    at += length;
  }
  return from;
}

function fromUtf32(little: boolean, skip: number, input: string | undefined): Convert {
  let rest: Uint8Array = new Uint8Array(0);
  let offset = skip;
  return (chunk, end) => {
    const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    const length = bytes.length - (bytes.length % 4);
    let text = '';
    for (let i = 0; i < length; i += 4) {
      const point = view.getUint32(i, little);
      if (point > 0x10ffff || (point >= 0xd800 && point <= 0xdfff)) {
        throw new Fault('source/encoding', `The input is not valid UTF-32: 0x${point.toString(16)} is no character`, {
          place: { ...place(input), byte: offset + i },
        });
      }
      text += String.fromCodePoint(point);
    }
    offset += length;
    rest = Uint8Array.prototype.slice.call(bytes, length);
    if (end && rest.length > 0) {
      throw new Fault('source/encoding', 'The input is not valid UTF-32: it ends within a character', {
        place: { ...place(input), byte: offset },
      });
    }
    return Buffer.from(text, 'utf8');
  };
}

const place = (input: string | undefined): FaultPlace => (input === undefined ? {} : { input });
