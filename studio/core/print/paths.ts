/** Steps → iterators and references as text. */
import type { Format, Path } from '../document.ts';
import { jsonPathText, xPathText } from '../elements/path-text.ts';
import { samePath } from '../levels.ts';

/** undefined: records of the format are rows, which need none. */
export function iteratorText(format: Format, iterator: Path): string | undefined {
  if (format === 'json' || format === 'jsonl') return jsonPathText(iterator);
  return format === 'xml' ? xPathText(iterator) : undefined;
}

/**
 * A path from the records of an iterator; undefined: it leads out of them, where the format has no way.
 *
 * @param mayClimb whether references of JSON may begin with `$^`, for parents
 */
export function referenceText(format: Format, iterator: Path, path: Path, mayClimb = false): string | undefined {
  switch (format) {
    case 'json':
    case 'jsonl':
      return jsonPathFrom(iterator, path, mayClimb);
    case 'xml':
      return xPathFrom(iterator, path);
    default: {
      const [only] = path;
      return path.length === 1 && only !== undefined && 'name' in only ? only.name : undefined;
    }
  }
}

function jsonPathFrom(iterator: Path, path: Path, mayClimb: boolean): string | undefined {
  let end = iterator.length;
  while (!samePath(path.slice(0, end), iterator.slice(0, end))) end--;
  const ups = iterator.length - end;
  return ups > 0 && !mayClimb ? undefined : `$${'^'.repeat(ups)}${jsonPathText(path.slice(end)).slice(1)}`;
}

function xPathFrom(iterator: Path, path: Path): string | undefined {
  let end = iterator.length;
  let ups = 0;
  while (!samePath(path.slice(0, end), iterator.slice(0, end))) {
    end = iterator.slice(0, end).findLastIndex((step) => 'name' in step);
    ups++;
  }
  const rest = end < path.length ? xPathText(path.slice(end)).replace(/^\//, '') : '';
  return [...Array<string>(ups).fill('..'), ...(rest === '' ? [] : [rest])].join('/') || '.';
}
