/** Which versions a store lacks. */
import { Fault } from '../../core/fault.ts';
import type { DatasetKey, DatasetPosition } from '../../targets/target.ts';
import type { WrittenDataset } from './request.ts';

/** Versions to write, in order. */
export interface Steps {
  /** The version of which the store gets the whole graph first; undefined: it goes on from what it has. */
  readonly graph: number | undefined;
  /** Those whose changes follow. */
  readonly changes: readonly number[];
}

export type StoredPosition = DatasetKey & DatasetPosition;

/**
 * @param positions those in the store
 * @param form of the statements, as in `DatasetPosition`
 * @throws Fault request/conflict — the store has another dataset of this name, another form, or a version from which nothing leads to those that are there
 */
export async function stepsFrom(positions: readonly StoredPosition[], dataset: WrittenDataset, form: string): Promise<Steps> {
  const { description, versions, current } = dataset;
  const { id, name } = description;
  const own = positions.find((one) => one.id === id);
  const other = positions.find((one) => one.id !== id && one.name === name);
  if (other !== undefined)
    throw conflict(
      `The target has version ${other.version} of another dataset that is also called ${name}: its id is ${other.id}, not ${id}`,
    );
  if (own === undefined) return { graph: versions[0], changes: versions.slice(1) };
  if (own.form !== form) {
    throw new Fault('request/conflict', `The target has the dataset ${name} in another form: ${own.form}. This write has ${form}`, {
      hint: 'Give the same --graph, --shared and SKOLEM_BASE_IRI as before; or write it in the new form with --resync, which leaves what is in the old graph',
    });
  }
  if (own.version > current)
    throw conflict(`The target has version ${own.version} of the dataset ${name}, whose newest version is ${current}`);
  const changes = versions.filter((version) => version > own.version);
  if (!own.complete) {
    if (versions.includes(own.version)) return { graph: own.version, changes };
    throw conflict(`The target has a part of version ${own.version} of the dataset ${name}, which was removed`);
  }
  const [next] = changes;
  if (next !== undefined && (await dataset.manifest(next)).previous !== own.version)
    throw conflict(`The target has version ${own.version} of the dataset ${name}, whose oldest changes are those of version ${next}`);
  return { graph: undefined, changes };
}

const conflict = (message: string): Fault =>
  new Fault('request/conflict', message, {
    hint: '--resync compares the graphs of the target with the newest version, and makes them equal to it',
  });
