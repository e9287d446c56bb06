/** Default directories. */
import { dirname, isAbsolute, join, resolve } from 'node:path';
import { isObjectUrl, objectUrlIn } from '../storage/url.ts';
import type { Snapshot } from './options/options.ts';

export interface Directories {
  /** Files of the local queue. */
  readonly queue: string;
  /** Files of the embedded store. */
  readonly store: string;
  /** Spill files of running joins and de-duplication. */
  readonly spill: string;
  /** Copies of custom functions. */
  readonly functions: string;
  /** Files that users of the studio have uploaded. */
  readonly uploads: string;
  /** URL or path, as the option gives it. With SERVICE `all` it contains a directory per transformer: `mappingsOf`. */
  readonly mappings: string;
  readonly output: string;
  /** Of the datasets, each in the directory of its name. */
  readonly datasets: string;
  readonly provenance: string;
}

/** Paths are made absolute, relative to `workingDirectory`; URLs stay as they are. */
export function directories(snapshot: Snapshot, workingDirectory = process.cwd()): Directories {
  const data = resolve(workingDirectory, snapshot.DATA_DIR);
  const at = (url: string | undefined, otherwise: string): string => (url === undefined ? otherwise : placed(url, workingDirectory));
  const output = at(snapshot.OUTPUT_DIR_URL, join(data, 'output'));
  return {
    queue: join(data, 'queue'),
    store: join(data, 'store'),
    spill: join(data, 'spill'),
    functions: join(data, 'functions'),
    uploads: join(data, 'uploads'),
    mappings: at(snapshot.MAPPINGS_DIR_URL, join(data, 'mappings')),
    output,
    datasets: at(snapshot.DATASETS_DIR_URL, beside(output, 'datasets')),
    provenance: at(snapshot.PROV_OUTPUT_DIR_URL, output),
  };
}

const isUrl = (text: string): boolean => /^[a-z][a-z0-9+.-]+:/i.test(text);
const placed = (url: string, workingDirectory: string): string => (isUrl(url) || isAbsolute(url) ? url : resolve(workingDirectory, url));

/** The directory of a name in the parent of a directory; in a bucket that is named without a prefix, in the bucket. */
function beside(directory: string, name: string): string {
  if (!isUrl(directory)) return join(dirname(directory), name);
  const url = directory.replace(/\/+$/, '');
  return /^[^:]+:\/*[^/]*$/.test(url) ? objectUrlIn(url, name) : url.replace(/[^/]*$/, name);
}

/** Name of a transformer's own directory, and the option that changes it. */
const MAPPINGS_OF = {
  'semi-structured-transformer': 'SEMI_STRUCTURED_TRANSFORMER_MAPPINGS_DIR_URL',
  'sql-transformer': 'SQL_TRANSFORMER_MAPPINGS_DIR_URL',
} as const;

/**
 * The mapping directory of a transformer. If it is alone in its process, that is MAPPINGS_DIR_URL; otherwise each transformer has its own,
 * so that neither finds the mappings of the other.
 */
export function mappingsOf(service: keyof typeof MAPPINGS_OF, snapshot: Snapshot, workingDirectory = process.cwd()): string {
  const own = snapshot[MAPPINGS_OF[service]];
  if (own !== undefined) return placed(own, workingDirectory);
  const { mappings } = directories(snapshot, workingDirectory);
  if (snapshot.SERVICE !== 'all') return mappings;
  if (!isUrl(mappings)) return join(mappings, service);
  if (isObjectUrl(mappings)) return objectUrlIn(mappings, service);
  const url = new URL(mappings);
  url.pathname = url.pathname.replace(/\/*$/, `/${service}`);
  return url.href;
}
