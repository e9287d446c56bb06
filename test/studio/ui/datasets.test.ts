/** Changed statements by subject, what a person types to find subjects, and the file of a mapping. */
import { expect, test } from '@jest/globals';
import { bySubject, subjectPart } from '../../../studio/ui/run/datasets/group.ts';
import { isSameFile } from '../../../studio/ui/run/datasets/place.ts';

test('statements stand with their subject, in the order in which subjects come first', () => {
  const texts = [
    '<http://e/1> <http://e/name> "a \\" b" .',
    '_:q1 <http://e/of> <http://e/1> <http://e/g> .',
    '<http://e/1> <http://e/age> "3"^^<http://www.w3.org/2001/XMLSchema#integer> .',
    '<< <http://e/1> <http://e/p> "x" >> <http://e/q> <http://e/2> .',
  ];
  expect(bySubject(texts).map(({ subject, statements }) => [subject, statements.map(({ text }) => texts.indexOf(text))])).toEqual([
    ['<http://e/1>', [0, 2]],
    ['_:q1', [1]],
    ['<< <http://e/1> <http://e/p> "x" >>', [3]],
  ]);
  expect(bySubject(texts)[1]?.statements[0]).toMatchObject({ predicate: '<http://e/of>', object: '<http://e/1>', graph: '<http://e/g>' });
});

const PREFIXES = new Map([['ex', 'http://e/']]);

test.each([
  ['', undefined],
  ['  ', undefined],
  [' 17 ', '17'],
  ['ex:person/1', '<http://e/person/1'],
  ['other:1', 'other:1'],
  ['http://e/1', 'http://e/1'],
  ['_:q1', '_:q1'],
  ['<http://e/1>', '<http://e/1>'],
])('%j is looked for as %j', (typed, part) => expect(subjectPart(typed, PREFIXES)).toBe(part));

test.each([
  ['/a/b c.ttl', 'b c.ttl', true],
  ['/a/b.ttl', 'file:///a/b.ttl', true],
  ['/a/b.ttl', './x/../b.ttl', true],
  ['s3://bucket/b.ttl', 's3://bucket/b.ttl', true],
  ['/a/b.ttl', '/c/b.ttl', false],
  ['https://e/b.ttl', 'b.ttl', false],
])('%s and %s are one file: %s', (a, b, expected) => expect(isSameFile(a, b, '/a')).toBe(expected));
