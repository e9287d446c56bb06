import { withAnyNamespace } from '../../../paths/xml/path.ts';

/**
 * Streamability of XPath expressions: which part of the document an expression needs.
 *
 * `record`: the record's subtree, and attributes of its ancestors. `document`: anything else, and whatever cannot be decided from the
 * expression's tokens; such an iteration reads the whole document, so that results are always correct.
 */
export type Streamability = 'record' | 'document';

const NAME = '[\\p{L}_][\\p{L}\\p{M}\\p{N}_.\\-·]*';
const WORD = new RegExp(
  `\\(:[^]*?:\\)|"(?:[^"]|"")*"|'(?:[^']|'')*'|[0-9]+(?:\\.[0-9]*)?|(?:${NAME}:)?${NAME}|//|::|\\.\\.|:=|!=|<=|>=|<<|>>|\\|\\||=>|->|\\S`,
  'gu',
);
const UP_AXES = new Set(['parent', 'ancestor', 'ancestor-or-self']);
const SIDE_AXES = new Set(['following', 'preceding', 'following-sibling', 'preceding-sibling', 'namespace']);
/** Functions that find nodes elsewhere, or depend on where a node is. */
const FAR_FUNCTIONS = new Set([
  'root',
  'id',
  'idref',
  'element-with-id',
  'path',
  'generate-id',
  'function-lookup',
  'load-xquery-module',
  'transform',
]);
const OPERATORS = new Set(
  'and or div idiv mod to union intersect except eq ne lt le gt ge is return then else satisfies in instance treat castable cast of as'.split(
    ' ',
  ),
);
/** What a predicate of an ancestor may contain: comparisons of its attributes, and positions. */
const PREDICATE_WORD = /^(?:["'0-9].*|=|!=|<|>|<=|>=|and|or|\(|\)|@)$/su;
const PREDICATE_FUNCTIONS = new Set(['not', 'position', 'last']);

export function streamabilityOf(expression: string): Streamability {
  const words = (withAnyNamespace(expression).match(WORD) ?? []).filter((word) => !word.startsWith('(:'));
  let operand = true;
  for (let i = 0; i < words.length; i++) {
    const word = words[i] as string;
    const next = words[i + 1];
    if ((word === '/' || word === '//') && operand) return 'document';
    if (next === '::' && SIDE_AXES.has(word)) return 'document';
    if (next === '(' && FAR_FUNCTIONS.has(word.slice(word.indexOf(':') + 1))) return 'document';
    if (next === '#' || word === '#') return 'document';
    if (word === '..' || (next === '::' && UP_AXES.has(word))) {
      const end = afterAncestors(words, i);
      if (end === undefined) return 'document';
      i = end;
      operand = false;
      continue;
    }
    operand = operand ? /^(?:[([,=<>|+\-*!]|[!<>:]=|<<|>>|\|\||=>|->|@|::|\{)$/u.test(word) && word !== '*' : beginsOperand(word);
  }
  return 'record';
}

/** After an operand: whether another operand must follow. */
const beginsOperand = (word: string): boolean => OPERATORS.has(word) || /^(?:[([,=<>|+\-*!{]|[!<>:]=|<<|>>|\|\||=>|->|\?)$/u.test(word);

/** Index of the attribute sign or axis that ends steps to ancestors; undefined if they end otherwise. */
function afterAncestors(words: readonly string[], from: number): number | undefined {
  let i = from;
  while (true) {
    if (words[i] === '..') i++;
    else if (words[i + 1] === '::' && UP_AXES.has(words[i] as string)) {
      i += 3;
      if (words[i] === '(') {
        if (words[i + 1] !== ')') return undefined;
        i += 2;
      } else if (words[i] === ':') i += 2;
    } else return words[i] === '@' || (words[i] === 'attribute' && words[i + 1] === '::') ? i : undefined;
    while (words[i] === '[') {
      const end = words.indexOf(']', i);
      if (end < 0) return undefined;
      for (let k = i + 1; k < end; k++) {
        const word = words[k] as string;
        if (words[k - 1] === '@' || PREDICATE_WORD.test(word)) continue;
        if (!(PREDICATE_FUNCTIONS.has(word) && words[k + 1] === '(')) return undefined;
      }
      i = end + 1;
    }
    if (words[i] !== '/') return undefined;
    i++;
  }
}
