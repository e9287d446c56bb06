/** The classes and properties of an ontology: a file or an address with RDF. */
import { LinkedAbort } from '../core/abort.ts';
import { Fault } from '../core/fault.ts';
import { RDF_SYNTAXES, type RdfSyntax } from '../core/input/rdf-syntaxes.ts';
import { redact } from '../core/redact.ts';
import { beginningOf, TimeOver } from '../sampling/beginning.ts';
import type { SampleOptions } from '../sampling/options.ts';
import { openInput } from '../storage/open.ts';
import { checkEntities, checkRootIsClosed, checkValues } from './bounds.ts';
import { prefixesOf } from './prefixes.ts';
import { type Document, readStatements } from './statements.ts';
import { syntaxOf } from './syntax.ts';
import { type OntologyTerm, TermCollector } from './terms.ts';

export interface OntologyQuestion {
  readonly location: string;
  /** undefined: what the document shows, else its name or media type. */
  readonly format?: RdfSyntax | undefined;
}

export type OntologyAccess = Pick<SampleOptions, 'workingDirectory' | 'reach' | 'web' | 'limits'>;

export interface OntologyAnswer {
  readonly format: RdfSyntax;
  readonly terms: readonly OntologyTerm[];
  /** Prefix → namespace of terms. */
  readonly prefixes: Readonly<Record<string, string>>;
  /** That were read, about whatever. */
  readonly statements: number;
  readonly bytesRead: number;
  /** What was left out, in sentences. */
  readonly cut: readonly string[];
}

const MOST_BYTES = 20_000_000;
const MOST_STATEMENTS = 200_000;
const MOST_TERMS = 20_000;
/** An answer stands in the queue. */
const MOST_ANSWER_BYTES = 4 * 2 ** 20;
const HEAD_BYTES = 16 * 1024;
/** Of files: IRIs that are relative to a file name nothing. */
const FILE_BASE = 'file:///';
const ACCEPT = Object.values(RDF_SYNTAXES)
  .map(({ mediaTypes: [type] }, i) => `${type};q=${(10 - i) / 10}`)
  .join(', ');

/**
 * @param until when the answer has to be there, in milliseconds since 1970: of a slow document it has what came by then
 * @throws Fault of `openInput`; source/type, source/malformed, source/encoding — it is no RDF; limit/exceeded
 */
export async function readOntology({ location, format }: OntologyQuestion, access: OntologyAccess, until: number): Promise<OntologyAnswer> {
  const { workingDirectory, reach, web, limits } = access;
  const name = redact(location);
  const ask = { headers: { accept: `${ACCEPT}, */*;q=0.1` }, promptly: true };
  const over = new LinkedAbort([], Math.max(0, until - Date.now()));
  let input: Awaited<ReturnType<typeof openInput>> | undefined;
  try {
    input = await openInput(location, { workingDirectory, reach, limits, web, s3: web.s3, ask, signal: over.signal });
    const beginning = await beginningOf(inTime(input.bytes, over), MOST_BYTES);
    const bytes = withoutMark(beginning.bytes.subarray(0, MOST_BYTES), name);
    const head = bytes.subarray(0, HEAD_BYTES).toString();
    if (head.trim() === '') throw noRdf(name, 'it is empty');
    const syntax = format ?? syntaxOf(location, input.mediaType, head, name);
    const base = input.web?.address ?? FILE_BASE;
    return answerOf({ bytes, isWhole: beginning.isWhole, isLate: over.timedOut && !beginning.isWhole, syntax, base, name });
  } catch (error) {
    if (!over.timedOut || (error instanceof Fault && error.code === 'limit/exceeded')) throw error;
    throw new Fault('limit/exceeded', `Nothing of ${name} came in time`, { place: { input: name }, hint: UPLOAD, cause: error });
  } finally {
    over.release();
    await input?.close();
  }
}

const UPLOAD = 'Ask again, or download it and add it as a file';

/** Chunks, until the time is over. */
async function* inTime(chunks: AsyncIterable<Uint8Array>, over: LinkedAbort): AsyncGenerator<Uint8Array> {
  try {
    yield* chunks;
  } catch (error) {
    throw over.timedOut ? new TimeOver() : error;
  }
}

interface ReadDocument extends Document {
  readonly bytes: Buffer;
  /** There was no time for the rest. */
  readonly isLate: boolean;
}

function answerOf(document: ReadDocument): OntologyAnswer {
  const { bytes, isWhole, isLate, syntax, name } = document;
  check(document);
  const collector = new TermCollector();
  const { count, isCut } = readStatements(document, MOST_STATEMENTS, (...statement) => collector.add(...statement));
  if (count === 0)
    throw noRdf(name, syntax === 'jsonld' ? 'its JSON has no statement: without @context it is no JSON-LD' : 'it has no statement');
  const cut: string[] = [];
  if (isLate) cut.push(`Only the first ${bytes.length.toLocaleString('en')} bytes were read: there was no time for more.`);
  else if (!isWhole) cut.push(`Only the first ${MOST_BYTES / 1e6} MB were read.`);
  else if (isCut) cut.push(`Only the first ${MOST_STATEMENTS.toLocaleString('en')} statements were read.`);
  const { terms } = bounded(collector, cut);
  const prefixes = prefixesOf(
    bytes.toString(),
    syntax,
    terms.map(({ iri }) => iri),
  );
  return { format: syntax, terms, prefixes, statements: count, bytesRead: bytes.length, cut };
}

function check({ bytes, isWhole, isLate, syntax, name }: ReadDocument): void {
  if (syntax === 'rdfxml') {
    checkEntities(bytes, MOST_BYTES, name);
    if (isWhole) checkRootIsClosed(bytes, name);
  }
  if (syntax !== 'jsonld') return;
  checkValues(bytes, MOST_STATEMENTS, name);
  if (isWhole) return;
  if (isLate)
    throw new Fault('limit/exceeded', `Only a part of ${name} came in time, and JSON-LD is read as a whole`, {
      place: { input: name },
      hint: UPLOAD,
    });
  throw new Fault('limit/exceeded', `${name} is larger than ${MOST_BYTES / 1e6} MB`, {
    place: { input: name },
    hint: 'JSON-LD is read as a whole. Give the ontology as Turtle, of which the beginning is read',
  });
}

/** The terms that an answer has room for. @param cut takes what is left out */
function bounded(collector: TermCollector, cut: string[]): Pick<OntologyAnswer, 'terms'> {
  const terms: OntologyTerm[] = [];
  let bytes = 0;
  let all = 0;
  let relative = 0;
  for (const term of collector.terms()) {
    if (term.iri.startsWith(FILE_BASE)) {
      relative++;
      continue;
    }
    all++;
    bytes += Buffer.byteLength(JSON.stringify(term));
    if (terms.length < MOST_TERMS && bytes <= MOST_ANSWER_BYTES) terms.push(term);
  }
  if (terms.length < all)
    cut.push(`Only the first ${terms.length.toLocaleString('en')} of ${all.toLocaleString('en')} classes and properties are given.`);
  if (relative > 0)
    cut.push(`${relative} classes and properties have IRIs relative to the file, which names nothing: the file needs a base IRI.`);
  return { terms };
}

/** Without the byte order mark of UTF-8. @throws Fault source/encoding — the mark of another encoding */
function withoutMark(bytes: Buffer, name: string): Buffer {
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) return bytes.subarray(3);
  const mark = bytes.length > 1 ? bytes.readUInt16BE(0) : 0;
  if (mark !== 0xfeff && mark !== 0xfffe) return bytes;
  throw new Fault('source/encoding', `${name} is in UTF-16`, { place: { input: name }, hint: 'Convert the file to UTF-8' });
}

const noRdf = (name: string, reason: string): Fault =>
  new Fault('source/malformed', `${name} is no RDF: ${reason}`, {
    place: { input: name },
    hint: 'Give the ontology as Turtle, N-Triples, TriG, RDF/XML or JSON-LD',
  });
