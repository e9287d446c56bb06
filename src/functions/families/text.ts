/** Texts: case, spaces, counts, concatenation. */
import { excerpt } from '../../core/fault.ts';
import { define } from '../define.ts';
import { DataError, type FunctionDefinition } from '../definition.ts';
import { foldAccents } from '../folding.ts';
import { checked, gives, grel, idlab, own, qm, withDefault } from '../names.ts';
import { characters } from './part.ts';

const titleCase = (text: string): string =>
  text.toLowerCase().replace(/(^|\s)(\S)/gu, (_, space: string, first: string) => space + first.toUpperCase());

function pad(text: string, length: number, fill: string, put: (fill: string) => string): string {
  if (length > 1_000_000) throw new DataError(`${length} characters are too many`, 'At most 1000000.');
  return text.length >= length || fill === ''
    ? text
    : put(fill.repeat(Math.ceil((length - text.length) / fill.length)).slice(0, length - text.length));
}

function checkForm(form: string): void {
  if (!/^NFK?[CD]$/.test(form)) throw new DataError(`${excerpt(form)} is not a normal form`, 'Expected NFC, NFD, NFKC or NFKD.');
}

export const TEXT: readonly FunctionDefinition[] = [
  define({
    names: ['fns:helloworld'],
    does: 'The text `Hello World!`.',
    takes: [],
    gives: gives.fnsText,
    call: () => 'Hello World!',
    examples: [
      [[], 'Hello World!'],
      [[], 'Hello World!', 'text'],
    ],
  }),
  define({
    names: ['grel:toUpperCase', 'grel:toUppercase', 'grel:string_toUppercase'],
    does: 'The text in upper case.',
    takes: [grel.value],
    gives: gives.grelString,
    call: (value) => value.toUpperCase(),
    examples: [
      [['Venus'], 'VENUS'],
      [['Straße'], 'STRASSE'],
      [[['a', 'é']], ['A', 'É']],
      [[''], ''],
    ],
  }),
  define({
    names: ['grel:toLowerCase', 'grel:toLowercase', 'grel:string_toLowercase'],
    does: 'The text in lower case.',
    takes: [grel.value],
    gives: gives.grelString,
    call: (value) => value.toLowerCase(),
    examples: [
      [['VENUS'], 'venus'],
      [['ÅRHUS'], 'århus'],
    ],
  }),
  define({
    names: ['grel:string_toTitlecase', 'grel:toTitleCase', 'grel:string_toTitleCase'],
    does: 'The first letter of each word in upper case, the others in lower case. Words are separated by white space.',
    takes: [grel.value],
    gives: gives.grelString,
    call: titleCase,
    examples: [
      [['ben DE meester'], 'Ben De Meester'],
      [['élan vital'], 'Élan Vital'],
    ],
  }),
  define({
    names: ['qm:capitalize'],
    does: 'The first letter in upper case; the rest stays.',
    takes: [qm.value],
    gives: gives.string,
    call: (value) => value.replace(/^./u, (first) => first.toUpperCase()),
    examples: [
      [['venus DE Milo'], 'Venus DE Milo'],
      [['𐐨b'], '𐐀b'],
      [[''], ''],
    ],
  }),
  define({
    names: ['grel:string_trim', 'grel:string_strip', 'grel:trim'],
    does: 'Without white space at both ends.',
    takes: [grel.value],
    gives: gives.grelString,
    call: (value) => value.trim(),
    examples: [
      [['  island '], 'island'],
      [['\u00a0a\t'], 'a'],
    ],
  }),
  define({
    names: ['qm:normalizeSpace'],
    does: 'Without white space at both ends, and one space for each other run of white space.',
    takes: [qm.value],
    gives: gives.string,
    call: (value) => value.trim().replace(/\s+/gu, ' '),
    examples: [
      [['  a \n b  c'], 'a b c'],
      [['   '], ''],
    ],
  }),
  define({
    names: ['grel:string_reverse', 'grel:reverse'],
    does: 'The characters in reverse order. A letter with its combining marks is one character.',
    takes: [grel.value],
    gives: gives.grelString,
    call: (value) => characters(value).reverse().join(''),
    examples: [
      [['abc'], 'cba'],
      [['a😀e\u0301'], 'e\u0301😀a'],
      [[''], ''],
    ],
  }),
  define({
    names: ['grel:string_length'],
    does: 'The number of UTF-16 code units, as in Java and OpenRefine.',
    takes: [grel.value],
    gives: gives.grelNumber,
    call: (value) => value.length,
    examples: [
      [['Venus'], '5'],
      [['é'], '1'],
      [['😀'], '2'],
      [[''], '0'],
    ],
  }),
  define({
    names: ['qm:characterCount'],
    does: 'The number of characters. A letter with its combining marks is one character.',
    takes: [qm.value],
    gives: gives.integer,
    call: (value) => characters(value).length,
    examples: [
      [['Venus'], '5'],
      [['e\u0301'], '1'],
      [['👩‍🚀'], '1'],
      [[''], '0'],
    ],
  }),
  define({
    names: ['grel:string_replaceChars'],
    does: 'Each character of `find` replaced by the character of `replace` at the same place.',
    takes: [grel.value, grel.find, grel.replace],
    gives: gives.grelString,
    fails: true,
    call: (value, find, replace) => {
      const from = [...find];
      const to = [...replace];
      if (from.length !== to.length)
        throw new DataError(`${from.length} characters have ${to.length} replacements`, 'Give one replacement for each character.');
      return [...value].map((character) => to[from.lastIndexOf(character)] ?? character).join('');
    },
    examples: [
      [['Téxt optícál', 'áéí', 'aei'], 'Text optical'],
      [['a😀', '😀', 'b'], 'ab'],
      [['a', 'ab', 'c'], { fails: '2 characters have 1 replacements' }],
    ],
  }),
  define({
    names: ['grel:string_toString'],
    does: 'The text of the value, without its natural datatype.',
    takes: [grel.any],
    gives: gives.grelString,
    on: 'bytes',
    call: (value) => value,
    examples: [
      [[5], '5'],
      [['é'], 'é'],
    ],
  }),
  define({
    names: ['grel:string_unicode'],
    does: 'The code points of the characters.',
    takes: [grel.value],
    gives: gives.grelArray,
    call: (value) => [...value].map((character) => character.codePointAt(0)),
    examples: [
      [['Be'], ['66', '101']],
      [['😀'], '128512'],
      [[''], null],
    ],
  }),
  define({
    names: ['grel:string_fingerprint', 'qm:fingerprint'],
    does: 'A key under which spellings of the same name fall together: words in lower case without accents and punctuation, sorted, each once.',
    takes: [grel.value],
    gives: gives.grelString,
    call: (value) =>
      [
        ...new Set(
          foldAccents(value.trim().toLowerCase())
            .replace(/[\p{P}\p{C}]/gu, '')
            .split(/\s+/u),
        ),
      ]
        .sort()
        .join(' '),
    examples: [
      [[' Tom  Cruise,'], 'cruise tom'],
      [['Cruise, Tóm'], 'cruise tom'],
      [[''], ''],
    ],
  }),
  define({
    names: ['qm:removeAccents'],
    does: 'Letters without accents and ligatures; characters that have no Latin base stay.',
    takes: [qm.value],
    gives: gives.string,
    call: foldAccents,
    examples: [
      [['Ben De Mééster'], 'Ben De Meester'],
      [['Łódź, Straße'], 'Lodz, Strasse'],
      [['日本'], '日本'],
    ],
  }),
  define({
    names: ['qm:normalizeUnicode'],
    does: 'The text in a normal form of Unicode: NFC (the default), NFD, NFKC or NFKD.',
    takes: [qm.value, checked(withDefault(own('form', 'string'), 'NFC'), checkForm)],
    gives: gives.string,
    fails: true,
    call: (value, form) => {
      checkForm(form);
      return value.normalize(form);
    },
    examples: [
      [['e\u0301'], 'é'],
      [['ﬁ', 'NFKC'], 'fi'],
      [['a', 'NFX'], { fails: '"NFX" is not a normal form' }],
    ],
  }),
  define({
    names: ['idlab-fn:concat'],
    does: 'Two texts, with `delimiter` between them if given.',
    takes: [idlab.str, idlab.otherStr, withDefault(idlab.delimiter, '')],
    gives: gives.idlabString,
    on: 'bytes',
    call: (a, b, delimiter) => a + delimiter + b,
    examples: [
      [['a', 'b', '-'], 'a-b'],
      [['é', 'ü'], 'éü'],
      [['a', 'b', null], 'ab'],
      [
        [
          ['a', 'b'],
          ['c', 'd'],
        ],
        ['ac', 'ad', 'bc', 'bd'],
      ],
    ],
  }),
  define({
    names: ['grel:concat', 'morph:concat'],
    does: 'Two texts, with `sep` between them if given.',
    takes: [grel.value, grel.value2, withDefault(grel.separator, '')],
    gives: gives.grelString,
    on: 'bytes',
    call: (a, b, separator) => a + separator + b,
    examples: [
      [['a', 'b'], 'ab'],
      [['a', 'b', ', '], 'a, b'],
    ],
  }),
  define({
    names: ['idlab-fn:concatSequence'],
    does: 'The texts of a list in their order, with `delimiter` between them if given.',
    takes: [idlab.sequence, withDefault(idlab.delimiter, '')],
    gives: gives.idlabString,
    on: 'bytes',
    call: (texts, delimiter) => texts.join(delimiter),
    examples: [
      [[['a', 'b', 'c'], '/'], 'a/b/c'],
      [['é'], 'é'],
    ],
  }),
  define({
    names: ['qm:padStart'],
    does: 'Filled up at the beginning to `length` UTF-16 code units, with spaces or `fill`.',
    takes: [qm.value, qm.length, withDefault(own('fill', 'string'), ' ')],
    gives: gives.string,
    call: (value, length, fill) => pad(value, length, fill, (filling) => filling + value),
    examples: [
      [['7', 3, '0'], '007'],
      [['1234', 3, '0'], '1234'],
      [['é', 2], ' é'],
      [['a', 2000000, 'b'], { fails: 'too many' }],
    ],
  }),
  define({
    names: ['qm:padEnd'],
    does: 'Filled up at the end to `length` UTF-16 code units, with spaces or `fill`.',
    takes: [qm.value, qm.length, withDefault(own('fill', 'string'), ' ')],
    gives: gives.string,
    call: (value, length, fill) => pad(value, length, fill, (filling) => value + filling),
    examples: [
      [['7', 3, '.'], '7..'],
      [['1234', 3], '1234'],
    ],
  }),
  define({
    names: ['qm:repeat'],
    does: 'The text `times` times.',
    takes: [qm.value, own('times', 'integer')],
    gives: gives.string,
    on: 'bytes',
    fails: true,
    call: (value, times) => {
      if (times < 0 || value.length * times > 1_000_000)
        throw new DataError(`${times} times is not possible`, 'At least 0, and at most 1000000 bytes.');
      return value.repeat(times);
    },
    examples: [
      [['ab', 2], 'abab'],
      [['é', 0], ''],
      [['a', -1], { fails: '-1 times' }],
    ],
  }),
  define({
    names: ['qm:wordCount'],
    does: 'The number of words, separated by white space.',
    takes: [qm.value],
    gives: gives.integer,
    call: (value) => value.match(/\S+/gu)?.length ?? 0,
    examples: [
      [['De la  Cruz'], '3'],
      [[' '], '0'],
    ],
  }),
];
