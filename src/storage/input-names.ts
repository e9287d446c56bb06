/** Which source an input is meant for that comes without a name: told by the name of its file. */
import { fileURLToPath } from 'node:url';

/**
 * The paths of sources that the input at `url` can be: the only one there is; else those whose path it ends with, else those whose file
 * has the same name, else those whose file has it but for the extension (`.gz` does not count). One: it is meant. None or several: nobody
 * can tell.
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

/** The steps of a path or URL, without what stands before the path or after it. */
function stepsOf(url: string): readonly string[] {
  return pathOf(url)
    .replace(/\.gz$/i, '')
    .split('/')
    .filter((step) => step !== '' && step !== '.');
}

function pathOf(url: string): string {
  if (!/^[a-z][a-z0-9+.-]+:/i.test(url)) return url;
  try {
    const { protocol, pathname } = new URL(url);
    return protocol === 'file:' ? fileURLToPath(url) : decodeURIComponent(pathname);
  } catch {
    // Whoever reads it says what is wrong with it.
    return url.replace(/[?#].*$/s, '');
  }
}

const stemOf = (steps: readonly string[]): string => (steps.at(-1) ?? '').replace(/(?<=.)\.[^.]*$/, '');
