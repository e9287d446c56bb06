/** Single items of lists that a model reads: what the tree of an input shows of them beside the first ones. */
import type { Id, Path, StudioDocument } from '../document.ts';
import { pathKey } from '../levels.ts';
import { fieldsOfRecord, inputOf, recordsOf, withRecords } from './records.ts';

export interface UsedItem {
  /** With indices for the lists above, and `each` at the end. */
  readonly list: Path;
  /** From 0. */
  readonly position: number;
  /** What is read of the item itself, and of no list in it. */
  readonly reads: readonly Path[];
}

/** Each item once; one that is in another one comes after it. */
export function itemsUsed(document: StudioDocument, input: Id): readonly UsedItem[] {
  const items = new Map<string, UsedItem & { readonly reads: Path[] }>();
  for (const path of pathsRead(document, input)) {
    let last: (UsedItem & { readonly reads: Path[] }) | undefined;
    for (const [i, step] of path.entries()) {
      if (!('index' in step)) continue;
      const key = pathKey(path.slice(0, i + 1));
      last = items.get(key) ?? { list: [...path.slice(0, i), { each: true }], position: step.index, reads: [] };
      items.set(key, last);
    }
    if (last !== undefined && !last.reads.some((one) => pathKey(one) === pathKey(path))) last.reads.push(path);
  }
  return [...items.values()];
}

/** A document of which nothing says how its inputs are shown: one by one where the model reads single items alone. */
export function shownAsRead(document: StudioDocument): StudioDocument {
  const single = recordsOf(document, 'input').filter(({ id }) => {
    const paths = pathsRead(document, id);
    return paths.some(isSingle) && !paths.some((path) => path.some((step) => 'each' in step));
  });
  return single.length === 0
    ? document
    : withRecords(
        document,
        single.map((input) => ({ ...input, grouped: false })),
      );
}

const isSingle = (path: Path): boolean => path.some((step) => 'index' in step);

/** Of fields and of the objects that entities stand for. */
function pathsRead(document: StudioDocument, id: Id): readonly Path[] {
  if (inputOf(document, id) === undefined) return [];
  return [...document.records.values()].flatMap((record) => [
    ...(record.kind === 'entity' && record.input === id ? [record.level] : []),
    ...fieldsOfRecord(record).flatMap(({ input, path }) => (input === id ? [path] : [])),
  ]);
}
