import { describe, expect, test } from '@jest/globals';
import { parseTemplate } from '../../../src/mapping/model/template.ts';
import { isLanguageTag, namesLanguage } from '../../../src/mapping/vocabulary/language-tag.ts';

/** Parts as strings: a reference in double angle quotes. */
const parts = (template: string) => {
  const parsed = parseTemplate(template);
  return parsed.kind === 'parts' ? parsed.parts.map((part) => (part.kind === 'text' ? part.text : `«${part.reference}»`)) : parsed;
};

describe('a template', () => {
  test.each([
    ['text and references', 'http://e/{a}/{b}', ['http://e/', '«a»', '/', '«b»']],
    ['references side by side', '{a}{b}', ['«a»', '«b»']],
    ['no reference at all', 'text', ['text']],
    ['nothing', '', []],
    ['escaped braces as text', '\\{\\{ {a} \\}', ['{{ ', '«a»', ' }']],
    ['an escaped backslash', '\\\\{a}\\\\', ['\\', '«a»', '\\']],
    ['escapes inside of a reference', "{$['\\{Name\\}']}", ["«$['{Name}']»"]],
    ['a backslash inside of a reference', '{N\\\\ame}', ['«N\\ame»']],
    ['spaces and brackets inside of a reference', "{ISO 3166}{$['a b']}", ['«ISO 3166»', "«$['a b']»"]],
  ])('with %s', (_, template, expected) => {
    expect(parts(template)).toEqual(expected);
  });

  test.each([
    ['http://e/{a', 10, 'an opening brace that is never closed'],
    ['a}', 2, 'a closing brace without an opening one'],
    ['{{a}}', 2, 'a brace inside of a reference'],
    ['x{}', 2, 'braces without a reference'],
    ['{ }', 1, 'braces without a reference'],
    ['a\\b', 2, 'a backslash that escapes nothing'],
    ['{Name\\}', 1, 'an opening brace that is never closed'],
    ['end\\', 4, 'a backslash that escapes nothing'],
  ])('%p is refused, at its character %i: %s', (template, at, message) => {
    expect(parseTemplate(template)).toMatchObject({ kind: 'fault', at, message });
  });
});

describe('a language tag', () => {
  test.each([
    'en',
    'de-CH',
    'zh-Hant-TW',
    'sl-rozaj-biske',
    'de-CH-1901',
    'es-419',
    'zh-cmn-Hans-CN',
    'en-a-bbb-x-a-ccc',
    'x-whatever',
    'i-default',
    'sgn-BE-FR',
    'EN-gb',
    'english',
    'art-lojban',
    'en-x-twain',
  ])('%s is well-formed', (tag) => {
    expect(isLanguageTag(tag)).toBe(true);
  });

  test.each(['a-english', 'e', '', 'en_GB', 'en-', 'x', 'en-a', 'abcdefghi', 'de-419-DE', 'a-DE', 'en--x', 'deutsch!', '12'])(
    '%p is not',
    (tag) => {
      expect(isLanguageTag(tag)).toBe(false);
    },
  );

  test('of four letters and more names no language', () => {
    expect([namesLanguage('english'), namesLanguage('text-GB'), namesLanguage('eng-GB'), namesLanguage('x-klingon')]).toEqual([
      false,
      false,
      true,
      true,
    ]);
  });
});
