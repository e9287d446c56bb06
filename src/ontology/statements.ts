/** The statements of a document, by the parsers of oxigraph, which read every syntax. */

import { Fault } from '../core/fault.ts';
import { RDF_SYNTAXES, type RdfSyntax } from '../core/input/rdf-syntaxes.ts';
import oxigraph from '../oxigraph/oxigraph.ts';
import { isAboutTerms, type Value } from './terms.ts';

export interface Document {
  readonly bytes: Uint8Array;
  /** Nothing follows. */
  readonly isWhole: boolean;
  readonly syntax: RdfSyntax;
  /** Of relative IRIs. */
  readonly base: string;
  /** For messages. */
  readonly name: string;
}

/** Blank nodes begin with `_:`. */
export type Take = (subject: string, predicate: string, value: Value) => void;

const CHUNK_BYTES = 64 * 1024;
const NEWLINE = 0x0a;

/** The document goes on after what was read of it. */
class Cut extends Error {}

/**
 * Passes on the statements that are about terms, without their graphs.
 *
 * @param most how many statements are read
 * @returns how many there are, and whether there are more
 * @throws Fault source/malformed
 */
export function readStatements(document: Document, most: number, take: Take): { readonly count: number; readonly isCut: boolean } {
  const progress = { line: 0 };
  let count = 0;
  try {
    const { syntax, base } = document;
    // Lenient: a wrong IRI is no reason to refuse the others. Of JSON-LD, leniency would make statements of any JSON.
    const options = { format: RDF_SYNTAXES[syntax].mediaTypes[0], base_iri: base, lenient: syntax !== 'jsonld' };
    for (const quad of oxigraph.parse(piecesOf(document, progress), options)) {
      if (count === most) return { count, isCut: true };
      count++;
      passOn(quad, take);
    }
    return { count, isCut: false };
  } catch (error) {
    if (error instanceof Cut) return { count, isCut: true };
    // Afterwards the state of the parser is undefined: the owner of this thread has to end it.
    if (error instanceof WebAssembly.RuntimeError) throw error;
    throw malformed(error as Error, document, progress.line);
  }
}

interface Freed {
  free(): void;
}

/** Frees what it has seen: what waits for the garbage collector makes reading ten times slower. */
function passOn(quad: oxigraph.Quad, take: Take): void {
  const { predicate } = quad;
  const name = predicate.value;
  const parts: unknown[] = [quad, predicate];
  if (isAboutTerms(name)) {
    const { subject, object } = quad;
    parts.push(subject, object);
    const value: Value | undefined =
      object.termType === 'Literal'
        ? { kind: 'literal', text: object.value, language: object.language }
        : object.termType === 'Quad'
          ? undefined
          : { kind: 'node', node: nodeOf(object) };
    if (value !== undefined && subject.termType !== 'Quad') take(nodeOf(subject), name, value);
  }
  for (const part of parts) (part as Freed).free();
}

const nodeOf = ({ termType, value }: { readonly termType: string; readonly value: string }): string =>
  termType === 'BlankNode' ? `_:${value}` : value;

/** XML by lines, since its parser does not say where an error is; the other syntaxes in chunks. Ends with `Cut` where the document goes on. */
function* piecesOf({ bytes, isWhole, syntax }: Document, progress: { line: number }): Generator<Uint8Array> {
  for (let from = 0; from < bytes.length; ) {
    const end = syntax === 'rdfxml' ? bytes.indexOf(NEWLINE, from) + 1 || bytes.length : Math.min(from + CHUNK_BYTES, bytes.length);
    progress.line++;
    yield bytes.subarray(from, end);
    from = end;
  }
  if (!isWhole) throw new Cut();
}

/** `Parser error at line 3 column 2: …`, `Parser error between line 2 column 7 and line 3 column 3: …` */
const PLACED = /^Parser error (?:at|between) line (\d+) (?:column|between columns) (\d+)[^:]*: ([^]*)$/;
const ENCODING = /\butf-?8\b/i;

function malformed({ message }: Error, { syntax, name }: Document, line: number): Fault {
  const [, atLine, atColumn, reason = message] = PLACED.exec(message) ?? [];
  const at = atLine !== undefined ? `, line ${atLine}, column ${atColumn},` : syntax === 'rdfxml' && line > 0 ? `, line ${line},` : '';
  const place = {
    input: name,
    ...(atLine !== undefined ? { line: Number(atLine), column: Number(atColumn) } : at !== '' && { line }),
  };
  const called = RDF_SYNTAXES[syntax].name;
  if (ENCODING.test(reason)) {
    return new Fault('source/encoding', `${name}${at} is not in UTF-8: ${reason}`, { place, hint: 'Convert the file to UTF-8' });
  }
  return new Fault('source/malformed', `${name}${at} is not well-formed ${called}: ${reason}`, { place, hint: hintFor(reason, called) });
}

const hintFor = (reason: string, called: string): string =>
  reason.includes('LoadDocumentCallback')
    ? 'A context at another address is not loaded: write the context into the document'
    : `Correct the file, or give the ontology in another syntax than ${called}`;
