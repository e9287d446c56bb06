/**
 * Other RDF formats out of N-Quads text: N-Triples, Turtle, TriG, JSON-LD.
 *
 * Bounded: a write is converted and handed on before the next one is taken.
 */
import { Parser, type Quad, Writer } from 'n3';
import { Fault } from '../fault.ts';
import { fromBytes, toBytes } from '../text.ts';
import { graphStart } from './lines.ts';
import type { OutputFormat, QuadSink } from './sink.ts';

export interface FormatOptions {
  readonly format: Exclude<OutputFormat, 'nquads'>;
  readonly prefixes?: Readonly<Record<string, string>>;
}

/** Turns whole lines of N-Quads into text of the format; `end` gives what is left. Text is one-byte on both sides. */
interface Conversion {
  convert(lines: string): string | Promise<string>;
  end(): string | Promise<string>;
}

/** Lines are converted in slices of about this many characters, so that quads as objects never pile up. */
const SLICE_LENGTH = 256 * 1024;

/**
 * A sink that takes N-Quads and gives `inner` the text of another format; it owns `inner`.
 *
 * @throws Fault mapping/invalid — a statement in a named graph for a format that has no graphs; sink/failed — text that is not N-Quads
 */
export async function formatted(inner: QuadSink, options: FormatOptions): Promise<QuadSink> {
  const conversion = await CONVERSIONS[options.format](options);
  return {
    async write(lines) {
      for (let from = 0; from < lines.length; ) {
        const end = lines.indexOf('\n', from + SLICE_LENGTH) + 1 || lines.length;
        const text = await conversion.convert(from === 0 && end === lines.length ? lines : lines.slice(from, end));
        if (text !== '') await inner.write(text);
        from = end;
      }
    },
    async commit() {
      const rest = await conversion.end();
      if (rest !== '') await inner.write(rest);
      return inner.commit();
    },
    abort: () => inner.abort(),
  };
}

const CONVERSIONS: Readonly<Record<FormatOptions['format'], (options: FormatOptions) => Conversion | Promise<Conversion>>> = {
  ntriples: () => ({ convert: withoutGraphs('N-Triples'), end: () => '' }),
  turtle: ({ prefixes }) => {
    const check = withoutGraphs('Turtle');
    const conversion = withWriter('turtle', prefixes);
    return { convert: (lines) => conversion.convert(check(lines)), end: conversion.end };
  },
  trig: ({ prefixes }) => withWriter('trig', prefixes),
  jsonld: async () => withJsonLd((await import('jsonld-streaming-serializer')).JsonLdSerializer),
};

/** N-Quads without named graphs is N-Triples already. */
function withoutGraphs(format: string): (lines: string) => string {
  return (lines) => {
    for (let from = 0; from < lines.length; ) {
      const end = lines.indexOf('\n', from) + 1 || lines.length;
      const graph = graphStart(lines, from, end);
      if (graph !== -1) throw graphFault(format, lines.slice(graph, end).replace(/ ?\.\s*$/, ''));
      from = end;
    }
    return lines;
  };
}

const graphFault = (format: string, graph: string): Fault =>
  new Fault('mapping/invalid', `The mapping puts statements into the graph ${fromBytes(graph)}, and ${format} has no graphs`, {
    hint: 'Ask for the format nquads or trig',
  });

function withWriter(format: string, prefixes: Readonly<Record<string, string>> = {}): Conversion {
  let text = '';
  const taken = (): string => {
    const bytes = toBytes(text);
    text = '';
    return bytes;
  };
  const stream = {
    write(chunk: string, _encoding: string, done?: () => void): boolean {
      text += chunk;
      done?.();
      return true;
    },
    end: (done?: () => void) => done?.(),
  };
  const writer = new Writer(stream, { format, prefixes: { ...prefixes } });
  return {
    convert(lines) {
      for (const quad of parse(lines)) writer.addQuad(quad);
      return taken();
    },
    end() {
      writer.end();
      return taken();
    },
  };
}

function withJsonLd(Serializer: typeof import('jsonld-streaming-serializer').JsonLdSerializer): Conversion {
  const serializer = new Serializer({ space: '  ' });
  let text = '';
  serializer.on('data', (chunk: string) => {
    text += chunk;
  });
  const taken = (): string => {
    const bytes = toBytes(text);
    text = '';
    return bytes;
  };
  return {
    async convert(lines) {
      const quads = parse(lines);
      await new Promise<void>((resolve, reject) => {
        quads.forEach((quad, i) => {
          serializer.write(quad, (error) => (error ? reject(error) : i === quads.length - 1 && resolve()));
        });
        if (quads.length === 0) resolve();
      });
      return taken();
    },
    async end() {
      await new Promise<void>((resolve, reject) => {
        serializer.once('end', resolve).once('error', reject);
        serializer.end();
      });
      return `${taken()}\n`;
    },
  };
}

function parse(lines: string): Quad[] {
  try {
    return new Parser({ format: 'N-Quads', blankNodePrefix: '' }).parse(fromBytes(lines));
  } catch (error) {
    throw new Fault('sink/failed', `The statements cannot be converted: ${(error as Error).message}`, {
      hint: 'IRIs of term type UnsafeIRI may hold what only the format nquads lets through',
      cause: error,
    });
  }
}
