/** The version of this program, as package.json has it. */
import { readFileSync } from 'node:fs';

/** Searches upwards, because the compiled files are one directory deeper than the sources. */
function readVersion(): string {
  for (let directory = new URL('.', import.meta.url); ; directory = new URL('..', directory)) {
    try {
      const manifest = JSON.parse(readFileSync(new URL('package.json', directory), 'utf8')) as { name?: string; version?: string };
      if (manifest.name === 'quadmill' && manifest.version !== undefined) return manifest.version;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    }
    if (directory.pathname === '/' || /^\/[A-Za-z]:\/$/.test(directory.pathname)) throw new Error('package.json of quadmill is missing');
  }
}

export const VERSION = readVersion();
