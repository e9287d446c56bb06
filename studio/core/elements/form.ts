/** How an edge is printed. It follows from the fields that its ends read. */
import type { EdgeForm, Expression, Format, Path } from '../document.ts';
import { iterationOf, levelOf, listsBelow, sameOrBelow } from '../levels.ts';
import { fieldsOf } from './expressions.ts';

interface Begins {
  readonly base: Path;
  readonly value: Expression;
  readonly format: Format | undefined;
}

interface Ends {
  /** Where it stands: a blank node for each item has a level though it reads no field. */
  readonly levels: readonly Path[];
  readonly value: Expression;
}

/**
 * The form of an edge within one input. *same*: all is read at the iteration of the subject or in objects below it. *down*: one reference
 * goes through deeper lists. *view*: two or more do, or a field above the iteration is read, which only XPath can.
 */
export function formOf(from: Begins, to: Ends): Exclude<EdgeForm, 'join'> {
  const iteration = iterationOf(from.base);
  const own = fieldsOf(from.value).map(({ path }) => path);
  const others = to.value.kind === 'fresh' ? to.levels : fieldsOf(to.value).map(({ path }) => path);
  const isRepeated = iteration.some((step) => 'each' in step);
  const isAbove = (path: Path): boolean => {
    if (!isRepeated) return false;
    const other = iterationOf(levelOf(path));
    return sameOrBelow(other, iteration) && other.length < iteration.length;
  };
  if (from.format !== 'xml' && [...own, ...others].some(isAbove)) return 'view';
  const deeper = others.filter((path) => listsBelow(iteration, path) > 0).length;
  return deeper === 0 ? 'same' : deeper === 1 ? 'down' : 'view';
}
