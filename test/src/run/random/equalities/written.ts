/**
 * Runs in other formats than N-Quads: each output says what its lines of N-Quads say when they are converted. Texts of these,
 * `test/src/sinks/formats.test.ts` compares with what other parsers read.
 */
import { join } from 'node:path';
import { expect } from '@jest/globals';
import type { Quad, Term } from 'n3';
import { Fault } from '../../../../../src/core/fault.ts';
import type { RunRequest } from '../../../../../src/run/request.ts';
import { executeRun } from '../../../../../src/run/run.ts';
import { formatted } from '../../../../../src/sinks/formats/format.ts';
import { type QuadSink, SERIALIZATIONS, type Serialization } from '../../../../../src/sinks/sink.ts';
import { literalKey } from '../../../../support/random-dataset.ts';
import { readRdf } from '../../../../support/read-rdf.ts';

type Written = Exclude<Serialization, 'nquads'>;

const WRITTEN = SERIALIZATIONS.filter((one): one is Written => one !== 'nquads');

/** Another one for each number. */
export const formatOf = (number: number): Written => WRITTEN[number % WRITTEN.length] as Written;

/** Some that end within a segment, and some that are longer than others. */
const PREFIXES = {
  e: 'http://e/',
  half: 'http://e/p',
  ex: 'http://example.com/',
  list: 'http://example.com/list/',
  xsd: 'http://www.w3.org/2001/XMLSchema#',
  rdf: 'http://www.w3.org/1999/02/22-rdf-syntax-ns#',
};

/** Bytes that are kept, as a one-byte text. */
function memory(): { readonly sink: QuadSink; text(): string } {
  const parts: string[] = [];
  const sink: QuadSink = {
    write: (text) => void parts.push(text),
    writeBytes: async (buffers) => void parts.push(...buffers.map((bytes) => Buffer.from(bytes).toString('latin1'))),
    commit: async () => [],
    abort: async () => undefined,
  };
  return { sink, text: () => parts.join('') };
}

const sinkOf = (inner: QuadSink, format: Serialization, spillDirectory: string): QuadSink =>
  format === 'nquads' ? inner : formatted(inner, { format, prefixes: PREFIXES, spillDirectory });

/** The documents of all outputs; the code of the fault of a run that the format refuses. */
async function documents(request: RunRequest, format: Serialization): Promise<readonly string[] | string> {
  const opened: { readonly sink: QuadSink; text(): string }[] = [];
  const open = (): QuadSink => {
    const { sink, text } = memory();
    const outer = sinkOf(sink, format, join(request.spillDirectory, `groups-${opened.length}`));
    opened.push({ sink: outer, text });
    return outer;
  };
  try {
    await executeRun(request, open(), { openTarget: async () => open() });
    for (const { sink } of opened) await sink.commit();
  } catch (error) {
    for (const { sink } of opened) await sink.abort();
    if (error instanceof Fault) return error.code;
    throw error;
  }
  return opened.map(({ text }) => text());
}

/** Lines of N-Quads in a format; the code of the fault if it refuses them. */
async function converted(lines: string, format: Written, directory: string): Promise<{ readonly text: string } | string> {
  const { sink, text } = memory();
  const outer = sinkOf(sink, format, join(directory, 'groups'));
  try {
    await outer.write(lines);
    await outer.commit();
  } catch (error) {
    await outer.abort();
    if (error instanceof Fault) return error.code;
    throw error;
  }
  return { text: text() };
}

const REIFIES = 'http://www.w3.org/1999/02/22-rdf-syntax-ns#reifies';

/** The statements of a document. A quoted triple of RDF-star, which the parser reads as a blank node that reifies it, is the triple. */
async function statementsOf(format: Written, text: string): Promise<readonly string[]> {
  const quads = await readRdf(format, Buffer.from(text, 'latin1').toString());
  const isQuoted = (term: Term): boolean => term.termType === 'BlankNode' && term.value.startsWith('n3-');
  const triples = new Map(
    quads.flatMap((q) => (isQuoted(q.subject) && q.predicate.value === REIFIES ? [[q.subject.value, q.object]] : [])),
  );
  const keyOf = (term: Term | Quad): string => {
    switch (term.termType) {
      case 'NamedNode':
        return `<${term.value}>`;
      case 'BlankNode':
        return isQuoted(term) ? keyOf(triples.get(term.value) as Term) : `_:${term.value}`;
      case 'Literal':
        return literalKey(term.value, term.language, term.datatype.value);
      case 'Quad':
        return `<<( ${[term.subject, term.predicate, term.object].map((one) => keyOf(one)).join(' ')} )>>`;
      default:
        return '';
    }
  };
  const said = quads.filter((q) => !(isQuoted(q.subject) && q.predicate.value === REIFIES));
  return [...new Set(said.map((q) => [q.subject, q.predicate, q.object, q.graph].map((one) => keyOf(one)).join(' ')))].sort();
}

/**
 * Expects the run to say in the format what it says in N-Quads, or to be refused as the format refuses its lines.
 *
 * @returns whether it was not refused
 */
export async function expectSameIn(format: Written, request: RunRequest): Promise<boolean> {
  const lines = await documents(request, 'nquads');
  if (typeof lines === 'string') throw new Error(`the run ends with ${lines}`);
  const wanted = await Promise.all(lines.map((one) => converted(one, format, request.spillDirectory)));
  const found = await documents(request, format);
  const refused = wanted.flatMap((one) => (typeof one === 'string' ? [one] : []));
  if (refused.length > 0) {
    expect([format, refused]).toEqual([format, expect.arrayContaining([found])]);
    return false;
  }
  expect([format, typeof found]).toEqual([format, 'object']);
  for (const [i, one] of wanted.entries()) {
    const [text, own] = [(one as { readonly text: string }).text, (found as readonly string[])[i] as string];
    // What waits for the end comes in an order by chance, and pieces end in other places.
    if (own !== text) expect([format, await statementsOf(format, own)]).toEqual([format, await statementsOf(format, text)]);
  }
  return true;
}
