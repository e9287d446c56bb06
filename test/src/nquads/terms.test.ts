/** Terms are found in lines, also those of quoted triples. */
import { describe, expect, test } from '@jest/globals';
import { eachStatement, subjectAt, termsOfQuoted } from '../../../src/nquads/terms.ts';

const [S, P, O] = ['<http://e/s>', '<http://e/p>', '<http://e/o>'];
const QUOTED = `<< ${S} ${P} ${O} >>`;

/** Terms that look like parts of a quoted triple. */
const TERMS = [
  S,
  '_:b',
  '"x"',
  '">> "',
  '"<< <http://e/s> "@en',
  '"a\\" >> b"^^<http://e/t>',
  QUOTED,
  `<< _:b ${P} ">> .\\n" >>`,
  `<< ${QUOTED} ${P} << _:b ${P} "<<"@en >> >>`,
];

describe.each(TERMS)('%s', (term) => {
  test('is an object', () => {
    const found: string[][] = [];
    eachStatement(`${S} ${P} ${term} .\n${S} ${P} ${term} <http://e/g> .\n`, (...terms) => void found.push(terms));
    expect(found).toEqual([
      [S, P, term, ''],
      [S, P, term, '<http://e/g>'],
    ]);
  });

  test('is an object within a quoted triple', () => {
    const quoted = `<< ${S} ${P} ${term} >>`;
    expect(termsOfQuoted(quoted)).toEqual([S, P, term]);
    const found: string[][] = [];
    eachStatement(`${quoted} ${P} ${quoted} .\n`, (...terms) => void found.push(terms));
    expect(found).toEqual([[quoted, P, quoted, '']]);
  });

  test('as a subject is found in its line, and by itself', () => {
    if (term.startsWith('"')) return;
    const line = `${term} ${P} "> " .\n`;
    expect([subjectAt(line, 0), subjectAt(`x\n${line}`, 2), subjectAt(term, 0)]).toEqual([term, term, term]);
  });
});

test('an IRI of data is unescaped within quoted triples, too', () => {
  const found: string[][] = [];
  eachStatement(`<< ${S} ${P} <http://e/\\u00E9> >> ${P} "x" .\n`, (...terms) => void found.push(terms));
  expect(found[0]?.[0]).toBe(`<< ${S} ${P} <http://e/\u00c3\u00a9> >>`);
  expect(() => eachStatement(`<< ${S} ${P} <http://e/a b> >> ${P} "x" .\n`, () => {})).toThrow(/no IRI may hold/);
});

test.each(['<< <http://e/s> <http://e/p> .\n', `<< ${S} ${P} ${O} > ${P} ${O} .\n`])('%s is no statement', (line) => {
  expect(() => eachStatement(line, () => {})).toThrow(/is no statement/);
});
