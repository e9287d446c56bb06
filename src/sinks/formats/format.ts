/**
 * Converts N-Quads text to other RDF formats: N-Triples, Turtle, TriG, JSON-LD.
 *
 * Memory is bounded: each write is converted and passed on before the next one is accepted.
 */
import { Fault } from '../../core/fault.ts';
import { fromBytes } from '../../core/text.ts';
import { eachStatement } from '../../nquads/terms.ts';
import type { OutputFormat, QuadSink } from '../sink.ts';
import type { Conversion } from './conversion.ts';
import { jsonLd } from './json-ld.ts';
import { turtle } from './turtle.ts';

export interface FormatOptions {
  readonly format: Exclude<OutputFormat, 'nquads'>;
  readonly prefixes?: Readonly<Record<string, string>>;
}

/** Lines are converted in slices of about this many characters, so that text of two formats never accumulates. */
const SLICE_LENGTH = 256 * 1024;

/**
 * A sink that takes N-Quads and passes text of another format to `inner`, which it owns.
 *
 * @throws Fault mapping/invalid — a statement in a named graph for a format without graphs; sink/failed — a term that is not valid RDF
 */
export function formatted(inner: QuadSink, options: FormatOptions): QuadSink {
  const conversion = CONVERSIONS[options.format](options);
  return {
    async write(lines) {
      for (let from = 0; from < lines.length; ) {
        const end = lines.indexOf('\n', from + SLICE_LENGTH) + 1 || lines.length;
        let text = '';
        eachStatement(lines.slice(from, end), (subject, predicate, object, graph) => {
          text += conversion.add(subject, predicate, object, graph);
        });
        if (text !== '') await inner.write(text);
        from = end;
      }
    },
    async commit() {
      const rest = conversion.end();
      if (rest !== '') await inner.write(rest);
      return inner.commit();
    },
    abort: () => inner.abort(),
  };
}

const CONVERSIONS: Readonly<Record<FormatOptions['format'], (options: FormatOptions) => Conversion>> = {
  ntriples: () =>
    withoutGraphs('N-Triples', { add: (subject, predicate, object) => `${subject} ${predicate} ${object} .\n`, end: () => '' }),
  turtle: ({ prefixes }) => withoutGraphs('Turtle', turtle(prefixes)),
  trig: ({ prefixes }) => turtle(prefixes),
  jsonld: jsonLd,
};

const withoutGraphs = (format: string, { add, end }: Conversion): Conversion => ({
  add(subject, predicate, object, graph) {
    if (graph === '') return add(subject, predicate, object, graph);
    throw new Fault('mapping/invalid', `The mapping puts statements into the graph ${fromBytes(graph)}, and ${format} has no graphs`, {
      hint: 'Ask for the format nquads, trig or jsonld',
    });
  },
  end,
});
