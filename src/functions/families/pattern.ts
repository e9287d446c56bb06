/** Regular expressions, in the syntax of ECMAScript with Unicode rules. They see characters, and their time is bounded. */
import { fromBytes, toBytes } from '../../core/text.ts';
import { define } from '../define.ts';
import type { FunctionDefinition } from '../definition.ts';
import { checked, gives, grel, own, qm, withDefault } from '../names.ts';
import { checkFlags, isRegex, matchWhole, regex, replaceAll, sourceOf } from '../regex.ts';

const flags = checked(withDefault(own('flags', 'string'), ''), checkFlags);

const notIn = (kept: string, text: string): RegExp => regex(`[^${kept}]`, text);

export const PATTERN: readonly FunctionDefinition[] = [
  define({
    names: ['grel:string_replace'],
    does: 'Every `find` replaced: a text, or a regular expression between slashes, whose groups the replacement names `$1`, `$2`.',
    takes: [grel.value, grel.find, grel.replace],
    gives: gives.grelString,
    on: 'bytes',
    fails: true,
    // Only a regular expression needs characters.
    call: (value, find, replacement) =>
      isRegex(find) ? toBytes(replaceAll(fromBytes(value), fromBytes(find), fromBytes(replacement))) : replaceAll(value, find, replacement),
    examples: [
      [['M Venus', ' ', '-'], 'M-Venus'],
      [['a.b.c', '.', ''], 'abc'],
      [['a  b', '/\\s+/', ' '], 'a b'],
      [['2022-01', '/(\\d+)-(\\d+)/', '$2/$1'], '01/2022'],
      [['costs', 's', '$&'], 'co$&t$&'],
      [['a😀b', '😀', 'é'], 'aéb'],
      [['a', '/[/', ''], { fails: 'not a regular expression' }],
    ],
  }),
  define({
    names: ['grel:string_match'],
    does: 'The groups of a regular expression between slashes that matches the whole text; no result if it does not.',
    takes: [grel.value, grel.regex],
    gives: gives.grelArray,
    fails: true,
    call: (value, pattern) => matchWhole(value, sourceOf(pattern)) ?? null,
    examples: [
      [['230.22398, 12.3480', '/.*(\\d\\d\\d\\d)/'], '3480'],
      [
        ['ab', '/(.)(.)/'],
        ['a', 'b'],
      ],
      [['abc', '/(b)/'], null],
    ],
  }),
  define({
    names: ['grel:string_find'],
    does: 'All matches of a regular expression.',
    takes: [grel.value, grel.regex],
    gives: gives.grelArray,
    fails: true,
    call: (value, pattern) => value.match(regex(sourceOf(pattern), value)),
    examples: [
      [
        ['a1b22', '/\\d+/'],
        ['1', '22'],
      ],
      [['abc', '/\\d/'], null],
      [
        ['é😀', '/./'],
        ['é', '😀'],
      ],
    ],
  }),
  define({
    names: ['qm:matches'],
    does: 'Whether a regular expression matches somewhere in the text; `^` and `$` stand for its ends. Flags: `i`, `m`, `s`.',
    takes: [qm.value, qm.pattern, flags],
    gives: gives.boolean,
    fails: true,
    call: (value, pattern, given) => regex(sourceOf(pattern), value, given, true).test(value),
    examples: [
      [['AB-12', '^[A-Z]+-\\d+$'], 'true'],
      [['ab-12', '^[A-Z]+', 'i'], 'true'],
      [['ab', '\\d'], 'false'],
      [['a', 'a', 'x'], { fails: 'no flags' }],
    ],
  }),
  define({
    names: ['qm:extract'],
    does: 'The group `group` of the first match of a regular expression (0: the whole match, the default); no result without a match.',
    takes: [qm.value, qm.pattern, withDefault(own('group', 'integer'), '0')],
    gives: gives.string,
    fails: true,
    call: (value, pattern, group) => regex(sourceOf(pattern), value).exec(value)?.[group],
    examples: [
      [['Room 12b', '\\d+'], '12'],
      [['Room 12b', '(\\d+)([a-z])', 2], 'b'],
      [['Room', '\\d+'], null],
      [['a', 'a', 7], null],
    ],
  }),
  define({
    names: ['qm:extractAll'],
    does: 'The group `group` of each match of a regular expression (0: the whole match, the default).',
    takes: [qm.value, qm.pattern, withDefault(own('group', 'integer'), '0')],
    gives: gives.list,
    fails: true,
    call: (value, pattern, group) => [...value.matchAll(regex(sourceOf(pattern), value))].map((match) => match[group]),
    examples: [
      [
        ['#a and #b', '#(\\w)', 1],
        ['a', 'b'],
      ],
      [['none', '#\\w'], null],
    ],
  }),
  define({
    names: ['qm:replacePattern'],
    does: 'Every match of a regular expression replaced; `$1` is its first group. Flags: `i`, `m`, `s`.',
    takes: [qm.value, qm.pattern, qm.replacement, flags],
    gives: gives.string,
    fails: true,
    call: (value, pattern, replacement, given) => value.replace(regex(sourceOf(pattern), value, given), replacement),
    examples: [
      [['a-b_c', '[-_]', ' '], 'a b c'],
      [['ABA', 'a', 'x', 'i'], 'xBx'],
      [['Doe, Jane', '(\\w+), (\\w+)', '$2 $1'], 'Jane Doe'],
    ],
  }),
  define({
    names: ['qm:keepMatching'],
    does: 'The values of a list in which a regular expression matches.',
    takes: [qm.texts, qm.pattern],
    gives: gives.list,
    fails: true,
    call: (texts, pattern) => texts.filter((text) => regex(sourceOf(pattern), text, '', true).test(text)),
    examples: [
      [
        [['a1', 'b', 'c2'], '\\d'],
        ['a1', 'c2'],
      ],
      [[['a'], '\\d'], null],
    ],
  }),
  define({
    names: ['qm:keepCharacters'],
    does: 'Only the characters of a class, such as `0-9` or `\\p{L}`.',
    takes: [qm.value, checked(own('class', 'string'), (kept) => notIn(kept, ''))],
    gives: gives.string,
    fails: true,
    call: (value, kept) => value.replace(notIn(kept, value), ''),
    examples: [
      [['+32 9 331-49', '0-9'], '32933149'],
      [['é1!', '\\p{L}'], 'é'],
      [['a', 'z-a'], { fails: 'not a regular expression' }],
    ],
  }),
];
