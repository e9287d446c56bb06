/**
 * Reads N-Quads: bytes → checked statements in canonical text.
 *
 * A line whose terms cannot be separated, or that ends before its full stop, is not N-Quads. By default reading ends there with a fault; with
 * `rejectsLines` the line is rejected, and reading continues. A file that ends within a statement was cut off, and a file that begins with bad
 * lines alone is of another type: both end with a fault either way. A line that is a statement but has a term that must not be sent to a store
 * is rejected, and reading continues: relative IRIs, IRIs that are invalid by RFC 3987, bytes that are not UTF-8, escapes of non-characters, terms of RDF 1.2 that the target
 * does not take. Literals that
 * are invalid for their datatype are legal RDF and pass. Language tags are kept as written; `xsd:string` is removed.
 *
 * @see https://www.w3.org/TR/n-quads/
 */
import { isUtf8 } from 'node:buffer';
import { excerpt, Fault } from '../core/fault.ts';
import { fromBytes } from '../core/text.ts';
import { findNotUtf8, type TermProblem } from './check.ts';
import { LineReader, NotNQuads } from './line.ts';
import type { RejectedStatement, Statement } from './statement.ts';

export interface ReadOptions {
  /** Redacted URL, for messages. */
  readonly input: string;
  /** Label without `_:` → IRI without brackets; undefined: blank nodes are kept. */
  readonly skolem: ((label: string) => string) | undefined;
  /** Whether triples may be terms: `<< s p o >>`, and as objects `<<( s p o )>>`. Otherwise their statements are rejected. */
  readonly takesTriples?: boolean;
  /** Whether a line that is not N-Quads is rejected; otherwise it ends the reading. */
  readonly rejectsLines?: boolean;
  /** Where `bytes` begin: the `end` of a block. */
  readonly from?: InputPosition;
  /** Maximum length of a line; default 64 MB. */
  readonly maxLineBytes?: number;
}

/** A position between two lines: the number of bytes and lines before it. */
export interface InputPosition {
  readonly byte: number;
  readonly line: number;
}

export interface StatementBlock {
  readonly statements: readonly Statement[];
  /** Statements with bad terms and, with `rejectsLines`, lines that are not N-Quads, in the order of the lines. */
  readonly rejected: readonly RejectedStatement[];
  /** The position after the last line of the block. */
  readonly end: InputPosition;
}

const LF = 10;
const CR = 13;
const HASH = 35;
const MAX_LINE_BYTES = 64 * 2 ** 20;
const BLOCK_BYTES = 128 * 2 ** 10;
/** Maximum length of the text of a rejected statement. */
const MAX_STATEMENT_CHARACTERS = 16 * 2 ** 10;

/**
 * The statements of `bytes` (N-Quads in UTF-8), in order.
 *
 * A block holds about 128 KB of input, or one longer line. Strings of a statement are slices of their block's text and keep it alive:
 * `detach` what outlives a few blocks. Memory: two blocks, or twice the longest line. Closes `bytes`.
 *
 * @throws Fault source/malformed — a line that is not N-Quads, or a truncated file: input, line, byte, value. With `rejectsLines`: a truncated
 * file, or one whose first block has such lines and not a single statement
 * @throws Fault limit/exceeded — a line longer than `maxLineBytes`
 */
export async function* readStatements(
  bytes: AsyncIterable<Uint8Array>,
  options: ReadOptions,
): AsyncGenerator<StatementBlock, void, undefined> {
  const reader = new LineReader(options.skolem, options.takesTriples ?? false);
  let end: InputPosition = options.from ?? { byte: 0, line: 0 };
  let isNQuads = end.byte > 0;
  for await (const { lines, cutOff } of wholeLines(bytes, options, () => end)) {
    const { firstBad, ...block } = readBlock(reader, lines, cutOff, end, options);
    end = block.end;
    isNQuads ||= block.statements.length > 0;
    if (!isNQuads && firstBad !== undefined) throw firstBad;
    yield block;
  }
}

interface WholeLines {
  /** Complete lines, each with its line end. */
  readonly lines: Buffer;
  /** The last line has no line end in the input: one was added. */
  readonly cutOff: boolean;
}

/** Cuts the input after line ends, into blocks; a line end of two bytes is not split. */
async function* wholeLines(
  bytes: AsyncIterable<Uint8Array>,
  options: ReadOptions,
  position: () => InputPosition,
): AsyncGenerator<WholeLines, void, undefined> {
  const longest = options.maxLineBytes ?? MAX_LINE_BYTES;
  let held: Uint8Array[] = [];
  let heldBytes = 0;
  let wanted = BLOCK_BYTES;
  for await (const chunk of bytes) {
    held.push(chunk);
    heldBytes += chunk.length;
    if (heldBytes < wanted) continue;
    const buffer = Buffer.concat(held, heldBytes);
    const cut = lastLineEnd(buffer);
    if (cut > 0) yield { lines: buffer.subarray(0, cut), cutOff: false };
    const rest = buffer.subarray(cut);
    if (rest.length > longest) throw tooLong(longest, position(), options.input);
    held = [rest];
    heldBytes = rest.length;
    // Reads grow with a long line, so that the search for its end stays linear.
    wanted = Math.max(BLOCK_BYTES, Math.min(heldBytes * 2, longest + 1));
  }
  if (heldBytes === 0) return;
  const last = held[held.length - 1]?.at(-1);
  const cutOff = last !== LF && last !== CR;
  yield { lines: Buffer.concat(cutOff ? [...held, Buffer.from('\n')] : held), cutOff };
}

/** The position after the last line end that is certainly complete; 0: none. */
function lastLineEnd(buffer: Buffer): number {
  const feed = buffer.lastIndexOf(LF);
  if (feed >= 0) return feed + 1;
  return buffer.length < 2 ? 0 : buffer.lastIndexOf(CR, buffer.length - 2) + 1;
}

interface ReadBlock extends StatementBlock {
  /** Of the first line that is not N-Quads. */
  readonly firstBad: Fault | undefined;
}

function readBlock(reader: LineReader, lines: Buffer, cutOff: boolean, from: InputPosition, options: ReadOptions): ReadBlock {
  const { input } = options;
  const longest = options.maxLineBytes ?? MAX_LINE_BYTES;
  const text = lines.toString('latin1');
  const valid = isUtf8(lines);
  const statements: Statement[] = [];
  const rejected: RejectedStatement[] = [];
  let firstBad: Fault | undefined;
  reader.load(lines, text);
  let at = from.byte === 0 && lines[0] === 0xef && lines[1] === 0xbb && lines[2] === 0xbf ? 3 : 0;
  let line = from.line;
  const lineEndsAt = cutOff ? lines.length - 1 : lines.length;
  while (at < lines.length) {
    const start = at;
    line++;
    while (lines[at] === 32 || lines[at] === 9) at++;
    const first = lines[at];
    try {
      if (first === LF || first === CR || first === HASH) at = reader.end(at);
      else {
        at = reader.read(at);
        if (cutOff && reader.touchingStop === lineEndsAt - 1) throw new NotNQuads(at, 'a line end behind the full stop');
        const problem = (valid ? undefined : encodingProblem(text, start, at)) ?? reader.problem;
        if (problem === undefined) {
          const { subject, predicate, object, graph } = reader;
          statements.push({ subject, predicate, object, graph, line });
        } else rejected.push(rejection(problem, text.slice(start, at), input, line, from.byte + problem.at));
      }
    } catch (error) {
      if (!(error instanceof NotNQuads)) throw error;
      const fault = malformed(error, { text, start, line, lineEndsAt, cutOff, input, offset: from.byte });
      at = lineEnd(lines, start);
      if (options.rejectsLines !== true || (cutOff && error.at >= lineEndsAt)) throw fault;
      firstBad ??= fault;
      rejected.push({ input, line, statement: shown(text.slice(start, at)), fault: fault.toJSON() });
      reader.load(lines, text);
    }
    if (at - start > longest) throw tooLong(longest, { byte: from.byte + start, line: line - 1 }, input);
    at += lines[at] === CR && lines[at + 1] === LF ? 2 : 1;
  }
  return { statements, rejected, end: { byte: from.byte + lineEndsAt, line }, firstBad };
}

/** The position of the line end that follows `from`; `lines` end with one. */
function lineEnd(lines: Uint8Array, from: number): number {
  let at = from;
  while (lines[at] !== LF && lines[at] !== CR) at++;
  return at;
}

function encodingProblem(text: string, start: number, end: number): TermProblem | undefined {
  const at = findNotUtf8(text.slice(start, end));
  if (at < 0) return undefined;
  const byte = text
    .charCodeAt(start + at)
    .toString(16)
    .padStart(2, '0');
  return {
    message: `A statement is not in UTF-8: byte 0x${byte} is out of place`,
    at: start + at,
    hint: 'N-Quads is UTF-8: convert the file if it has another encoding, for example windows-1252',
  };
}

function rejection(problem: TermProblem, statement: string, input: string, line: number, byte: number): RejectedStatement {
  const { message, hint } = problem;
  const text = shown(statement);
  return {
    input,
    line,
    statement: text,
    fault: { code: 'record/term', message, place: { input, line, byte, value: excerpt(text) }, hint },
  };
}

const shown = (statement: string): string =>
  fromBytes(statement.slice(0, MAX_STATEMENT_CHARACTERS * 4))
    .trim()
    .slice(0, MAX_STATEMENT_CHARACTERS);

interface BadLine {
  readonly text: string;
  readonly start: number;
  readonly line: number;
  readonly lineEndsAt: number;
  readonly cutOff: boolean;
  readonly input: string;
  /** Bytes of the input before `text`. */
  readonly offset: number;
}

function malformed(error: NotNQuads, { text, start, line, lineEndsAt, cutOff, input, offset }: BadLine): Fault {
  const value = excerpt(fromBytes(text.slice(start, Math.min(start + 400, lineEndsAt))).split(/[\r\n]/, 1)[0] as string);
  const place = { input, line, byte: offset + Math.min(error.at, lineEndsAt), value };
  if (cutOff && error.at >= lineEndsAt) {
    return new Fault('source/malformed', `The file ends within a statement, where ${error.expected} was expected: it was cut off`, {
      place,
      hint: 'Write or copy the file again',
    });
  }
  return new Fault('source/malformed', `A line is not N-Quads: ${error.expected} was expected`, {
    place,
    hint: /^\s*@?(?:prefix|base)\s/i.test(text.slice(start, start + 40))
      ? IS_TURTLE
      : (error.hint ?? 'Each line has one statement of RDF 1.1: <subject> <predicate> object <graph> .'),
  });
}

const IS_TURTLE =
  'It is a declaration of Turtle or TriG: --input-format turtle or trig says so on the command line, the ending .ttl or .trig of a file';

const tooLong = (longest: number, { byte, line }: InputPosition, input: string): Fault =>
  new Fault('limit/exceeded', `A line is longer than the ${longest} bytes that are allowed`, {
    place: { input, line: line + 1, byte },
    hint: 'Look for a line end that is missing',
  });
