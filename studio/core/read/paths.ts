/** Iterators and references as text → steps from the root of a document. */
import { fromBytes } from '../../../src/core/text.ts';
import { parseReference, type Reference } from '../../../src/paths/json/parse.ts';
import { parsePath, type Path as XPath } from '../../../src/paths/xml/path.ts';
import type { Path, Step } from '../document.ts';
import { pathKey } from '../levels.ts';

/** undefined: the canvas does not take the text apart. */
export type ReadPath = (text: string) => Path | undefined;

/**
 * References of JSON, from the records of an iterator. `loose`: as legacy mappings are read, where `$^` leads to parents. Today's RML has names
 * for these by logical views.
 */
export const jsonPathReader =
  (iterator: Path, isLoose: boolean): ReadPath =>
  (text) => {
    const found = jsonSteps(text, isLoose);
    if (found === undefined || (found.ups > 0 && !isLoose) || found.ups > iterator.length) return undefined;
    const path = [...iterator.slice(0, iterator.length - found.ups), ...found.steps];
    // Below `[*]` a position means one item of each list, which no view selects.
    return path.some((step, i) => 'index' in step && path.slice(0, i).some((one) => 'each' in one)) ? undefined : path;
  };

function jsonSteps(text: string, isLoose: boolean): { readonly ups: number; readonly steps: Path } | undefined {
  let reference: Reference;
  try {
    reference = parseReference(text, isLoose ? 'loose' : 'short');
  } catch {
    return undefined;
  }
  if (!reference.query.absolute) return undefined;
  const steps: Step[] = [];
  for (const { descendant, selectors } of reference.query.segments) {
    const [only, ...others] = selectors;
    if (descendant || only === undefined || others.length > 0) return undefined;
    if (only.kind === 'name') steps.push({ name: fromBytes(only.name) });
    else if (only.kind === 'wildcard') steps.push({ each: true });
    else if (only.kind === 'index' && only.index >= 0) steps.push({ index: only.index });
    else return undefined;
  }
  return { ups: reference.ups, steps };
}

/**
 * References of XML. Elements that an iterator of the same document names are items of a list.
 *
 * @param lists keys of the paths of all iterators, without their lists
 */
export const xPathReader =
  (iterator: Path, lists: ReadonlySet<string>): ReadPath =>
  (text) => {
    const path = parsePath(text);
    if (path === undefined || (path.absolute && iterator.length > 0)) return undefined;
    const own = xPathSteps(path);
    const start = above(iterator, path.ups);
    return own === undefined || start === undefined ? undefined : withLists([...start, ...own], lists);
  };

/** The key of an iterator of XML among those of its document; undefined: it is not taken apart. */
export function xmlListKey(iterator: string): string | undefined {
  const path = parsePath(iterator);
  const steps = path?.absolute === true && path.target.kind === 'element' ? xPathSteps(path) : undefined;
  return steps === undefined ? undefined : pathKey(withoutItems(steps));
}

function xPathSteps({ steps, target }: XPath): Path | undefined {
  const found: Step[] = [];
  for (const { descendant, name, predicates } of steps) {
    const text = nameText(name);
    const [predicate, ...others] = predicates;
    if (descendant || text === undefined || others.length > 0) return undefined;
    found.push({ name: text });
    if (predicate === undefined) continue;
    if (predicate.kind !== 'position' || predicate.position < 1) return undefined;
    found.push({ index: predicate.position - 1 });
  }
  if (target.kind === 'text') found.push({ text: true });
  if (target.kind === 'attribute') {
    const text = nameText(target.name);
    if (text === undefined) return undefined;
    found.push({ attribute: text });
  }
  return found;
}

const nameText = ({ prefix, local }: { readonly prefix: string | undefined; readonly local: string | undefined }): string | undefined =>
  prefix === undefined || local === undefined ? undefined : prefix === '' ? local : `${prefix}:${local}`;

/** The path of an element so many elements above. */
function above(path: Path, ups: number): Path | undefined {
  let end = path.length;
  for (let left = ups; left > 0; left--) {
    end = path.slice(0, end).findLastIndex((step) => 'name' in step);
    if (end < 0) return undefined;
  }
  return path.slice(0, end);
}

const withoutItems = (path: Path): Path => path.filter((step) => !('each' in step || 'index' in step));

function withLists(path: Path, lists: ReadonlySet<string>): Path | undefined {
  const steps: Step[] = [];
  for (const [i, step] of path.entries()) {
    if ('each' in step) continue;
    if ('index' in step && steps.some((one) => 'each' in one)) return undefined;
    steps.push(step);
    const next = path[i + 1];
    const isItem = next !== undefined && 'index' in next;
    if ('name' in step && !isItem && lists.has(pathKey(withoutItems(steps)))) steps.push({ each: true });
  }
  return steps;
}
