/** What a worker follows, by the configuration. */
import type { Snapshot } from '../../src/config/options/options.ts';
import { Fault } from '../../src/core/fault.ts';
import type { DatasetRequest, Transformer, TransformRequest } from '../jobs.ts';
import { sqlRequest } from './transform.ts';

export interface FollowRequest {
  readonly service: Transformer;
  readonly dataset: DatasetRequest;
  /** Mappings, inputs and settings, as those of a run. */
  readonly transform: TransformRequest;
  /** Address of the topics of tables; undefined: the log of the database. */
  readonly changes: string | undefined;
  readonly registry: string | undefined;
  readonly epochSeconds: number;
  readonly epochRecords: number;
}

/** The services that follow: what each reads by its configuration. */
const FOLLOWED: Partial<Readonly<Record<Transformer, typeof sqlRequest>>> = { 'sql-transformer': sqlRequest };

/** Of a process with these services. @returns undefined: none of them follows anything */
export const followingService = (services: readonly string[]): Transformer | undefined =>
  (Object.keys(FOLLOWED) as Transformer[]).find((service) => services.includes(service));

/**
 * Checks what follows from the options alone.
 *
 * @throws Fault config/invalid — FOLLOW without DATASET
 */
export function checkFollowOptions({ FOLLOW, DATASET }: Snapshot): void {
  if (FOLLOW && DATASET === undefined)
    throw new Fault('config/invalid', 'FOLLOW is set, and DATASET is not: a follower makes versions of a dataset', {
      hint: 'Set DATASET to the name of the dataset, or FOLLOW=false',
    });
}

/**
 * @returns undefined: nothing is followed
 * @throws those of `checkFollowOptions`, and of the requests of runs
 */
export async function followRequest(
  service: Transformer,
  snapshot: Snapshot,
  workingDirectory: string,
): Promise<FollowRequest | undefined> {
  const request = FOLLOWED[service];
  if (!snapshot.FOLLOW || request === undefined) return undefined;
  checkFollowOptions(snapshot);
  const transform = await request(snapshot, workingDirectory);
  return {
    service,
    dataset: transform.dataset as DatasetRequest,
    transform,
    changes: snapshot.FOLLOW_CHANGES,
    registry: snapshot.FOLLOW_REGISTRY,
    epochSeconds: snapshot.EPOCH_SECONDS,
    epochRecords: snapshot.EPOCH_RECORDS,
  };
}
