import { describe, expect, test } from '@jest/globals';
import { didYouMean, editDistance, nearest, withoutBrackets } from '../../../src/core/nearest.ts';

describe('nearest', () => {
  test.each([
    ['a missing letter', 'tmplate', ['template', 'termType'], ['template']],
    ['another case', 'termtype', ['template', 'termType'], ['termType']],
    ['swapped neighbours', 'subjetcMap', ['subjectMap', 'objectMap'], ['subjectMap']],
    ['the nearest first', 'identifier', ['idntifer', 'identifers', 'identifer'], ['identifer', 'idntifer', 'identifers']],
    ['nothing near', 'delimiter', ['template', 'reference'], []],
    ['not itself', 'Name', ['Name', 'Names'], ['Names']],
    ['nothing for a single other letter but one edit', 'a', ['b', 'xyz'], ['b']],
  ])('finds %s', (_, word, candidates, expected) => {
    expect(nearest(word, candidates)).toEqual(expected);
  });

  test('compares the part that is given', () => {
    const last = (name: string) => name.split('/').at(-1) as string;
    const others = ['http://a.very.long/name/Person', 'http://b/Persons', 'http://a.very.long/name/Cities'];
    expect(nearest('http://a.very.long/name/Persn', others, 3, last)).toEqual(others.slice(0, 1));
    expect(nearest('http://b/Person', others, 3, last)).toEqual(others.slice(0, 2));
    expect(didYouMean('http://a.very.long/name/Nowhere', others, last)).toBeUndefined();
  });

  test('gives at most as many as asked for', () => {
    expect(nearest('name', ['names', 'nam', 'nome', 'game'], 2)).toEqual(['names', 'nam']);
  });

  test('a question lists the names in words', () => {
    expect(didYouMean('nme', ['name'])).toBe('did you mean name?');
    expect(didYouMean('names', ['nameX', 'name', 'namesY'])).toBe('did you mean nameX, name or namesY?');
    expect(didYouMean('names', ['height'])).toBeUndefined();
  });

  test.each([
    ['', 'abc', 3],
    ['abc', '', 3],
    ['kitten', 'sitting', 3],
    ['ab', 'ba', 1],
    ['same', 'same', 0],
  ])('distance of %p and %p', (a, b, distance) => {
    expect(editDistance(a, b)).toBe(distance);
  });
});

test.each(['{n}', '(n)', '$(n)', '%(n)', '%{n}'])('%s is the column n in brackets', (reference) => {
  expect(withoutBrackets(reference, ['m', 'n'])).toBe('Write n, without brackets around it');
  expect(withoutBrackets(reference, ['m'])).toBeUndefined();
});

test.each(['n', '{n', '{n)', '(n) '])('%s is no column in brackets', (reference) => {
  expect(withoutBrackets(reference, ['n'])).toBeUndefined();
});
