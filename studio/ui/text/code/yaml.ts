/** Colours of YARRRML: keys, texts with their references, comments. */
import { StreamLanguage } from '@codemirror/language';

export const yaml = StreamLanguage.define<Record<string, never>>({
  name: 'yaml',
  startState: () => ({}),
  token(stream) {
    if (stream.eatSpace()) return null;
    if ((stream.sol() || /\s/.test(stream.string[stream.pos - 1] ?? '')) && stream.match(/^#.*/)) return 'comment';
    if (stream.match(/^(?:"(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|[^\s#"'[\]{},&*!|>-][^:#,[\]{}]*)(?=\s*:(?:\s|$))/)) return 'propertyName';
    if (stream.match(/^\$\([^)]*\)/)) return 'variableName';
    if (stream.match(/^"(?:[^"\\]|\\.)*"?|^'(?:[^']|'')*'?/)) return 'string';
    if (stream.match(/^(?:true|false|null)(?=[\s,\]}]|$)/)) return 'bool';
    if (stream.match(/^[+-]?\d+(?:\.\d+)?(?=[\s,\]}]|$)/)) return 'number';
    if (stream.match(/^[&*!][\w-]+/)) return 'labelName';
    if (stream.match(/^(?:---|\.\.\.|[-:?,[\]{}|>])/)) return 'punctuation';
    if (stream.match(/^[^\s,[\]{}$"']+/)) return null;
    stream.next();
    return null;
  },
  languageData: { commentTokens: { line: '#' }, closeBrackets: { brackets: ['(', '[', '{', '"', "'"] } },
});
