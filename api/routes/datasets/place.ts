/** Datasets of the service, as routes open them. */
import { datasetUrl } from '../../../queues/requests/transform.ts';
import { directories } from '../../../src/config/directories.ts';
import type { Snapshot } from '../../../src/config/options/options.ts';
import { s3AccessOf } from '../../../src/config/run-defaults.ts';
import { Fault } from '../../../src/core/fault.ts';
import { Dataset } from '../../../src/datasets/dataset.ts';
import { type DatasetFiles, directoryNames, openFiles } from '../../../src/datasets/files.ts';
import { BLANK_NODE_FORMS } from '../../../src/datasets/formats.ts';
import { DATASET_NAME, type Manifest } from '../../../src/datasets/manifest.ts';
import type { Api, Parameter } from '../../route.ts';

type Place = Pick<Api, 'config' | 'workingDirectory'>;

export const NAME: Parameter = {
  name: 'name',
  in: 'path',
  required: true,
  description: 'Name of the dataset',
  schema: { type: 'string', pattern: DATASET_NAME.source, examples: ['people'] },
};

export const TARGET: Parameter = {
  name: 'target',
  in: 'query',
  description: 'Path of a logical target in the mapping. Default: the output of the run',
};

export const BLANK_NODES: Parameter = {
  name: 'blankNodes',
  in: 'query',
  description: 'Blank nodes as IRIs of SKOLEM_BASE_IRI, or as blank nodes with the labels of the dataset, which stay the same',
  schema: { type: 'string', enum: BLANK_NODE_FORMS, default: 'skolem' },
};

export const urlOf = ({ config, workingDirectory }: Place, name: string): string =>
  datasetUrl(name, directories(config.snapshot(), workingDirectory).datasets);

const filesOf = (snapshot: Snapshot, workingDirectory: string, name: string): DatasetFiles =>
  openFiles(datasetUrl(name, directories(snapshot, workingDirectory).datasets), workingDirectory, s3AccessOf(snapshot));

/** All datasets, by the names of their directories. */
export async function allDatasets({ config, workingDirectory }: Place): Promise<readonly (readonly [name: string, dataset: Dataset])[]> {
  const snapshot = config.snapshot();
  const { datasets } = directories(snapshot, workingDirectory);
  const names = (await directoryNames(datasets, workingDirectory, s3AccessOf(snapshot))).filter((name) => DATASET_NAME.test(name));
  const found = await Promise.all(
    names.map(async (name) => [name, await Dataset.find(filesOf(snapshot, workingDirectory, name))] as const),
  );
  return found.flatMap(([name, dataset]) => (dataset === undefined ? [] : [[name, dataset] as const]));
}

/**
 * @param signal ends the reading of files
 * @throws Fault request/not-found — there is no such dataset
 */
export async function openDataset({ config, workingDirectory }: Place, name: string, signal?: AbortSignal): Promise<Dataset> {
  const files = filesOf(config.snapshot(), workingDirectory, name);
  const found = await Dataset.find(signal === undefined ? files : { ...files, open: (file) => files.open(file, signal) });
  if (found !== undefined) return found;
  throw new Fault('request/not-found', `There is no dataset ${name}`, { hint: 'The first run that names it makes it' });
}

/** @throws Fault request/not-found — there is no such version; request/gone — it was removed */
export async function manifestOf(dataset: Dataset, version: number): Promise<Manifest> {
  assertVersion(dataset, version);
  return dataset.manifest(version);
}

/** Version 0 is the empty graph, and always there. @throws those of `manifestOf` */
export function assertVersion({ versions, current, description: { name } }: Dataset, version: number): void {
  if (version === 0 || versions.includes(version)) return;
  const [first = 0] = versions;
  if (version < first) {
    throw new Fault('request/gone', `Version ${version} of the dataset ${name} was removed: the oldest one that is kept is ${first}`, {
      hint: `Take the graph of version ${first} and the changes since that, or the changes since 0`,
    });
  }
  throw new Fault('request/not-found', `The dataset ${name} has no version ${version}: the newest one is ${current}`);
}

/** @param target undefined: the output of the run @throws Fault request/not-found — the version has no such logical target */
export function assertTarget(name: string, { targets = {} }: Manifest, target: string | undefined): void {
  if (target === undefined || Object.hasOwn(targets, target)) return;
  const names = Object.keys(targets);
  throw new Fault('request/not-found', `The dataset ${name} has no logical target ${target}`, {
    hint: names.length === 0 ? 'Its mapping has none' : `It has ${names.join(', ')}`,
  });
}
