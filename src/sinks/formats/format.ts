/**
 * Converts N-Quads text to other RDF formats: N-Triples, Turtle, TriG, JSON-LD, N3, RDF/XML, RDF/JSON.
 *
 * Memory is bounded: each write is converted and passed on before the next one is accepted, or kept in files (RDF/JSON).
 */
import { eachStatement } from '../../nquads/terms.ts';
import type { QuadSink, Serialization, TextEncoding } from '../sink.ts';
import type { Conversion } from './conversion.ts';
import { jsonLd } from './json-ld.ts';
import { rdfJson } from './rdf-json.ts';
import { rdfXml } from './rdf-xml.ts';
import { refuseGraph, refuseQuoted, refuseStar } from './refusals.ts';
import { turtle } from './turtle.ts';

export interface FormatOptions {
  readonly format: Exclude<Serialization, 'nquads'>;
  readonly prefixes?: Readonly<Record<string, string>>;
  /** Of the document, where it names its encoding; what `inner` gets is UTF-8. Default `utf-8`. */
  readonly encoding?: TextEncoding;
  /** For formats that group statements: created when needed, used by nothing else, removed at the end. */
  readonly spillDirectory: string;
}

/** Lines are converted in slices of about this many characters, so that text of two formats never accumulates. */
const SLICE_LENGTH = 256 * 1024;

/**
 * A sink that takes N-Quads and passes text of another format to `inner`, which it owns.
 *
 * @throws Fault mapping/invalid — a statement in a named graph for a format without graphs, or one with a quoted triple for a format without
 * these; sink/failed — a term that is not valid RDF
 */
export function formatted(inner: QuadSink, options: FormatOptions): QuadSink {
  if (options.format === 'rdfjson') return rdfJson(inner, options.spillDirectory);
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

const CONVERSIONS: Readonly<Record<Exclude<FormatOptions['format'], 'rdfjson'>, (options: FormatOptions) => Conversion>> = {
  ntriples: () =>
    withoutGraphs('N-Triples', { add: (subject, predicate, object) => `${subject} ${predicate} ${object} .\n`, end: () => '' }),
  turtle: ({ prefixes }) => withoutGraphs('Turtle', turtle(prefixes)),
  trig: ({ prefixes }) => turtle(prefixes),
  jsonld: () => withoutQuoted('JSON-LD', jsonLd()),
  // What is written of Turtle is N3 as well, with the same meaning.
  n3: ({ prefixes }) => withoutQuoted('N3', withoutGraphs('N3', turtle(prefixes))),
  rdfxml: ({ prefixes, encoding = 'utf-8' }) =>
    withoutQuoted('RDF/XML', withoutGraphs('RDF/XML', rdfXml(prefixes, encoding.toUpperCase())), refuseStar),
};

const withoutQuoted = (format: string, { add, end }: Conversion, refuse = refuseQuoted): Conversion => ({
  add(subject, predicate, object, graph) {
    refuse(format, subject, predicate, object);
    return add(subject, predicate, object, graph);
  },
  end,
});

const withoutGraphs = (format: string, { add, end }: Conversion): Conversion => ({
  add(subject, predicate, object, graph) {
    if (graph === '') return add(subject, predicate, object, graph);
    return refuseGraph(format, graph);
  },
  end,
});
