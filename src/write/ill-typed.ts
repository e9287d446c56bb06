/** Literals of a write whose text is not in the lexical space of their datatype: legal RDF, which is written, counted, and named once for each datatype. */
import { excerpt } from '../core/fault.ts';
import { type LexicalSpace, lexicalSpace } from '../core/input/lexical-form.ts';
import { fromBytes, unescapeTerm } from '../core/text.ts';
import type { Statement } from '../nquads/statement.ts';

const QUOTE = 34;
const GREATER = 62;

export class IllTypedLiterals {
  readonly #found = new Map<LexicalSpace, { count: number; readonly first: string }>();

  /** @param input for messages */
  look(statements: readonly Statement[], input: string): void {
    for (const { object, line } of statements) {
      if (object.charCodeAt(0) !== QUOTE || object.charCodeAt(object.length - 1) !== GREATER) continue;
      const end = object.lastIndexOf('"');
      const space = lexicalSpace(object.slice(end + 4, -1));
      if (space === undefined) continue;
      const text = unescapeTerm(object.slice(1, end));
      if (!space.has(text)) this.#note(space, text, input, line);
    }
  }

  warnings(): readonly string[] {
    return [...this.#found].map(
      ([{ name, example }, { count, first }]) =>
        `${count} ${count === 1 ? 'literal is' : 'literals are'} no ${name}, which is written like ${example}; stores take ${count === 1 ? 'it' : 'them'} and find no value in ${count === 1 ? 'it' : 'them'}. The first: ${first}`,
    );
  }

  #note(space: LexicalSpace, text: string, input: string, line: number): void {
    const known = this.#found.get(space);
    if (known !== undefined) known.count++;
    else this.#found.set(space, { count: 1, first: `${excerpt(fromBytes(text))} (input ${input}${line === 0 ? '' : `, line ${line}`})` });
  }
}
