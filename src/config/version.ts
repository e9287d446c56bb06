/** The version of this program, as package.json has it, and where that stands. */
import { readFileSync } from 'node:fs';

/** Searches upwards, because the compiled files are one directory deeper than the sources. */
function findProject(): { readonly root: URL; readonly version: string } {
  for (let directory = new URL('.', import.meta.url); ; directory = new URL('..', directory)) {
    try {
      const manifest = JSON.parse(readFileSync(new URL('package.json', directory), 'utf8')) as { name?: string; version?: string };
      if (manifest.name === 'quadmill' && manifest.version !== undefined) return { root: directory, version: manifest.version };
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    }
    if (directory.pathname === '/' || /^\/[A-Za-z]:\/$/.test(directory.pathname)) throw new Error('package.json of quadmill is missing');
  }
}

const PROJECT = findProject();

export const VERSION = PROJECT.version;

/** The directory of package.json: of the sources, or of the package that is installed. */
export const PROJECT_ROOT = PROJECT.root;
