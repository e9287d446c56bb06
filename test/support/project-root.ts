/** The folder that holds package.json, whether this runs from the sources or from `dist`. */
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

function find(directory: string): string {
  if (existsSync(join(directory, 'package.json'))) return directory;
  const parent = dirname(directory);
  if (parent === directory) throw new Error('package.json of quadmill is missing');
  return find(parent);
}

export const PROJECT_ROOT = find(dirname(fileURLToPath(import.meta.url)));

/** A module as `npm run build` left it, for whatever starts a process or a thread: `built('bin/main.js')`. */
export const built = (path: string): URL => pathToFileURL(join(PROJECT_ROOT, 'dist', path));
