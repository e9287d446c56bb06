/** The position at which a text stops being JSON: messages of the engine do not always contain it. */
import jsonc from 'jsonc-parser';

export interface JsonError {
  /** 1-based. */
  readonly line: number;
  /** 1-based, in characters. */
  readonly column: number;
  readonly expected: string;
}

const STRING = 'a string that is well-formed and ends';

/** By the names of the parser's errors. */
const EXPECTED: Readonly<Record<string, string>> = {
  ValueExpected: 'a value',
  PropertyNameExpected: 'a name in double quotes',
  InvalidSymbol: 'JSON, in which names and texts are in double quotes',
  ColonExpected: "':'",
  CommaExpected: "','",
  CloseBraceExpected: "',' or '}'",
  CloseBracketExpected: "',' or ']'",
  EndOfFileExpected: 'the end of the text',
  InvalidNumberFormat: 'a number',
  InvalidCommentToken: 'no comment',
  UnexpectedEndOfString: STRING,
  InvalidUnicode: STRING,
  InvalidEscapeCharacter: STRING,
  InvalidCharacter: STRING,
};

/** The first place at which `text` is not JSON (RFC 8259); undefined: the parser finds none, or the text is nested too deeply for it. */
export function findJsonError(text: string): JsonError | undefined {
  const errors: jsonc.ParseError[] = [];
  try {
    jsonc.parse(text, errors, { disallowComments: true });
  } catch (error) {
    // It calls itself for each level, unlike JSON.parse: the stack ends at some thousands.
    if (error instanceof RangeError) return undefined;
    throw error;
  }
  const [first] = errors;
  if (first === undefined) return undefined;
  const before = text.slice(0, first.offset);
  const lineStart = before.lastIndexOf('\n') + 1;
  const expected = EXPECTED[jsonc.printParseErrorCode(first.error)] ?? 'JSON';
  return { line: before.split('\n').length, column: [...before.slice(lineStart)].length + 1, expected };
}
