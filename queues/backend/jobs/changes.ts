/** Changes of single jobs that BullMQ does not offer. Each is one step: nobody sees half of it. */

export interface JobChanges {
  /**
   * Adds fields to the data of a job, or replaces them. Other fields stay as they are, whoever changes them meanwhile. With `token`, only
   * while that is the job's lock. Resolves to whether it was done.
   */
  amend(queue: string, id: string, fields: object, token?: string): Promise<boolean>;
  /**
   * Locks a job that waits for its turn or for its next attempt, as if a worker had taken it. It does not count as started. Resolves to
   * false for a job that does not wait.
   */
  take(queue: string, id: string, token: string, lockMs: number): Promise<boolean>;
  /** Renews the lock of a job. Resolves to whether the job is cancelled; `lost`: `token` is not its lock. */
  confirm(queue: string, id: string, token: string, lockMs: number): Promise<'held' | 'cancelled' | 'lost'>;
}
