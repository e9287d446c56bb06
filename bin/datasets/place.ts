/** Where datasets of the command line are. */
import { createHash } from 'node:crypto';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Folding } from '../../src/datasets/changes.ts';
import { Dataset } from '../../src/datasets/dataset.ts';
import { openFiles } from '../../src/datasets/files.ts';
import type { DatasetPlace } from '../../src/datasets/run.ts';
import { webAccess } from '../options/inputs.ts';

/** State lies in the directory of a dataset. That of one in object storage is in DATA_DIR, or in the cache of the user. */
export function datasetPlace(url: string): DatasetPlace {
  const files = openFiles(url, process.cwd(), webAccess().s3);
  const { DATA_DIR, XDG_CACHE_HOME } = process.env;
  const elsewhere = DATA_DIR ? resolve(DATA_DIR, 'datasets') : join(XDG_CACHE_HOME || join(homedir(), '.cache'), 'quadmill', 'datasets');
  const own = createHash('sha256').update(files.url).digest('hex').slice(0, 16);
  return { files, stateDirectory: files.directory === undefined ? join(elsewhere, own) : join(files.directory, 'state') };
}

export const openDataset = (url: string): Promise<Dataset> => Dataset.open(datasetPlace(url).files);

/** @param directory for temporary files; removed by the caller */
export const foldingIn = (directory: string, memoryBudgetBytes: number): Folding => ({
  directory: join(directory, 'lines'),
  memoryBudgetBytes,
});
