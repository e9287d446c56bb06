/** The keys by which rows of the two sides of a join meet. */
import type { Expression, Join, Project } from '../../plan/algebra.ts';
import { type Accessors, compileExpression, identity, type TextOf } from '../../terms/evaluate.ts';
import { joinKey } from '../join/join.ts';
import type { RowTrace } from '../request.ts';

/**
 * Compiles the key expressions of a join, in their order, into one closure over the records of one side.
 *
 * It returns the join keys of a record: one text per combination of values (`joinKey` joins several expressions unambiguously), without
 * duplicates, the last expression varying fastest; null if some expression has no value. Keys are the values as the source writes them, in
 * one-byte text, neither escaped nor percent-encoded.
 *
 * @throws Fault mapping/reference — a reference that the source does not have. The closure throws record/term for an invalid value
 */
export function compileKeys(expressions: readonly Expression[], rows: Accessors): TextOf {
  const terms = expressions.map((expression) => compileExpression(expression, rows, identity));
  const [only] = terms;
  if (terms.length === 1 && only !== undefined && only.before === '' && only.after === '') return only.text;
  return (record, position) => {
    let keys: readonly (readonly string[])[] = [[]];
    for (const term of terms) {
      const text = term.text(record, position);
      if (text === null) return null;
      const parts = (typeof text === 'string' ? [text] : text).map((inner) => term.before + inner + term.after);
      keys = keys.flatMap((key) => parts.map((part) => [...key, part]));
    }
    return keys.length === 1 ? joinKey(keys[0] as readonly string[]) : keys.map(joinKey);
  };
}

/** The same keys, told to a trace. @param side whose keys they are */
export function tracedKeys(keys: TextOf, side: Join | Project, trace: RowTrace | undefined): TextOf {
  if (trace === undefined) return keys;
  return (record, position) => {
    const found = keys(record, position);
    if (found !== null) trace.joinKeys(side, found);
    return found;
  };
}
