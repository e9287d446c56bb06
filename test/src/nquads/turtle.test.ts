/** Turtle and TriG as N-Quads, compared with oxigraph's reading of the same document. */
import { describe, expect, test } from '@jest/globals';
import type { Quad } from 'n3';
import oxigraph from 'oxigraph';
import { isomorphic } from 'rdf-isomorphic';
import { readStatements } from '../../../src/nquads/read.ts';
import { type TurtleOptions, turtleAsNQuads } from '../../../src/nquads/turtle.ts';

async function* chunks(bytes: Uint8Array, size: number) {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function convert(text: string | Uint8Array, more: Partial<TurtleOptions> = {}, size = 2 ** 16): Promise<string> {
  const bytes = typeof text === 'string' ? Buffer.from(text) : text;
  const options: TurtleOptions = { syntax: 'turtle', base: 'http://base/dir/file', input: 'a.ttl', ...more };
  const parts: Uint8Array[] = [];
  for await (const part of turtleAsNQuads(chunks(bytes, size), options)) parts.push(part);
  return Buffer.concat(parts).toString();
}

const quads = (text: string, format: string) => oxigraph.parse(text, { format, base_iri: 'http://base/dir/file' }) as unknown as Quad[];

const TURTLE = String.raw`@prefix ex: <http://e/> . @prefix : <#> .
PREFIX xsd: <http://www.w3.org/2001/XMLSchema#>
ex:a a ex:Thing ; ex:n 1, 1.5, 1e3, true ; ex:s "Zoë \"q\" \\ 😀", 'x'@en-GB, """two
lines\r""" .
:here ex:to <other>, <../up> ; ex:t "1"^^xsd:byte .
_:x ex:knows _:y, [ ex:name "anonymous" ; ex:in [] ] .
_:y ex:list ( 1 _:x ( ) "z" ) .
ex:u ex:p "\u00e9\U0001F600" , <http://e/\u6771> .
`;

describe('Turtle and TriG as N-Quads', () => {
  test('statements are those that another parser reads, wherever the bytes are cut', async () => {
    const whole = await convert(TURTLE);
    expect(isomorphic(quads(whole, 'application/n-quads'), quads(TURTLE, 'text/turtle'))).toBe(true);
    for (const size of [1, 3, 64]) expect(await convert(TURTLE, {}, size)).toBe(whole);
  });

  test('TriG keeps its graphs', async () => {
    const text = '@prefix ex: <http://e/> . ex:g { ex:a ex:b ex:c . _:n ex:b [] } GRAPH _:n { ex:a ex:b "1" } { ex:d ex:b ex:e }';
    const lines = await convert(text, { syntax: 'trig' });
    expect(isomorphic(quads(lines, 'application/n-quads'), quads(text, 'application/trig'))).toBe(true);
  });

  test('labels of a document and nodes without label never meet', async () => {
    const lines = (await convert('_:n-0 <http://e/p> [] . _:l-a <http://e/p> _:a .')).trimEnd().split('\n');
    expect(new Set(lines.flatMap((line) => line.match(/_:\S+/g))).size).toBe(4);
  });

  test('every line can be read as N-Quads; without a base, a relative IRI is rejected', async () => {
    async function* lines() {
      yield Buffer.from(await convert('<http://e/a> <http://e/p> <rel>, <http://e/b> .', { base: undefined }));
    }
    for await (const { statements, rejected } of readStatements(lines(), { input: 'a.ttl', skolem: undefined }))
      expect([statements.length, rejected.length]).toEqual([1, 1]);
  });

  test.each<[name: string, text: string | Uint8Array, message: RegExp, line: number | undefined]>([
    ['a syntax error', '<http://e/a> <http://e/b> <http://e/c> .\n<http://e/a> "p" .\n', /not Turtle: Unexpected/, 2],
    ['a prefix that is not declared', '\n\nex:a <http://e/b> 1 .', /not Turtle: Undefined prefix "ex:"/, 3],
    ['an end within a statement', '<http://e/a> <http://e/b>', /not Turtle/, 1],
    ['TriG in a Turtle file', '<http://e/g> { <http://e/a> <http://e/b> 1 }', /not Turtle/, 1],
    ['bytes that are not UTF-8', Buffer.from([0x3c, 0xff, 0x3e]), /not in UTF-8/, undefined],
    ['a character that is cut off', Buffer.from([0x23, 0xc3]), /not in UTF-8/, undefined],
  ])('%s is named with its line', async (_, text, message, line) => {
    const fault = await convert(text).catch((error) => error);
    expect(fault).toMatchObject({ code: 'source/malformed', message: expect.stringMatching(message) });
    expect(fault.place).toEqual(line === undefined ? { input: 'a.ttl' } : { input: 'a.ttl', line });
  });

  test('memory does not grow with the document', async () => {
    async function* endless() {
      const text = Buffer.from('<http://e/a> <http://e/b> "x", "y" .\n'.repeat(1000));
      for (;;) yield text;
    }
    let count = 0;
    for await (const part of turtleAsNQuads(endless(), { syntax: 'turtle', base: undefined, input: 'a' })) {
      expect(part.length).toBeLessThan(2 ** 20);
      if (++count === 20) break;
    }
  });
});
