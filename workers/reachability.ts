/**
 * Which services' runs this process leaves to other processes of the fleet, since it does not reach their database or target.
 *
 * It leaves them only while another process says that it reaches them: where none does, they are taken here too, and fail with the reason
 * after their retries.
 */
import type { Service } from '../queues/jobs.ts';
import { atMost, within } from '../src/core/abort.ts';
import type { Fault } from '../src/core/fault.ts';
import type { Logger } from '../src/core/telemetry/observe.ts';

export interface Reachability {
  /** Checks a service at once: a run of it did not reach what it needs. */
  suspect(service: Service): void;
  /** Ends all checks. Nothing is taken or left from here on. */
  stop(): Promise<void>;
}

export interface ReachabilityOptions {
  readonly services: readonly Service[];
  /** Resolves to what is not reached; undefined: everything is, or nothing is known of it. Never rejects. */
  check(service: Service, signal: AbortSignal): Promise<Fault | undefined>;
  /** Whether another process takes runs of the service and reaches what they need. */
  isReachedByOthers(service: Service): boolean;
  /** Tells the other processes. */
  tell(unreached: readonly Service[]): Promise<void>;
  /** Takes runs of the service from now on, or leaves them to others. */
  take(service: Service, on: boolean): void;
}

/** Time between checks of what is not reached: how long runs may wait for this process when a database is back. */
const CHECK_MS = 2_000;
/** How long a check under way may delay the stop. */
const STOP_MS = 1_000;
/** How long the first checks may delay the start. */
const FIRST_MS = 3_000;

/** Resolves after the first checks, or 3 seconds. Everything is taken until a check says otherwise. */
export async function watchReachability(
  { services, check, isReachedByOthers, tell, take }: ReachabilityOptions,
  logger: Logger,
): Promise<Reachability> {
  const stop = new AbortController();
  /** With the reason; undefined: not checked yet. */
  const unreached = new Map<Service, Fault | undefined>(services.map((service) => [service, undefined]));
  const left = new Set<Service>();
  const checking = new Map<Service, Promise<void>>();
  let told: string | undefined;

  /** Says what has changed since it was said last. */
  const tellChange = async (): Promise<void> => {
    const now = [...unreached.keys()];
    const text = now.join();
    if (text === told) return;
    told = text;
    await tell(now);
  };

  const decide = (service: Service): void => {
    if (stop.signal.aborted) return;
    const fault = unreached.get(service);
    const leave = fault !== undefined && isReachedByOthers(service);
    if (leave === left.has(service)) return;
    if (leave) left.add(service);
    else left.delete(service);
    take(service, !leave);
    if (leave) logger.warn({ service, code: fault.code, reason: fault.message }, 'runs are left to other workers');
    else logger.info({ service }, 'runs are taken again');
  };

  const checkNow = async (service: Service): Promise<void> => {
    const fault = await check(service, stop.signal);
    if (stop.signal.aborted) return;
    if (fault === undefined) unreached.delete(service);
    else unreached.set(service, fault);
    if (told !== undefined) await tellChange();
    decide(service);
  };
  /** One check of a service at a time. */
  const checkOnce = (service: Service): Promise<void> => {
    const active =
      checking.get(service) ??
      checkNow(service).finally(() => {
        checking.delete(service);
      });
    checking.set(service, active);
    return active;
  };

  await within(FIRST_MS, Promise.all(services.map(checkOnce)), () => undefined);
  // Said once for all services.
  await tellChange();
  // Others come and go, so each check decides again what is not reached.
  const timer = setInterval(() => {
    for (const service of unreached.keys()) void checkOnce(service);
  }, CHECK_MS).unref();

  return {
    suspect: (service) => void checkOnce(service),
    async stop() {
      clearInterval(timer);
      stop.abort();
      // A driver may notice the end of its check only when connecting has failed.
      await atMost(STOP_MS, Promise.all(checking.values()));
    },
  };
}
