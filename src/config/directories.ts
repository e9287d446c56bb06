/** Where things lie when no option says otherwise. */
import { isAbsolute, join, resolve } from 'node:path';
import type { Snapshot } from './options.ts';

export interface Directories {
  /** Queue files of this machine. */
  readonly queue: string;
  /** Files of the embedded store. */
  readonly store: string;
  /** Spill files of running joins and de-duplication. */
  readonly spill: string;
  /** URL or path, as the option gives it. */
  readonly mappings: string;
  readonly output: string;
  readonly provenance: string;
}

/** Paths are absolute; URLs stay as they are. `workingDirectory` is what relative paths start from. */
export function directories(snapshot: Snapshot, workingDirectory = process.cwd()): Directories {
  const data = resolve(workingDirectory, snapshot.DATA_DIR);
  const at = (url: string | undefined, otherwise: string): string => {
    if (url === undefined) return otherwise;
    return /^[a-z][a-z0-9+.-]+:/i.test(url) || isAbsolute(url) ? url : resolve(workingDirectory, url);
  };
  const output = at(snapshot.OUTPUT_DIR_URL, join(data, 'output'));
  return {
    queue: join(data, 'queue'),
    store: join(data, 'store'),
    spill: join(data, 'spill'),
    mappings: at(snapshot.MAPPINGS_DIR_URL, join(data, 'mappings')),
    output,
    provenance: at(snapshot.PROV_OUTPUT_DIR_URL, output),
  };
}
