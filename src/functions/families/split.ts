/** One text → several. */
import { define } from '../define.ts';
import type { FunctionDefinition } from '../definition.ts';
import { gives, grel, optional, own, qm, textOrRegExp, withDefault } from '../names.ts';
import { readInteger } from '../numbers.ts';
import { findIn, splitBy } from '../regex.ts';

/** As Java's `String.split`: without empty parts at the end. */
function withoutEmptyEnd(parts: readonly string[]): readonly string[] {
  let length = parts.length;
  while (length > 1 && parts[length - 1] === '') length--;
  return parts.slice(0, length);
}

const CATEGORIES = /\p{Lu}+|\p{Ll}+|\p{Nd}+|\p{Z}+|\p{P}+|\p{S}+|\p{M}+|\p{C}+|\p{Lt}+|\p{Lm}+|\p{Lo}+|\p{Nl}+|\p{No}+/gu;

/** Cells of one line of delimited text; a quoted cell may hold the separator, and two quotes for one. */
function smartSplit(text: string, separator: string): readonly string[] {
  const parts: string[] = [];
  let part = '';
  let isQuoted = false;
  for (let i = 0; i < text.length; i++) {
    const character = text[i] as string;
    if (isQuoted) {
      if (character !== '"') part += character;
      else if (text[i + 1] === '"') {
        part += '"';
        i++;
      } else isQuoted = false;
    } else if (character === '"' && part === '') isQuoted = true;
    else if (separator !== '' && text.startsWith(separator, i)) {
      parts.push(part);
      part = '';
      i += separator.length - 1;
    } else part += character;
  }
  return [...parts, part];
}

const occurrences = (text: string, part: string): number => text.split(part).length - 1;

const parts = (text: string, found: readonly [at: number, length: number] | undefined, omit: boolean): readonly string[] => {
  if (found === undefined) return omit ? [text, ''] : [text, '', ''];
  const [at, length] = found;
  const middle = omit ? [] : [text.slice(at, at + length)];
  return [text.slice(0, at), ...middle, text.slice(at + length)];
};

export const SPLIT: readonly FunctionDefinition[] = [
  define({
    names: ['grel:string_split'],
    does: 'The parts between the separators: a text, or a regular expression between slashes. Empty parts at the end are dropped, but never the first part.',
    takes: [grel.value, textOrRegExp(grel.separator)],
    gives: gives.grelArray,
    fails: true,
    call: (value, separator) => withoutEmptyEnd(splitBy(value, separator)),
    examples: [
      [
        ['fire, water, earth', ','],
        ['fire', ' water', ' earth'],
      ],
      [
        ['a1b22c', '/\\d+/'],
        ['a', 'b', 'c'],
      ],
      [
        ['a,,b,,', ','],
        ['a', '', 'b'],
      ],
      [
        ['ä→ö', '→'],
        ['ä', 'ö'],
      ],
      [['', ','], ''],
      [['a', '/(/'], { fails: 'regular expression' }],
    ],
  }),
  define({
    names: ['morph:string_split_explode'],
    does: 'The parts between the separators, as several values. An empty text has none.',
    takes: [grel.value, grel.separator],
    gives: gives.grelArray,
    on: 'bytes',
    call: (value, separator) => (value === '' ? null : separator === '' ? value : value.split(separator)),
    examples: [
      [['', ';'], null],
      [
        ['b;c;d', ';'],
        ['b', 'c', 'd'],
      ],
      [['e', ';'], 'e'],
      [
        ['a;;b', ';'],
        ['a', '', 'b'],
      ],
    ],
  }),
  define({
    names: ['qm:splitTrim'],
    does: 'The parts between the separators without white space at their ends; empty parts are dropped. The separator is `,` if left out.',
    takes: [qm.value, textOrRegExp(withDefault(qm.separator, ','))],
    gives: gives.list,
    fails: true,
    call: (value, separator) =>
      splitBy(value, separator)
        .map((part) => part.trim())
        .filter((part) => part !== ''),
    examples: [
      [['a, b ,,c'], ['a', 'b', 'c']],
      [[' '], null],
      [
        ['a; b', ';'],
        ['a', 'b'],
      ],
    ],
  }),
  define({
    names: ['qm:lines'],
    does: 'The lines that are not blank.',
    takes: [qm.value],
    gives: gives.list,
    call: (value) => value.split(/\r\n|\r|\n/).filter((line) => line.trim() !== ''),
    examples: [
      [['a\r\nb\n\nc'], ['a', 'b', 'c']],
      [[''], null],
    ],
  }),
  define({
    names: ['grel:string_splitByLengths'],
    does: 'Parts of the given lengths, in UTF-16 code units; what remains is dropped.',
    takes: [grel.value, grel.integer, optional(grel.integer2), optional(grel.integers)],
    gives: gives.grelArray,
    call: (value, first, second, others) => {
      let at = 0;
      return [first, ...(second === undefined ? [] : [second]), ...others.map(readInteger)].map((length) =>
        value.slice(at, (at += Math.max(0, length))),
      );
    },
    examples: [
      [
        ['internationalization', 5, 6, ['3']],
        ['inter', 'nation', 'ali'],
      ],
      [['ab', 1], 'a'],
      [['ab', 'x'], { fails: 'not a number' }],
    ],
  }),
  define({
    names: ['grel:string_smartSplit'],
    does: 'The cells of a line of delimited text, quotes understood. Without a separator: tab or comma, whichever is more frequent.',
    takes: [grel.value, optional(grel.optionalSeparator)],
    gives: gives.grelArray,
    call: (value, separator) => smartSplit(value, separator ?? (occurrences(value, '\t') < occurrences(value, ',') ? ',' : '\t')),
    examples: [
      [['a,"b,c",d'], ['a', 'b,c', 'd']],
      [['a\tb'], ['a', 'b']],
      [
        ['a;"x ""y"""', ';'],
        ['a', 'x "y"'],
      ],
    ],
  }),
  define({
    names: ['grel:string_splitByCharType'],
    does: 'Runs of characters of the same Unicode category.',
    takes: [grel.value],
    gives: gives.grelArray,
    call: (value) => value.match(CATEGORIES) ?? null,
    examples: [
      [['BE1A3E'], ['BE', '1', 'A', '3', 'E']],
      [['HenryCTaylor'], ['H', 'enry', 'CT', 'aylor']],
      [['Éa😀'], ['É', 'a', '😀']],
      [[''], null],
    ],
  }),
  define({
    names: ['grel:string_partition'],
    does: 'What stands before the first `fragment`, the fragment, and what stands behind it. The fragment is a text, or a regular expression between slashes; `omit` leaves it out of the result.',
    takes: [grel.value, grel.fragment, withDefault(grel.omit, 'false')],
    gives: gives.grelArray,
    call: (value, fragment, omit) => parts(value, findIn(value, fragment)[0], omit),
    examples: [
      [
        ['internationalization', 'nation'],
        ['inter', 'nation', 'alization'],
      ],
      [
        ['internationalization', 'nation', 'true'],
        ['inter', 'alization'],
      ],
      [
        ['a12b', '/\\d+/'],
        ['a', '12', 'b'],
      ],
      [
        ['abc', 'x'],
        ['abc', '', ''],
      ],
    ],
  }),
  define({
    names: ['grel:string_rpartition'],
    does: 'As `grel:string_partition`, at the last `fragment`.',
    takes: [grel.value, grel.fragment, withDefault(grel.omit, 'false')],
    gives: gives.grelArray,
    call: (value, fragment, omit) => parts(value, findIn(value, fragment).at(-1), omit),
    examples: [
      [
        ['parallel', 'a'],
        ['par', 'a', 'llel'],
      ],
      [
        ['parallel', 'a', 'true'],
        ['par', 'llel'],
      ],
      [
        ['abc', 'x'],
        ['abc', '', ''],
      ],
    ],
  }),
  define({
    names: ['grel:string_ngram', 'qm:ngrams'],
    does: 'All sequences of `i` words.',
    takes: [grel.value, grel.integer],
    gives: gives.grelArray,
    call: (value, count) => {
      const words = value.match(/\S+/gu) ?? [];
      return count < 1 ? null : words.slice(0, Math.max(0, words.length - count + 1)).map((_, i) => words.slice(i, i + count).join(' '));
    },
    examples: [
      [
        ['the rain in Spain', 2],
        ['the rain', 'rain in', 'in Spain'],
      ],
      [['one', 2], null],
    ],
  }),
  define({
    names: ['qm:chunks'],
    does: 'Parts of `length` characters; the last may be shorter.',
    takes: [qm.value, own('length', 'integer')],
    gives: gives.list,
    call: (value, length) => {
      const characters = [...value];
      return length < 1
        ? null
        : Array.from({ length: Math.ceil(characters.length / length) }, (_, i) => characters.slice(i * length, (i + 1) * length).join(''));
    },
    examples: [
      [
        ['DE891234', 4],
        ['DE89', '1234'],
      ],
      [
        ['a😀b', 2],
        ['a😀', 'b'],
      ],
      [['', 2], null],
    ],
  }),
];
