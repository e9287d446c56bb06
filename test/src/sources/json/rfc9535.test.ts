import { describe, expect, test } from '@jest/globals';
import { fromBytes } from '../../../../src/core/text.ts';
import { parseJsonPath } from '../../../../src/paths/json/parse.ts';
import { JsonPathError } from '../../../../src/paths/json/tokens.ts';
import { compileSegments } from '../../../../src/sources/json/path/query.ts';
import { parseJson } from '../../../../src/sources/json/text.ts';
import { GROUPS } from './rfc9535-cases.ts';

function find(query: string, document: string): string {
  const root = parseJson(Buffer.from(document).toString('latin1'), false);
  const found: unknown[] = [];
  compileSegments(parseJsonPath(query, 'strict').segments)(root, root, found);
  return fromBytes(JSON.stringify(found));
}

test('the table is a large one', () => {
  expect(GROUPS.flatMap(({ cases }) => cases).length).toBeGreaterThan(650);
});

describe.each(GROUPS)('RFC 9535, $about', ({ document, cases }) => {
  test.each(cases)('%j finds %s', (query, found) => {
    if (found === 'invalid') expect(() => parseJsonPath(query, 'strict')).toThrow(JsonPathError);
    else expect(JSON.parse(find(query, document))).toEqual(JSON.parse(found));
  });
});
