/** Colours of Turtle. It colours what is half typed too, so it is no parser: the reader of mappings finds what is wrong. */
import { StreamLanguage } from '@codemirror/language';

interface State {
  /** The quotes of a text that goes over lines; undefined: there is none. */
  quotes: string | undefined;
}

const DIRECTIVE = /^(?:@(?:prefix|base)\b|(?:PREFIX|BASE)(?=\s))/i;
const NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?(?![\w:])/i;
const NAME = /^(?:[^\s"'<>()[\];,.#\\:]|\.(?=[^\s.#]))*:(?:[^\s"'<>()[\];,.#\\]|\\.|\.(?=[^\s.#[\]<"'(),;]))*/u;

export const turtle = StreamLanguage.define<State>({
  name: 'turtle',
  startState: () => ({ quotes: undefined }),
  token(stream, state) {
    if (state.quotes !== undefined) {
      const end = stream.string.indexOf(state.quotes, stream.pos);
      if (end < 0) stream.skipToEnd();
      else {
        stream.pos = end + state.quotes.length;
        state.quotes = undefined;
      }
      return 'string';
    }
    if (stream.eatSpace()) return null;
    if (stream.match(/^#.*/)) return 'comment';
    const quotes = stream.match(/^(?:"""|''')/) as RegExpMatchArray | null;
    if (quotes !== null) {
      state.quotes = quotes[0];
      return 'string';
    }
    if (stream.match(/^"(?:[^"\\]|\\.)*"?|^'(?:[^'\\]|\\.)*'?/)) return 'string';
    if (stream.match(/^<[^<>\s]*>?/)) return 'url';
    if (stream.match(DIRECTIVE) || stream.match(/^a(?=[\s<[])/)) return 'keyword';
    if (stream.match(/^@[a-z-]+/i)) return 'meta';
    if (stream.match(/^(?:true|false)\b/)) return 'bool';
    if (stream.match(NUMBER)) return 'number';
    if (stream.match(/^_:[^\s;,()[\]]*/)) return 'variableName';
    if (stream.match(NAME)) return 'propertyName';
    if (stream.match(/^\^\^/)) return 'operator';
    stream.next();
    return 'punctuation';
  },
  languageData: { commentTokens: { line: '#' }, closeBrackets: { brackets: ['(', '[', '"', '<'] } },
});
