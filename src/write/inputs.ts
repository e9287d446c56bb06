/** The inputs of a write: their types, their versions, and their statements from a given position on. */

import { createHash, randomUUID } from 'node:crypto';
import { stat } from 'node:fs/promises';
import { isAbsolute } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Fault } from '../core/fault.ts';
import { HASH_VERSION } from '../core/hash.ts';
import { RDF_SYNTAXES, type RdfSyntax, syntaxOfExtension, syntaxOfMediaType } from '../core/input/rdf-syntaxes.ts';
import { boundOf, inputBytesFault } from '../core/limits.ts';
import { redact } from '../core/redact.ts';
import { BLANK_NAMES, described, type TripleNames } from '../nquads/described.ts';
import { type InputPosition, readStatements, type StatementBlock } from '../nquads/read.ts';
import { reified } from '../nquads/reified.ts';
import { skolemiser } from '../nquads/skolem.ts';
import type { Statement } from '../nquads/statement.ts';
import { type TurtleSyntax, turtleAsNQuads } from '../nquads/turtle.ts';
import { withoutCompression } from '../storage/compression.ts';
import { listParts } from '../storage/list.ts';
import { fileState } from '../storage/local/file.ts';
import { openInput, probeInput } from '../storage/open.ts';
import { USUAL_S3_ACCESS } from '../storage/s3-access.ts';
import type { InputState, OpenOptions } from '../storage/storage.ts';
import { fileNameOf, isObjectUrl, type Location, locate } from '../storage/url.ts';
import { isPropertyGraphTarget } from '../targets/property-graph.ts';
import type { GraphTarget } from '../targets/target.ts';
import type { WriteRequest, WriteSyntax } from './request.ts';

export interface WriteInput {
  readonly url: string;
  /** Redacted URL, for messages. */
  readonly name: string;
  /** The same for all forms of the address; without login. */
  readonly address: string;
  /** Changes when the content changes; undefined: changes cannot be detected. */
  readonly version: string | undefined;
  /** For reading in ranges; undefined: the input can be read only from its beginning. */
  readonly state: InputState | undefined;
  /** undefined: the media type of the answer tells. */
  readonly syntax: WriteSyntax | undefined;
}

export type InputRequest = Pick<
  WriteRequest,
  'inputs' | 'syntaxes' | 'syntax' | 'standardInput' | 'workingDirectory' | 'mode' | 'blankNodes' | 'skolemBase' | 'limits' | 's3' | 'reach'
>;

/**
 * Inspects every input without reading it. A directory stands for the parts in it: N-Quads, unless their names say something else.
 *
 * @param takesElements also accept files of nodes and edges
 * @throws Fault source/type — not an N-Quads file by its name; source/missing — a file that does not exist; limit/exceeded; those of `listParts`
 */
export async function examineInputs(request: InputRequest, signal: AbortSignal, takesElements = false): Promise<readonly WriteInput[]> {
  const found: WriteInput[] = [];
  for (const url of request.inputs) {
    const parts = isStandardInput(url, request) ? undefined : await listParts(url, request);
    if (parts === undefined) found.push(await examine(url, request, signal, takesElements && isGraphCsv(url)));
    else {
      checkParts(url, parts, request);
      for (const part of parts) {
        const syntax = request.syntax ?? (isPlainName(part) ? 'nquads' : undefined);
        found.push(await examine(part, { ...request, syntax }, signal, takesElements && isGraphCsv(part)));
      }
    }
  }
  return found;
}

/** Of a part: Spark names files of text without an extension, or with `.txt`. */
const isPlainName = (url: string): boolean => /^[^.]*(?:\.txt)?$/.test(withoutCompression(fileNameOf(url)));

/**
 * A job states a blank node in several parts, and a file whose blank nodes are kept has its own.
 *
 * @throws Fault config/invalid
 */
function checkParts(url: string, parts: readonly string[], { blankNodes }: InputRequest): void {
  if (blankNodes !== 'keep' || parts.length < 2) return;
  throw new Fault(
    'config/invalid',
    'Blank nodes cannot be kept: the parts of a directory have them in common, and are written one by one',
    {
      place: { input: redact(url) },
      hint: 'Set BLANK_NODES=skolem',
    },
  );
}

async function examine(url: string, request: InputRequest, signal: AbortSignal, isElements: boolean): Promise<WriteInput> {
  if (isStandardInput(url, request)) {
    // Two writes may have different documents there, so each has its own blank nodes.
    const address = `standard-input:${randomUUID()}`;
    return { url, name: 'standard input', address, version: undefined, state: undefined, syntax: request.standardInput };
  }
  const location = locate(url, request.workingDirectory);
  const name = redact(url);
  const syntax = location.kind === 'http' || isElements ? request.syntax : syntaxOf(url, undefined, request);
  const options = optionsOf(request, signal);
  const found = await probeInput(url, options);
  const { inputBytes } = request.limits;
  if ((found?.sizeBytes ?? 0) > boundOf(inputBytes)) throw inputBytesFault(inputBytes, { input: name });
  // Positions are those of the N-Quads that are made of it.
  const state = isTurtle(syntax) ? undefined : found;
  if (location.kind === 'http') {
    // Compressed inputs have no usable ranges, but may have a version.
    const version = found ?? (await (await import('../storage/web/http.ts')).httpState(location.url, { signal, reach: request.reach }));
    return { url, name, address: addressOf(location), version: version?.version, state, syntax };
  }
  if (location.kind === 's3') {
    const version = found ?? (await (await import('../storage/s3/read.ts')).s3State(location, request.s3 ?? USUAL_S3_ACCESS, signal));
    // Opening it gives the best error message.
    if (version === undefined) await (await openInput(url, options)).close();
    return { url, name, address: addressOf(location), version: version?.version, state, syntax };
  }
  const there = await stat(location.path).catch(() => undefined);
  // Opening it gives the best error message.
  if (there === undefined) await (await openInput(url, options)).close();
  return { url, name, address: addressOf(location), version: (await fileState(location.path, request.reach))?.version, state, syntax };
}

const isStandardInput = (url: string, { standardInput }: Pick<InputRequest, 'standardInput'>): boolean =>
  url === '-' && standardInput !== undefined;

const isTurtle = (syntax: WriteSyntax | undefined): syntax is TurtleSyntax => syntax === 'turtle' || syntax === 'trig';

function addressOf(location: Location): string {
  if (location.kind === 'file') return location.path;
  if (location.kind === 's3') return `s3://${location.bucket}/${location.key}`;
  const url = new URL(location.url);
  url.username = '';
  url.password = '';
  url.hash = '';
  return url.href;
}

/** Whether the name is that of a file that may contain nodes or edges. */
export const isGraphCsv = (url: string): boolean => /\.csv$/i.test(withoutCompression(fileNameOf(url)));

/**
 * The syntax of an input: by the extension, ignoring that of a compression, then by the media type.
 *
 * @throws Fault source/type — the message names the extension and those that are expected
 */
function syntaxOf(
  url: string,
  mediaType: string | undefined,
  { syntaxes = ['nquads'], syntax }: Pick<InputRequest, 'syntaxes' | 'syntax'>,
): WriteSyntax {
  if (syntax !== undefined) return syntax;
  const name = withoutCompression(fileNameOf(url));
  const dot = name.lastIndexOf('.');
  const extension = dot > 0 ? name.slice(dot + 1) : undefined;
  const isTaken = (one: RdfSyntax | undefined): one is WriteSyntax => (syntaxes as readonly (RdfSyntax | undefined)[]).includes(one);
  const named = extension === undefined ? undefined : syntaxOfExtension(extension.toLowerCase());
  if (isTaken(named)) return named;
  const told = mediaType === undefined ? undefined : mediaType === 'text/x-nquads' ? 'nquads' : syntaxOfMediaType(mediaType);
  if (isTaken(told)) return told;
  const found = extension === undefined ? 'Input has no file extension' : `Input has the file extension '${extension}'`;
  const expected = syntaxes.map((one) => RDF_SYNTAXES[one].extensions[0]);
  const names = expected.length === 1 ? expected[0] : `one of ${expected.join(', ')}`;
  throw new Fault('source/type', `${found}${mediaType === undefined ? '' : ` and the media type ${mediaType}`}; expected is ${names}`, {
    place: { input: redact(url) },
    ...(extension === undefined && isObjectUrl(url) ? { hint: 'The address of a directory of objects ends with /' } : {}),
  });
}

/**
 * A text for everything on which a write position depends; undefined: some input has no version, so that no position is valid.
 *
 * @param target name of the store
 */
export function versionOf(
  inputs: readonly WriteInput[],
  request: Pick<WriteRequest, 'mode' | 'scope' | 'graphs' | 'blankNodes' | 'skolemBase'>,
  target: string,
): string | undefined {
  const versions = inputs.map(({ address, version }) => (version === undefined ? undefined : [address, version]));
  if (versions.includes(undefined)) return undefined;
  const { mode, scope, graphs = [], blankNodes, skolemBase } = request;
  const replaced = mode === 'update' ? [scope, ...graphs].join(' ') : '';
  return digest(JSON.stringify([HASH_VERSION, target, mode, replaced, blankNodes, skolemBase, versions]));
}

const digest = (text: string): string => createHash('sha256').update(text).digest('base64url').slice(0, 22);

/**
 * The common prefix of the IRIs of an input's blank nodes. The same input always gives the same IRIs. For an update, a new version of a
 * file is the same input, so that its nodes replace the old ones; for an insert, each version is a separate input.
 */
const seedOf = ({ address, version }: WriteInput, mode: WriteRequest['mode']): string =>
  digest(mode === 'update' || version === undefined ? address : `${address}\n${version}`);

/** RDF 1.2; nodes that describe them, in property graphs; or not at all: the statements are rejected. */
export type TripleSupport = 'terms' | 'nodes' | 'none';

export const tripleSupportOf = (target: GraphTarget): TripleSupport =>
  target.takesTripleTerms === true ? 'terms' : isPropertyGraphTarget(target) ? 'nodes' : 'none';

export interface ReadHooks {
  readonly signal: AbortSignal;
  readonly bytesRead: (bytes: number) => void;
}

/**
 * The statements of `input` after `from`.
 *
 * @param triples how statements with triples as terms are written
 * @throws Fault those of `openInput` and `readStatements`; run/lost — the input has changed since it was inspected
 */
export async function* readInput(
  input: WriteInput,
  from: InputPosition,
  request: InputRequest,
  { signal, bytesRead }: ReadHooks,
  triples: TripleSupport,
): AsyncGenerator<StatementBlock, void, undefined> {
  const skolem = request.blankNodes === 'keep' ? undefined : skolemiser(request.skolemBase, seedOf(input, request.mode));
  const size = input.state?.sizeBytes;
  if (size !== undefined && from.byte >= size && from.byte > 0) return;
  // An update writes nothing before it has read everything: a file that changes meanwhile does no harm if the change is detected.
  const inRange = input.state !== undefined && size !== 0 && (from.byte > 0 || (request.mode === 'update' && !isHttp(input)));
  const range =
    inRange && input.state !== undefined ? { from: from.byte, to: input.state.sizeBytes, version: input.state.version } : undefined;
  try {
    const standardInput = isStandardInput(input.url, request);
    const options = { ...optionsOf(request, signal), standardInput, ...(range === undefined ? {} : { range }) };
    const opened = await openInput(input.url, options);
    try {
      const syntax = input.syntax ?? syntaxOf(input.url, opened.mediaType, request);
      const turtle = isTurtle(syntax);
      const lines = turtle ? turtleAsNQuads(opened.bytes, { syntax, base: baseOf(input), input: input.name }) : opened.bytes;
      const counted = countBytes(range === undefined ? skip(lines, from.byte, input.name) : lines, bytesRead);
      const blocks = readStatements(counted, {
        // Lines of rejected statements are those of the N-Quads that are made of it.
        input: turtle ? `${input.name} (as N-Quads)` : input.name,
        skolem,
        from,
        takesTriples: triples !== 'none',
        // An update replaces what a file has of a subject: with a line whose subject cannot be read, it would remove too much.
        rejectsLines: request.mode === 'insert',
      });
      const written = writtenAs(triples, request);
      if (triples === 'none') yield* blocks;
      else for await (const block of blocks) yield { ...block, statements: block.statements.flatMap(written) };
    } finally {
      await opened.close();
    }
  } catch (error) {
    throw error instanceof Fault && error.code === 'run/lost' ? changed(input.name, error) : error;
  }
}

/** A statement as a target takes it, behind those that describe its triples. */
export function writtenAs(
  triples: TripleSupport,
  request: Pick<WriteRequest, 'blankNodes' | 'skolemBase'>,
): (statement: Statement) => readonly Statement[] {
  const names = tripleNames(request);
  switch (triples) {
    case 'terms':
      return (one) => reified(one, names.reifier);
    case 'nodes':
      return (one) => described(one, names);
    case 'none':
      return (one) => [one];
  }
}

/**
 * The nodes that stand for triples. They depend on the triple alone, so that all files mean the same node. (Where blank nodes are kept, a file
 * is one request, and its labels are its own.)
 */
function tripleNames({ blankNodes, skolemBase }: Pick<WriteRequest, 'blankNodes' | 'skolemBase'>): TripleNames {
  if (blankNodes === 'keep') return BLANK_NAMES;
  const [reifier, statement] = ['triple', 'statement'].map((seed) => skolemiser(skolemBase, seed)) as [Skolem, Skolem];
  return { reifier: (triple) => `<${reifier(digest(triple))}>`, statement: (triple) => `<${statement(digest(triple))}>` };
}

type Skolem = ReturnType<typeof skolemiser>;

/** The bytes of a file of nodes or edges, and the conversion of its blank nodes, as for files of statements. */
export async function openGraphCsv(
  input: WriteInput,
  request: InputRequest,
  { signal, bytesRead }: ReadHooks,
): Promise<{ readonly bytes: AsyncIterable<Uint8Array>; readonly skolem: (label: string) => string }> {
  const { bytes } = await openInput(input.url, optionsOf(request, signal));
  return { bytes: countBytes(bytes, bytesRead), skolem: skolemiser(request.skolemBase, seedOf(input, request.mode)) };
}

const isHttp = ({ address }: WriteInput): boolean => /^https?:/.test(address);

const optionsOf = ({ workingDirectory, reach, limits, s3 }: InputRequest, signal: AbortSignal): OpenOptions => ({
  workingDirectory,
  reach,
  signal,
  limits,
  s3,
});

const changed = (name: string, cause?: unknown): Fault =>
  new Fault('run/lost', `${name} has changed while it was written`, {
    place: { input: name },
    hint: 'Write files that no other process changes',
    cause,
  });

async function* countBytes(bytes: AsyncIterable<Uint8Array>, count: (bytes: number) => void): AsyncGenerator<Uint8Array, void, undefined> {
  for await (const chunk of bytes) {
    count(chunk.length);
    yield chunk;
  }
}

/** Of relative IRIs. */
const baseOf = ({ address }: WriteInput): string | undefined =>
  /^https?:/.test(address) ? address : isAbsolute(address) ? pathToFileURL(address).href : undefined;

/** @throws Fault run/lost — it is shorter */
async function* skip(bytes: AsyncIterable<Uint8Array>, count: number, name: string): AsyncGenerator<Uint8Array, void, undefined> {
  let left = count;
  for await (const chunk of bytes) {
    if (left >= chunk.length) left -= chunk.length;
    else {
      yield left === 0 ? chunk : chunk.subarray(left);
      left = 0;
    }
  }
  if (left > 0) throw changed(name);
}
