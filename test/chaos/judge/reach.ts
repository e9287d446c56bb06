/** Spans in which workers left the runs of a service to others, since they did not reach its database or target. */
import type { Service } from '../../../queues/jobs.ts';
import type { FleetProcess } from '../fleet/process.ts';
import type { World } from '../fleet/world.ts';
import type { GroundTruth } from './ground-truth.ts';
import type { InstanceLog } from './logs.ts';
import { minus, type Span, spanOf } from './spans.ts';

/** What a worker logs of it (`workers/reachability.ts`). */
const LEFT = 'runs are left to other workers';
const TAKEN = 'runs are taken again';
/** Two checks of what is not reached, and what the answers of a busy machine take. All workers may find at the same time that others reach it. */
const NOBODY_LIMIT_MS = 10_000;

export function leftSpans(worker: FleetProcess, service: Service, logs: readonly InstanceLog[]): readonly Span[] {
  return logs
    .filter((log) => log.process === worker)
    .flatMap(({ instance, lines }) => {
      const own = lines.filter((line) => line.service === service);
      const next = worker.instances.find(({ startedAt }) => startedAt > instance.startedAt);
      const end = instance.killedAt ?? next?.startedAt ?? Number.POSITIVE_INFINITY;
      return own.flatMap(({ at, msg }) => {
        if (msg !== LEFT) return [];
        const again = own.find((line) => line.msg === TAKEN && line.at >= at);
        return [spanOf(at, again?.at ?? end)];
      });
    });
}

/** Records a violation where all workers that were up left the runs of a service to each other. */
export function judgeReach(world: World, logs: readonly InstanceLog[], services: readonly Service[], ledger: GroundTruth): void {
  for (const service of services) {
    const takes = world.workers.flatMap((worker) => minus(worker.up, leftSpans(worker, service, logs)));
    const untaken = world.workers.flatMap((worker) => minus(worker.up, takes));
    for (const { from, to } of untaken) {
      if (to - from <= NOBODY_LIMIT_MS) continue;
      ledger.violation(undefined, `no worker took runs of ${service} for ${to - from} ms from ${new Date(from).toISOString()} on`);
    }
  }
}
