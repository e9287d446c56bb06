/** Where comments begin in YARRRML. */
import { CST, Lexer } from 'yaml';

/** Offsets of the `#` of comments. */
export function startsInYaml(text: string): readonly number[] {
  const starts: number[] = [];
  let offset = 0;
  let isScalar = false;
  for (const token of new Lexer().lex(text)) {
    // Marks of the tokenizer that are not in the text.
    if (token === CST.DOCUMENT || token === CST.FLOW_END || token === CST.SCALAR) {
      isScalar = token === CST.SCALAR;
      continue;
    }
    if (!isScalar && token.startsWith('#')) starts.push(offset);
    isScalar = false;
    offset += token.length;
  }
  return starts;
}
