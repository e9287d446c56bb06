/** Slices of JSON and XML documents: each is a whole document with some of the elements. */
import type { IterationPlan } from '../../plan/plan.ts';
import { JsonCuts, namesToRecords, textBefore, textBehind } from '../../sources/json/cuts.ts';
import type { ReadOptions } from '../../sources/source.ts';
import { levelOfRecords, XmlCuts } from '../../sources/xml/parse/cuts.ts';
import type { ByteSlice } from '../request.ts';
import { cutsIn, type Document, slicesBetween } from './document.ts';

/**
 * @param mark length of the byte order mark
 * @param targets ascending offsets: for each, a slice begins at the first element at or behind it
 * @returns one slice or none: the records of the iterations are not independent, or there are not enough elements
 */
export async function* elementSlices(
  document: Document,
  formulation: 'json' | 'xml',
  iterations: readonly IterationPlan[],
  options: ReadOptions,
  mark: number,
  targets: readonly number[],
): AsyncGenerator<ByteSlice> {
  if (formulation === 'json') {
    const names = namesToRecords(iterations, options);
    if (names === undefined) return;
    const [before, behind] = [textBefore(names), textBehind(names)];
    const cuts = cutsIn(document, mark, new JsonCuts(names, mark, targets), ({ to, from }) => ({ to, from, before, behind }));
    yield* slicesBetween(document, 0, cuts);
    return;
  }
  const level = levelOfRecords(iterations);
  if (level === undefined) return;
  const cuts = cutsIn(document, mark, new XmlCuts(level, mark, targets), ({ at, before, behind }) => ({
    to: at,
    from: at,
    before,
    behind,
  }));
  yield* slicesBetween(document, 0, cuts);
}
