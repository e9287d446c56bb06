/** Ranges of lists with commas. */
import type { Anchor } from '../document.ts';

/** What goes when objects of a property are removed, of which at least one stays. The same for items of any list with commas. */
export const rangesOfObjects = <T extends Anchor>(
  { objects }: { readonly objects: readonly T[] },
  removed: ReadonlySet<T>,
): readonly Anchor[] =>
  objects.flatMap((object, i) => {
    if (!removed.has(object)) return [];
    const isBehind = objects.slice(0, i).some((one) => !removed.has(one));
    const [previous, next] = [objects[i - 1], objects[i + 1]];
    return [isBehind && previous !== undefined ? { from: previous.to, to: object.to } : { from: object.from, to: next?.from ?? object.to }];
  });
