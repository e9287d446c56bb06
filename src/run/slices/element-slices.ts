/** Slices of JSON and XML documents: each is a whole document with some of the elements. */
import type { IterationPlan } from '../../plan/plan.ts';
import { JsonCuts, namesToRecords, textBefore, textBehind } from '../../sources/json/cuts.ts';
import type { ReadOptions } from '../../sources/source.ts';
import { levelOfRecords, XmlCuts } from '../../sources/xml/parse/cuts.ts';
import type { ByteSlice } from '../request.ts';
import type { Document } from './document.ts';

/**
 * @param mark length of the byte order mark
 * @param targets ascending offsets: for each, a slice begins at the first element at or behind it
 * @returns one slice or none: the records of the iterations are not independent, or there are not enough elements
 */
export async function elementSlices(
  document: Document,
  formulation: 'json' | 'xml',
  iterations: readonly IterationPlan[],
  options: ReadOptions,
  mark: number,
  targets: readonly number[],
): Promise<readonly ByteSlice[]> {
  if (formulation === 'json') {
    const names = namesToRecords(iterations, options);
    if (names === undefined) return [];
    const { cuts } = await walked(document, mark, new JsonCuts(names, mark, targets));
    const [before, behind] = [textBefore(names), textBehind(names)];
    return slicesBetween(
      document,
      cuts.map(({ to, from }) => ({ to, from, before, behind })),
    );
  }
  const level = levelOfRecords(iterations);
  if (level === undefined) return [];
  const { cuts } = await walked(document, mark, new XmlCuts(level, mark, targets));
  return slicesBetween(
    document,
    cuts.map(({ at, before, behind }) => ({ to: at, from: at, before, behind })),
  );
}

async function walked<C extends JsonCuts | XmlCuts>(document: Document, from: number, cuts: C): Promise<C> {
  for await (const chunk of document.bytes(from)) {
    cuts.feed(chunk);
    if (!cuts.wanted) break;
  }
  return cuts;
}

interface Cut {
  /** Where the slice before it ends, and the text behind that. */
  readonly to: number;
  readonly behind: string;
  /** Where the slice behind it begins, and the text before that. */
  readonly from: number;
  readonly before: string;
}

function slicesBetween({ sizeBytes, version }: Document, cuts: readonly Cut[]): readonly ByteSlice[] {
  return Array.from({ length: cuts.length + 1 }, (_, i): ByteSlice => {
    const [begin, end] = [cuts[i - 1], cuts[i]];
    return {
      kind: 'bytes',
      head: 0,
      from: begin?.from ?? 0,
      to: end?.to ?? sizeBytes,
      version,
      ...(begin === undefined ? {} : { before: begin.before }),
      ...(end === undefined ? {} : { behind: end.behind }),
    };
  });
}
