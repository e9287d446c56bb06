/** Turtle and TriG → the bytes of N-Quads, as a stream. */
import { DataFactory, type Literal, Parser, type Quad } from 'n3';
import { Fault } from '../core/fault.ts';
import { toBytes } from '../core/text.ts';

export type TurtleSyntax = 'turtle' | 'trig';

export interface TurtleOptions {
  readonly syntax: TurtleSyntax;
  /** Of relative IRIs; undefined: they stay relative, and the reader of N-Quads rejects their statements. */
  readonly base: string | undefined;
  /** Redacted URL, for messages. */
  readonly input: string;
}

/**
 * The statements of `bytes` (Turtle or TriG in UTF-8) as lines of N-Quads in UTF-8, in order. Blank nodes are numbered, so that the same
 * document always gives the same labels: `_:l-NAME` for the label NAME of the document, `_:n-NUMBER` for one without a label.
 *
 * Memory: the statements of one chunk. Closes `bytes`.
 *
 * @throws Fault source/malformed — not Turtle, or not UTF-8: input and line
 * @see https://www.w3.org/TR/turtle/ and https://www.w3.org/TR/trig/
 */
export async function* turtleAsNQuads(
  bytes: AsyncIterable<Uint8Array>,
  options: TurtleOptions,
): AsyncGenerator<Uint8Array, void, undefined> {
  const { syntax, base, input } = options;
  let lines: string[] = [];
  let failure: Error | undefined;
  let anonymous = 0;
  // A label of the document comes with its prefix, a node without label has no argument.
  const factory = { ...DataFactory, blankNode: (label?: string) => DataFactory.blankNode(label ?? `n-${anonymous++}`) };
  const parser = new Parser({
    format: syntax === 'trig' ? 'application/trig' : 'text/turtle',
    baseIRI: base,
    blankNodePrefix: '_:l-',
    factory,
  });
  const feed: { data: (text: string) => void; end: () => void } = { data: () => {}, end: () => {} };
  parser.parse(
    { on: (event: 'data' | 'end', listener: (text?: string) => void) => void (feed[event] = listener) } as never,
    (error: Error | null, quad: Quad | null) => {
      if (error) failure ??= error;
      else if (quad) lines.push(lineOf(quad));
    },
  );
  const decoder = new TextDecoder('utf-8', { fatal: true });
  for await (const chunk of bytes) {
    feed.data(decoded(decoder, chunk, input));
    if (failure !== undefined) break;
    if (lines.length > 0) yield Buffer.from(lines.join(''), 'latin1');
    lines = [];
  }
  if (failure === undefined) {
    feed.data(decoded(decoder, undefined, input));
    feed.end();
  }
  // What stands before a syntax error is written, as with a line of N-Quads.
  if (lines.length > 0) yield Buffer.from(lines.join(''), 'latin1');
  if (failure !== undefined) throw malformed(failure, syntax, input);
}

function decoded(decoder: TextDecoder, chunk: Uint8Array | undefined, input: string): string {
  try {
    return chunk === undefined ? decoder.decode() : decoder.decode(chunk, { stream: true });
  } catch (cause) {
    throw new Fault('source/malformed', 'The file is not in UTF-8', { place: { input }, hint: 'Convert it to UTF-8', cause });
  }
}

function malformed(error: Error & { context?: { line?: number } }, syntax: TurtleSyntax, input: string): Fault {
  const line = error.context?.line;
  const message = error.message.replace(/ on line \d+\.?$/, '');
  return new Fault('source/malformed', `The file is not ${syntax === 'trig' ? 'TriG' : 'Turtle'}: ${message}`, {
    place: line === undefined ? { input } : { input, line },
    cause: error,
  });
}

const lineOf = ({ subject, predicate, object, graph }: Quad): string =>
  `${textOf(subject)} ${textOf(predicate)} ${textOf(object)}${graph.termType === 'DefaultGraph' ? '' : ` ${textOf(graph)}`} .\n`;

const LANG_STRING = 'http://www.w3.org/1999/02/22-rdf-syntax-ns#langString';

/** One-byte text. The grammar of Turtle has no variables. */
function textOf(term: Quad['subject' | 'object' | 'graph'] | Quad): string {
  if ('subject' in term) return `<<( ${textOf(term.subject)} ${textOf(term.predicate)} ${textOf(term.object)} )>>`;
  if (term.termType === 'Literal') return literal(term);
  return term.termType === 'BlankNode' ? `_:${toBytes(term.value)}` : `<${toBytes(term.value)}>`;
}

const ESCAPES: Readonly<Record<string, string>> = { '"': '\\"', '\\': '\\\\', '\n': '\\n', '\r': '\\r' };

function literal({ value, language, datatype, ...rest }: Literal & { direction?: string }): string {
  const text = `"${toBytes(value).replace(/["\\\n\r]/g, (character) => ESCAPES[character] as string)}"`;
  if (language !== '') return `${text}@${language}${rest.direction ? `--${rest.direction}` : ''}`;
  return datatype.value === LANG_STRING ? text : `${text}^^<${toBytes(datatype.value)}>`;
}
