/** Changes of single jobs that BullMQ does not offer. Each is one step: no process sees half of it. */
import type { Job } from 'bullmq';

/**
 * The lock of an attempt. A queue that takes no writes lets it expire, since it cannot be renewed. It is held until the job is given to another
 * attempt, expired or not: a job that was recovered has one loss more.
 */
export interface Lock {
  readonly token: string;
  /** How often the job was started and lost when it was locked. */
  readonly starts: number;
  readonly losses: number;
}

export const lockOf = ({ attemptsStarted, stalledCounter }: Pick<Job, 'attemptsStarted' | 'stalledCounter'>, token: string): Lock => ({
  token,
  starts: attemptsStarted,
  losses: stalledCounter,
});

export interface JobChanges {
  /**
   * Adds fields to the data of a job, or replaces them. Other fields keep what is written to them meanwhile. With `lock`, only
   * while it is held. Resolves to whether it was done.
   */
  amend(queue: string, id: string, fields: object, lock?: Lock): Promise<boolean>;
  /**
   * Locks a job that waits for its turn or for its next attempt, as if a worker had taken it. It does not count as started. Resolves to
   * false for a job that does not wait.
   */
  take(queue: string, id: string, token: string, lockMs: number): Promise<boolean>;
  /** Renews the lock of a job, also one that has expired. Resolves to whether the job is cancelled; `lost`: the lock is not held. */
  confirm(queue: string, id: string, lock: Lock, lockMs: number): Promise<'held' | 'cancelled' | 'lost'>;
}
