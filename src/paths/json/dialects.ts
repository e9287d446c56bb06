/**
 * What the JSONPaths of other engines have and RFC 9535 has not (Jayway, Goessner, JSONPath-Plus), and what to write instead.
 *
 * @see https://github.com/json-path/JsonPath#filter-operators
 */
import type { PathProblem } from '../problem.ts';

/** A construct: its pattern, and what is wrong with a match. Patterns see texts in quotes as underscores. */
interface Foreign {
  readonly pattern: RegExp;
  readonly problem: (found: readonly (string | undefined)[]) => { readonly message: string; readonly hint: string };
}

/** Longer expressions are not looked at: patterns may take time that grows with the square of the length. */
const MAX_LENGTH = 2000;

/** What is compared: `@`, `@.tags`, `$['a b'].c`. */
const QUERY = `[@$](?:\\.[^\\s.[\\](),=!<>~&|]+|\\[[^\\][]*\\])*`;
/** A list of values with at least one. */
const LIST = `\\[\\s*[^\\]\\s][^\\]]*\\]`;

const unknownOperator = (operator: string, hint: string) => ({ message: `JSONPath has no operator ${operator}`, hint });

/** The members of a list as tests, each of `left`. */
const tests = (left: string, operator: string, list: string, joint: string): string =>
  membersOf(list)
    .map((member) => `${left} ${operator} ${member}`)
    .join(` ${joint} `);

const membersOf = (list: string): readonly string[] => list.slice(1, -1).match(/'(?:\\.|[^'])*'|"(?:\\.|[^"])*"|[^\s,]+/g) ?? [];

const FILTERS: readonly Foreign[] = [
  {
    pattern: new RegExp(`(${QUERY})\\s*=~\\s*/((?:\\\\.|[^/\\\\])*)/([a-z]*)`),
    problem: ([, left, source = '', flags]) => {
      const text = `'${source.replace(/\\\//g, '/').replace(/\\/g, '\\\\').replace(/'/g, "\\'")}'`;
      const flag = flags === '' ? '' : `; there are no flags such as ${flags}: write [Aa] for both letters`;
      return unknownOperator('=~', `Write match(${left}, ${text}) for a whole text, search(${left}, ${text}) for a part of it${flag}`);
    },
  },
  {
    pattern: /=~/,
    problem: () => unknownOperator('=~', "Write match(@.name, 'pattern') for a whole text, search(@.name, 'pattern') for a part of it"),
  },
  {
    pattern: new RegExp(`(${QUERY})\\s+(in|nin)\\s+(${LIST})`, 'i'),
    problem: ([, left = '', word = '', list = '']) => {
      const isIn = word.toLowerCase() === 'in';
      return unknownOperator(word, `Write ${isIn ? tests(left, '==', list, '||') : tests(left, '!=', list, '&&')}`);
    },
  },
  {
    pattern: new RegExp(`(${QUERY})\\s+(anyof|noneof|subsetof)\\s+(${LIST})`, 'i'),
    problem: ([, left = '', word = '', list = '']) => {
      const isSubset = word.toLowerCase() === 'subsetof';
      const inner = isSubset ? tests('@', '!=', list, '&&') : tests('@', '==', list, '||');
      return unknownOperator(word, `Write ${word.toLowerCase() === 'anyof' ? '' : '!'}${left}[?${inner}]`);
    },
  },
  {
    pattern: new RegExp(`(${QUERY})\\s+contains\\s+([^\\s)&|\\]]+)`, 'i'),
    problem: ([, left, value]) =>
      unknownOperator('contains', `Write search(${left}, ${value}) for a part of a text, ${left}[?@ == ${value}] for a member of an array`),
  },
  {
    pattern: new RegExp(`(${QUERY})\\s+(size|empty)\\s+([^\\s)&|\\]]+)`, 'i'),
    problem: ([, left, word = '', value = '']) => {
      const test = word.toLowerCase() === 'size' ? `== ${value}` : value.toLowerCase() === 'true' ? '== 0' : '> 0';
      return unknownOperator(word, `Write length(${left}) ${test}`);
    },
  },
  {
    pattern: new RegExp(`${QUERY}\\s+(in|nin|anyof|noneof|subsetof|contains|size|empty)\\b`, 'i'),
    problem: ([, word = '']) => unknownOperator(word, "Write comparisons: @.name == 'a' || @.name == 'b'"),
  },
  {
    pattern: /\[\s*\(?\s*@\.length\s*-\s*([0-9]+)\s*\)?\s*\]/,
    problem: ([, back]) => ({
      message: 'JSONPath has no scripts in brackets',
      hint: `Positions from the end are negative: write [-${back}]`,
    }),
  },
  {
    pattern: /@\.length\s*-\s*([0-9]+)/,
    problem: ([, back]) => ({
      message: 'JSONPath does not calculate',
      hint: `An element from the end is [-${back}]; the number of elements is length(@)`,
    }),
  },
  {
    pattern: /\[\s*\(/,
    problem: () => ({
      message: 'JSONPath has no scripts in brackets',
      hint: 'A filter begins with ?: [?(@.age > 18)]; the last element is [-1]',
    }),
  },
  {
    pattern: /([@$](?:\.[^\s.[\](),=!<>~&|-]+|\[[^\][]*\])*)\.([\p{L}\p{N}_]+(?:-[\p{L}_][\p{L}\p{N}_]*)+)/u,
    problem: ([, before, name]) => ({ message: 'A name with a hyphen stands in brackets', hint: `Write ${before}['${name}']` }),
  },
  {
    pattern: new RegExp(`(${QUERY})\\.(length|size|count)\\s*\\(\\s*\\)`),
    problem: ([, left, name = '']) => ({ message: `JSONPath has no function ${name}() behind a path`, hint: `Write length(${left})` }),
  },
  {
    pattern: new RegExp(`${QUERY}\\.(sum|min|max|avg|stddev|keys|index|concat|append|entries|values)\\s*\\(`),
    problem: ([, name = '']) => ({
      message: `JSONPath has no function ${name}() behind a path`,
      hint: 'A filter has length(), count(), match(), search() and value(); leave other records out by rml:condition',
    }),
  },
  {
    pattern: /([!=])==/,
    problem: ([, first]) => unknownOperator(`${first}==`, `Write ${first}=`),
  },
  { pattern: /<>/, problem: () => unknownOperator('<>', 'Write !=') },
  { pattern: /(?<![=!<>])=(?![=~])/, problem: () => unknownOperator('=', 'Write ==') },
  {
    pattern: /(?<=[\s)(?])(and|or|not)(?=[\s(])/i,
    problem: ([, word = '']) => unknownOperator(word, `Write ${{ and: '&&', or: '||' }[word.toLowerCase()] ?? '!'}`),
  },
  { pattern: /(?<!&)&(?!&)/, problem: () => unknownOperator('&', 'Write &&') },
  { pattern: /(?<!\|)\|(?!\|)/, problem: () => unknownOperator('|', 'Write ||') },
  {
    pattern: new RegExp(`${QUERY}\\s*([+*/%]|\\s-)\\s*[@$\\d]`),
    problem: () => ({
      message: 'JSONPath does not calculate',
      hint: 'Compare with a number, or calculate in a function of the mapping (docs/functions.md)',
    }),
  },
];

const FUNCTION_HINTS: Readonly<Record<string, string>> = {
  first: 'The first element is [0]',
  last: 'The last element is [-1]',
  length: 'Let the function grel:array_length count the values of a reference',
  size: 'Let the function grel:array_length count the values of a reference',
  count: 'Let the function grel:array_length count the values of a reference',
  sum: 'Let the function grel:array_sum add the values of a reference',
  keys: 'JSONPath gives values, never the names of members',
};

const PATHS: readonly Foreign[] = [
  {
    pattern: /\.(length|size|count|sum|min|max|avg|stddev|keys|first|last|index|concat|append|entries|values)\s*\(\s*(-?[0-9]*)[^()]*\)/,
    problem: ([, name = '', position = '']) => ({
      message: `JSONPath has no function ${name}() behind a path`,
      hint:
        name === 'index' && position !== ''
          ? `Write [${position}]`
          : (FUNCTION_HINTS[name] ?? 'Use a function of the mapping (docs/functions.md)'),
    }),
  },
  { pattern: /~\s*$/, problem: () => ({ message: 'JSONPath has no ~ for names', hint: FUNCTION_HINTS.keys as string }) },
  {
    pattern: /(?<=[\p{L}\p{N}_\])*])\^+/u,
    problem: ([ups = '']) => ({
      message: 'A ^ stands behind a path',
      hint: `A reference leads to a parent from its beginning: $${ups}.name, one ^ for each level (docs/jsonpath.md)`,
    }),
  },
];

/** What other JSONPaths have in an expression that is not valid here; undefined: nothing that is known. */
export const foreignSyntax = (text: string): PathProblem | undefined =>
  (/\[\s*[?(@]/.test(text) ? firstOf(FILTERS, text) : undefined) ?? firstOf(PATHS, text);

/** What other JSONPaths have for functions behind a path. Legacy RML reads it as the name of a member. */
export const foreignFunction = (text: string): PathProblem | undefined => firstOf(PATHS, text);

function firstOf(rows: readonly Foreign[], text: string): PathProblem | undefined {
  if (text.length > MAX_LENGTH) return undefined;
  const masked = text.replace(/'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"/g, (quoted) => '_'.repeat(quoted.length));
  for (const { pattern, problem } of rows) {
    const found = new RegExp(pattern.source, `${pattern.flags}d`).exec(masked);
    if (found === null) continue;
    // As they are written, with the texts in quotes.
    const written = found.indices?.map((span) => (span === undefined ? undefined : text.slice(span[0], span[1])));
    return { ...problem(written ?? []), position: found.index };
  }
  return undefined;
}
