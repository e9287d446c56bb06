/** Finds the source for an input without a name, by its file name. */
import { fileURLToPath } from 'node:url';
import { withoutCompression } from './compression.ts';

/**
 * The source paths that the input at `url` may match: the only path there is; else paths that are a suffix of it; else paths with the same
 * file name; else paths with the same file name without extension (that of a compression is ignored). With exactly one result, that source is meant; none
 * or several are ambiguous.
 *
 * @param paths of the sources, as the mapping writes them; each once
 */
export function pathsMeant(url: string, paths: readonly string[]): readonly string[] {
  if (paths.length === 1) return paths;
  const given = stepsOf(url);
  const rules: readonly ((steps: readonly string[]) => boolean)[] = [
    (steps) => steps.length > 1 && steps.every((step, i) => step === given[given.length - steps.length + i]),
    (steps) => steps.at(-1) === given.at(-1),
    (steps) => stemOf(steps) === stemOf(given),
  ];
  for (const rule of rules) {
    const found = paths.filter((path) => rule(stepsOf(path)));
    if (found.length > 0) return found;
  }
  return [];
}

/** The segments of a path or URL, without scheme, host, query and fragment. */
function stepsOf(url: string): readonly string[] {
  return withoutCompression(pathOf(url))
    .split('/')
    .filter((step) => step !== '' && step !== '.');
}

function pathOf(url: string): string {
  if (!/^[a-z][a-z0-9+.-]+:/i.test(url)) return url;
  if (/^s3:/i.test(url)) return url.replace(/^s3:\/*[^/]*/i, '');
  try {
    const { protocol, pathname } = new URL(url);
    return protocol === 'file:' ? fileURLToPath(url) : decodeURIComponent(pathname);
  } catch {
    // Its reader reports what is wrong with it.
    return url.replace(/[?#].*$/s, '');
  }
}

const stemOf = (steps: readonly string[]): string => (steps.at(-1) ?? '').replace(/(?<=.)\.[^.]*$/, '');
