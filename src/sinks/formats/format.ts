/**
 * Other RDF formats than N-Quads: N-Triples, Turtle, TriG, JSON-LD, N3, RDF/XML, RDF/JSON. Statements are converted where they are made, of
 * parts that are known (`StatementWriter`), or from lines of N-Quads (`formatted`).
 *
 * Memory is bounded: what is converted is passed on, or kept in files (RDF/JSON).
 */
import { findNotInIri } from '../../core/text.ts';
import { checked, checkedObject, eachStatement, isTriple } from '../../nquads/terms.ts';
import type { QuadSink, Serialization, TextEncoding, TextForm } from '../sink.ts';
import type { Conversion, Frame, ObjectPattern, WriteStatement } from './conversion.ts';
import { JSON_LD_FRAME, jsonLd } from './json-ld.ts';
import { rdfJson } from './rdf-json.ts';
import { rdfXml, rdfXmlFrame } from './rdf-xml.ts';
import { refuseGraph, refuseQuoted, refuseStar } from './refusals.ts';
import { turtle, turtleFrame } from './turtle.ts';

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

/** Statements that have all but the subject and the object's value in common: tokens of N-Quads, and what stands around the value. */
export interface StatementPattern {
  readonly predicate: string;
  readonly before: string;
  readonly after: string;
  /** Empty: the default graph. */
  readonly graph: string;
}

/** Writes statements as text of a format, in pieces that stand for themselves: each ends with `close`. */
export interface StatementWriter {
  /**
   * What is written of a statement now. IRIs of `before` and `after` hold what IRIs may hold, unless `before` is `<` or empty.
   *
   * @throws Fault as `formatted` — when a statement is written
   */
  pattern(pattern: StatementPattern): WriteStatement;
  /** What is written of complete lines of N-Quads now. @throws Fault as `formatted` */
  lines(lines: string): string;
  /** The rest. */
  close(): string;
}

interface Format {
  readonly name: string;
  readonly open: (form: Pick<FormatOptions, 'prefixes'>) => Conversion;
  readonly frame: (options: Pick<FormatOptions, 'prefixes' | 'encoding'>) => Frame;
  readonly hasGraphs: boolean;
  /** Refuses triples as terms. */
  readonly refuse?: typeof refuseQuoted;
}

const NO_FRAME: Frame = { head: '', separator: '', tail: '', empty: '' };

const ntriples = (): Conversion => ({
  add: (subject, predicate, object) => `${subject} ${predicate} ${object} .\n`,
  pattern(predicate, object) {
    if (object.kind === 'any') return (subject, value) => `${subject} ${predicate} ${object.tokenOf(value)} .\n`;
    const [before, after] = affixesOf(object);
    const [lead, tail] = [` ${predicate} ${before}`, `${after} .\n`];
    return (subject, value) => subject + lead + value + tail;
  },
  close: () => '',
});

const FORMATS: Readonly<Record<TextForm['format'], Format>> = {
  ntriples: { name: 'N-Triples', open: ntriples, frame: () => NO_FRAME, hasGraphs: false },
  turtle: { name: 'Turtle', open: ({ prefixes }) => turtle(prefixes), frame: ({ prefixes }) => turtleFrame(prefixes), hasGraphs: false },
  trig: { name: 'TriG', open: ({ prefixes }) => turtle(prefixes), frame: ({ prefixes }) => turtleFrame(prefixes), hasGraphs: true },
  jsonld: { name: 'JSON-LD', open: jsonLd, frame: () => JSON_LD_FRAME, hasGraphs: true, refuse: refuseQuoted },
  // What is written of Turtle is N3 as well, with the same meaning.
  n3: {
    name: 'N3',
    open: ({ prefixes }) => turtle(prefixes),
    frame: ({ prefixes }) => turtleFrame(prefixes),
    hasGraphs: false,
    refuse: refuseQuoted,
  },
  rdfxml: {
    name: 'RDF/XML',
    open: ({ prefixes }) => rdfXml(prefixes),
    frame: ({ prefixes, encoding = 'utf-8' }) => rdfXmlFrame(prefixes, encoding.toUpperCase()),
    hasGraphs: false,
    refuse: refuseStar,
  },
};

/** The caller writes what it returns between the parts of a frame: to `QuadSink.text`. */
export function openWriter(form: TextForm): StatementWriter {
  const { name, open, hasGraphs, refuse } = FORMATS[form.format];
  const conversion = open(form);
  let [known, subject] = ['', ''];
  /** Statements of a subject follow each other. */
  const checkedSubject = (token: string): string => {
    if (token !== known) [known, subject] = [token, checked(token)];
    return subject;
  };
  const compiled = (given: StatementPattern): WriteStatement => {
    const [predicate, graph] = [checked(given.predicate), checked(given.graph)];
    if (graph !== '' && !hasGraphs) return () => refuseGraph(name, graph);
    const object = objectPattern(given);
    const write =
      conversion.pattern?.(predicate, object, graph) ??
      ((s: string, value: string) => conversion.add(s, predicate, tokenOf(object, value), graph));
    if (refuse === undefined) return (s, value) => write(checkedSubject(s), value);
    return (s, value) => {
      if (object.kind === 'any' || isTriple(s)) refuse(name, s, predicate, tokenOf(object, value));
      return write(checkedSubject(s), value);
    };
  };
  return {
    pattern(given) {
      let write: WriteStatement | undefined;
      return (s, value) => {
        // A constant that no statement has is not refused.
        write ??= compiled(given);
        return write(s, value);
      };
    },
    lines(lines) {
      let text = '';
      eachStatement(lines, (s, predicate, object, graph) => {
        if (graph !== '' && !hasGraphs) refuseGraph(name, graph);
        refuse?.(name, s, predicate, object);
        text += conversion.add(s, predicate, object, graph);
      });
      return text;
    },
    close: () => conversion.close(),
  };
}

function objectPattern({ before, after }: StatementPattern): ObjectPattern {
  const end = after.lastIndexOf('"');
  if (before.startsWith('"') && end !== -1) {
    const datatype = after.startsWith('^^', end + 1) ? checked(after.slice(end + 3)) : '';
    const language = after[end + 1] === '@' ? after.slice(end + 2) : '';
    return { kind: 'literal', before: before.slice(1), after: after.slice(0, end), datatype, language };
  }
  const isIri =
    before.startsWith('<') && after.endsWith('>') && before.length > 1 && findNotInIri(before.slice(1) + after.slice(0, -1)) === -1;
  if (isIri || before.startsWith('_:')) return { kind: 'resource', before, after };
  return { kind: 'any', tokenOf: (value) => checkedObject(before + value + after) };
}

function affixesOf(object: Exclude<ObjectPattern, { kind: 'any' }>): readonly [before: string, after: string] {
  if (object.kind === 'resource') return [object.before, object.after];
  const { before, after, datatype, language } = object;
  return [`"${before}`, `${after}"${datatype === '' ? '' : `^^${datatype}`}${language === '' ? '' : `@${language}`}`];
}

function tokenOf(object: ObjectPattern, value: string): string {
  if (object.kind === 'any') return object.tokenOf(value);
  const [before, after] = affixesOf(object);
  return before + value + after;
}

/**
 * A sink that takes N-Quads, or text of another format, and passes text of that format to `inner`, which it owns.
 *
 * @throws Fault mapping/invalid — a statement in a named graph for a format without graphs, or one with a quoted triple for a format without
 * these; sink/failed — a term that is not valid RDF
 */
export function formatted(inner: QuadSink, options: FormatOptions): QuadSink {
  const { format, prefixes } = options;
  if (format === 'rdfjson') return rdfJson(inner, options.spillDirectory);
  const { head, separator, tail, empty } = FORMATS[format].frame(options);
  const form: TextForm = { format, ...(prefixes === undefined ? {} : { prefixes }) };
  let writer: StatementWriter | undefined;
  let isEmpty = true;
  const begin = (): number => {
    if (!isEmpty) return 0;
    isEmpty = false;
    return separator.length;
  };
  const write = (text: string): void | Promise<void> => {
    if (text === '') return;
    const first = isEmpty ? head : '';
    return inner.write(first + text.slice(begin()));
  };
  return {
    text: {
      form,
      write,
      ...(inner.writeBytes === undefined
        ? {}
        : {
            async writeBytes(buffers) {
              const isFirst = isEmpty;
              const [one, ...more] = buffers;
              if (one === undefined) return;
              if (isFirst) await inner.write(head);
              await inner.writeBytes?.([one.subarray(begin()), ...more]);
            },
          }),
    },
    async write(lines) {
      writer ??= openWriter(form);
      for (let from = 0; from < lines.length; ) {
        const end = lines.indexOf('\n', from + SLICE_LENGTH) + 1 || lines.length;
        await write(writer.lines(lines.slice(from, end)));
        from = end;
      }
    },
    async commit() {
      await write(writer?.close() ?? '');
      const rest = isEmpty ? empty : tail;
      if (rest !== '') await inner.write(rest);
      return inner.commit();
    },
    abort: () => inner.abort(),
  };
}
