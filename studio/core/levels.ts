/**
 * Levels: the objects that own fields, in a list or not.
 *
 * A level is the path of an object, such as `$[*].lines[*]`. Two levels are compared by their shape, in which an item that was chosen alone
 * (`lines[2]`) counts as any item. Which objects are the same is a separate question (`sameObject`).
 */
import type { Format, Path, Step } from './document.ts';

/** How a field was chosen: for all objects (`grouped`), of one object (`ungrouped`), or where there is no list on the way (`single`). */
export type View = 'grouped' | 'ungrouped' | 'single';

const FLAT: ReadonlySet<Format> = new Set<Format>(['csv', 'xlsx', 'ods', 'sql']);

/** Whether records of the format are rows: they have one level. */
export const isFlat = (format: Format): boolean => FLAT.has(format);

const isIndex = (step: Step): boolean => 'index' in step;
const isItem = (step: Step): boolean => 'each' in step || 'index' in step;

/** A text that two paths share exactly when they are the same. */
export const pathKey = (path: Path): string => path.map(stepKey).join('/');

function stepKey(step: Step): string {
  if ('name' in step) return `.${escaped(step.name)}`;
  if ('attribute' in step) return `@${escaped(step.attribute)}`;
  if ('each' in step) return '*';
  return 'index' in step ? `${step.index}` : 'text()';
}

const escaped = (name: string): string => name.replace(/[~/]/g, (one) => (one === '~' ? '~0' : '~1'));

export const samePath = (a: Path, b: Path): boolean => pathKey(a) === pathKey(b);

/** Any item in place of a certain one. */
export const shapeOf = (path: Path): Path => path.map((step) => (isIndex(step) ? { each: true } : step));

/** The object that owns a field; an item of a list owns itself. */
export function levelOf(path: Path): Path {
  const last = path.at(-1);
  return last === undefined || isItem(last) ? path : path.slice(0, -1);
}

export const viewOf = (path: Path): View => (path.some(isIndex) ? 'ungrouped' : path.some((step) => 'each' in step) ? 'grouped' : 'single');

/** Whether elements of the two views may be linked. What has no list on the way belongs to both. */
export const viewsMeet = (a: View, b: View): boolean => a === 'single' || b === 'single' || a === b;

/**
 * What is repeated for a level: the nearest list at or above it whose items are all meant. Of one object that was chosen alone: the object
 * in the outermost list.
 */
export function iterationOf(level: Path): Path {
  const last = level.findLastIndex((step) => 'each' in step);
  return level.slice(0, last >= 0 ? last + 1 : level.findIndex(isIndex) + 1);
}

const startsWith = (path: readonly string[], beginning: readonly string[]): boolean => beginning.every((key, i) => path[i] === key);
const shapeKeys = (path: Path): readonly string[] => shapeOf(path).map(stepKey);

/** Whether `b` is the level `a` or one below it. */
export const sameOrBelow = (a: Path, b: Path): boolean => startsWith(shapeKeys(b), shapeKeys(a));

export const sameLevel = (a: Path, b: Path): boolean => sameOrBelow(a, b) && sameOrBelow(b, a);

/** Whether one of the levels is the other one, or above it. */
export const onOneBranch = (a: Path, b: Path): boolean => sameOrBelow(a, b) || sameOrBelow(b, a);

/** Whether each level is above or below each other one, or the same. */
export const areChain = (levels: readonly Path[]): boolean => levels.every((a, i) => levels.slice(i + 1).every((b) => onOneBranch(a, b)));

/** The longest of a chain of levels. */
export const deepestOf = (levels: readonly Path[]): Path | undefined =>
  levels.reduce<Path | undefined>(
    (deepest, level) => (deepest === undefined || level.length > deepest.length ? level : deepest),
    undefined,
  );

/** How many lists a path goes through below an iteration. */
export function listsBelow(iteration: Path, path: Path): number {
  const shared = sharedSteps(iteration, path);
  return path.slice(shared).filter((step) => 'each' in step).length;
}

/** The number of steps that both paths begin with, in their shape. */
export function sharedSteps(a: Path, b: Path): number {
  const [left, right] = [shapeKeys(a), shapeKeys(b)];
  const differs = left.findIndex((key, i) => key !== right[i]);
  return differs < 0 ? left.length : differs;
}

/** `path` within the single objects that `from` leads into: their positions in place of any, as far as both go through the same lists. */
export function inObjectOf(from: Path, path: Path): Path {
  const shared = sharedSteps(from, path);
  return path.map((step, i) => (i < shared && 'each' in step ? (from[i] ?? step) : step));
}

/**
 * The positions, from 0, of the two objects of an outermost list that the paths lead into, if the objects differ. undefined: both lead into
 * one object, or one of them into no certain object of that list.
 */
export function differentObjects(a: Path, b: Path): readonly [number, number] | undefined {
  const at = a.findIndex(isIndex);
  if (at < 0 || !samePath(a.slice(0, at), b.slice(0, at))) return undefined;
  const [left, right] = [a[at], b[at]];
  if (left === undefined || right === undefined || !('index' in left) || !('index' in right)) return undefined;
  return left.index === right.index ? undefined : [left.index, right.index];
}

/** Whether two paths lead into one object of the outermost list. */
export const sameObject = (a: Path, b: Path): boolean => differentObjects(a, b) === undefined;
