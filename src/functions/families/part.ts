/** Parts of texts. Positions count UTF-16 code units, as in Java and OpenRefine; nothing is cut within a character. */
import { define } from '../define.ts';
import type { FunctionDefinition } from '../definition.ts';
import { gives, grel, optional, own, qm } from '../names.ts';

const LOW = /^[\udc00-\udfff]/;
const HIGH = /[\ud800-\udbff]$/;

/** `text.slice`, moved back to the beginning of a character. */
function cut(text: string, from: number, to?: number): string {
  const start = LOW.test(text.slice(from, from + 1)) && HIGH.test(text.slice(0, from)) ? from - 1 : from;
  const part = text.slice(start, to);
  return to !== undefined && to < text.length && HIGH.test(part) && LOW.test(text.slice(to)) ? part.slice(0, -1) : part;
}

/** GREL's substring: negative positions count from the end; none where `from` lies behind the end. */
function substring(text: string, from: number, to: number | undefined): string | null {
  const start = from < 0 ? text.length + from : from;
  const end = to === undefined ? undefined : to < 0 ? text.length + to : to;
  if (start < 0 || start > text.length || (end !== undefined && end < start)) return null;
  return cut(text, start, end);
}

const segmenter = new Intl.Segmenter('en');

/** A letter with its combining marks is one. */
export const characters = (text: string): string[] => [...segmenter.segment(text)].map(({ segment }) => segment);

export const PART: readonly FunctionDefinition[] = [
  define({
    names: ['grel:string_chomp'],
    does: 'Without `sep` at the end, if it stands there.',
    takes: [grel.value, grel.separator],
    gives: gives.grelString,
    on: 'bytes',
    call: (value, end) => (end !== '' && value.endsWith(end) ? value.slice(0, -end.length) : value),
    examples: [
      [['hardly', 'ly'], 'hard'],
      [['hard', 'ly'], 'hard'],
      [['café', 'é'], 'caf'],
    ],
  }),
  define({
    names: ['qm:removePrefix'],
    does: 'Without `prefix` at the beginning, if it stands there.',
    takes: [qm.value, own('prefix', 'string')],
    gives: gives.string,
    on: 'bytes',
    call: (value, start) => (value.startsWith(start) ? value.slice(start.length) : value),
    examples: [
      [['urn:isbn:123', 'urn:isbn:'], '123'],
      [['123', 'urn:'], '123'],
    ],
  }),
  define({
    names: ['grel:string_substring', 'grel:string_slice', 'grel:string_get'],
    does: 'The part from position `from` up to, not including, `to`; to the end without `to`. Positions begin with 0; negative ones count from the end. No result where `from` lies behind the end, or `to` before `from`.',
    takes: [grel.value, grel.from, optional(grel.to)],
    gives: gives.grelString,
    call: substring,
    examples: [
      [['profound', 3], 'found'],
      [['profound', 2, 4], 'of'],
      [['profound', 1, -1], 'rofoun'],
      [['Venus', 5], ''],
      [['Venus', 1000], null],
      [['a😀b', 1, 3], '😀'],
      [['a😀b', 0, 2], 'a'],
      [['Venus', 'x'], { fails: '"x" is not a number' }],
    ],
  }),
  define({
    names: ['qm:left'],
    does: 'At most `length` characters from the beginning. A letter with its combining marks is one character.',
    takes: [qm.value, qm.length],
    gives: gives.string,
    call: (value, length) => characters(value).slice(0, Math.max(0, length)).join(''),
    examples: [
      [['Venus', 2], 'Ve'],
      [['e\u0301a', 1], 'e\u0301'],
      [['👩‍🚀!', 1], '👩‍🚀'],
      [['ab', 9], 'ab'],
    ],
  }),
  define({
    names: ['qm:right'],
    does: 'At most `length` characters from the end. A letter with its combining marks is one character.',
    takes: [qm.value, qm.length],
    gives: gives.string,
    call: (value, length) => (length <= 0 ? '' : characters(value).slice(-length).join('')),
    examples: [
      [['Venus', 2], 'us'],
      [['ae\u0301', 1], 'e\u0301'],
      [['ab', 0], ''],
    ],
  }),
  define({
    names: ['qm:before'],
    does: 'What stands before the first `separator`; no result if there is none.',
    takes: [qm.value, qm.separator],
    gives: gives.string,
    on: 'bytes',
    call: (value, separator) => (value.includes(separator) ? value.slice(0, value.indexOf(separator)) : null),
    examples: [
      [['ben@example.org', '@'], 'ben'],
      [['ben', '@'], null],
      [['ä→b', '→'], 'ä'],
    ],
  }),
  define({
    names: ['qm:after'],
    does: 'What stands behind the first `separator`; no result if there is none.',
    takes: [qm.value, qm.separator],
    gives: gives.string,
    on: 'bytes',
    call: (value, separator) => (value.includes(separator) ? value.slice(value.indexOf(separator) + separator.length) : null),
    examples: [
      [['ben@example.org', '@'], 'example.org'],
      [['ben', '@'], null],
      [['a→ü', '→'], 'ü'],
    ],
  }),
  define({
    names: ['grel:string_startsWith'],
    does: 'Whether the text begins with `sub`.',
    takes: [grel.value, grel.sub],
    gives: gives.grelBoolean,
    on: 'bytes',
    call: (value, sub) => value.startsWith(sub),
    examples: [
      [['food', 'foo'], 'true'],
      [['food', 'bar'], 'false'],
    ],
  }),
  define({
    names: ['grel:string_endsWith'],
    does: 'Whether the text ends with `sub`.',
    takes: [grel.value, grel.sub],
    gives: gives.grelBoolean,
    on: 'bytes',
    call: (value, sub) => value.endsWith(sub),
    examples: [
      [['food', 'ood'], 'true'],
      [['café', 'e'], 'false'],
    ],
  }),
  define({
    names: ['grel:string_contains'],
    does: 'Whether `sub` stands in the text.',
    takes: [grel.value, grel.sub],
    gives: gives.grelBoolean,
    on: 'bytes',
    call: (value, sub) => value.includes(sub),
    examples: [
      [['food', 'oo'], 'true'],
      [['food', 'ee'], 'false'],
      [['naïve', 'ï'], 'true'],
    ],
  }),
  define({
    names: ['grel:string_indexOf'],
    does: 'The position of the first `sub`, from 0 on; -1 if there is none.',
    takes: [grel.value, grel.sub],
    gives: gives.grelNumber,
    call: (value, sub) => value.indexOf(sub),
    examples: [
      [['internationalization', 'nation'], '5'],
      [['éa', 'a'], '1'],
      [['a', 'b'], '-1'],
    ],
  }),
  define({
    names: ['grel:string_lastIndexOf'],
    does: 'The position of the last `sub`, from 0 on; -1 if there is none.',
    takes: [grel.value, grel.sub],
    gives: gives.grelNumber,
    call: (value, sub) => value.lastIndexOf(sub),
    examples: [
      [['parallel', 'a'], '3'],
      [['ééa', 'é'], '1'],
      [['a', 'b'], '-1'],
    ],
  }),
  define({
    names: ['grel:string_diff'],
    does: 'The rest of the second text from the first character on that differs.',
    takes: [grel.value, grel.value2],
    gives: gives.grelString,
    call: (a, b) => {
      const first = [...a];
      const second = [...b];
      let same = 0;
      while (same < second.length && first[same] === second[same]) same++;
      return second.slice(same).join('');
    },
    examples: [
      [['cacti', 'cactus'], 'us'],
      [['a', 'a'], ''],
      [['😀', '😁'], '😁'],
    ],
  }),
];
