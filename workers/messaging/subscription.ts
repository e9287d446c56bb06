/**
 * The subscription of a service: follows the switch, the brokers and the topic while they change. A topic that is left is read beside the new
 * one until it is empty, also over a restart, so that what another process has sent there a moment ago is not lost.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { MessageBus, Subscription, Take } from '../../queues/messaging/bus.ts';
import type { SharedSettings } from '../../queues/runs/contract.ts';
import type { Logger } from '../../src/core/telemetry/observe.ts';

export interface Wanted {
  readonly topic: string;
  readonly group: string;
}

export interface Following {
  /** Looks again at what is wanted. A new subscription is there when this returns. */
  look(): void;
  /** undefined: nothing is taken. */
  taken(): { readonly group: string; readonly topics: readonly string[] } | undefined;
  /** Resolves when nothing is taken any more. */
  close(): Promise<void>;
}

/** The new consumer joins the group before the old one leaves it: an empty group would wait for more members. */
const HANDOVER_MS = 500;
/** Other processes may not know yet that the topic has changed, or hold a message that they are sending. */
const LEAST_MS = 10_000;
const LOOK_MS = 2_000;
const TRIES = 20;

interface Open {
  readonly key: string;
  /** Brokers, by name. */
  readonly at: string;
  readonly wanted: Wanted;
  readonly subscription: Subscription;
}

/** @param settings where topics are remembered until they are empty; undefined: only here */
export function followTopics(
  wantedNow: () => Wanted | undefined,
  take: Take,
  { bus, settings }: { readonly bus: MessageBus; readonly settings: SharedSettings | undefined },
  logger: Logger,
): Following {
  let open: Open | undefined;
  let closed = false;
  let closing: Promise<unknown> = Promise.resolve();
  /** Topics that were left, and when. */
  const left = new Map<string, number>();

  const look = (): void => {
    const wanted = closed ? undefined : wantedNow();
    const at = bus.describe();
    const before = open;
    if (before !== undefined && (before.at !== at || (wanted !== undefined && before.wanted.group !== wanted.group))) left.clear();
    else if (before !== undefined && wanted !== undefined && before.wanted.topic !== wanted.topic && bus.kind === 'kafka') {
      left.set(before.wanted.topic, Date.now());
    }
    if (wanted !== undefined) left.delete(wanted.topic);
    const also = [...left.keys()];
    const key = wanted === undefined ? '' : JSON.stringify([at, wanted.group, wanted.topic, also]);
    if (key === (before?.key ?? '')) return;
    if (wanted === undefined) open = undefined;
    else {
      open = { key, at, wanted, subscription: bus.consume(wanted.topic, wanted.group, take, also) };
      logger.info({ ...wanted, ...(also.length === 0 ? {} : { also }), broker: at }, 'taking messages');
      if (before?.at !== at || before.wanted.topic !== wanted.topic) void remember(open);
    }
    if (before === undefined) return;
    if (open === undefined) logger.info({ ...before.wanted }, 'taking no messages');
    const pause = open === undefined || bus.kind !== 'kafka' ? Promise.resolve() : sleep(HANDOVER_MS);
    closing = Promise.all([closing, pause.then(() => before.subscription.close())]);
  };

  /** Keeps the topic in the list of the group, and reads those that a process before this one has left. */
  const remember = async ({ at, wanted }: Open): Promise<void> => {
    if (bus.kind !== 'kafka' || settings === undefined) return;
    try {
      const topics = await changeList(settings, at, wanted.group, (list) => [...new Set([...list, wanted.topic])]);
      if (open?.at !== at || open.wanted.group !== wanted.group) return;
      for (const topic of topics) if (!left.has(topic)) left.set(topic, Date.now());
      look();
    } catch (error) {
      logger.warn({ ...wanted, error }, 'topics that were left before are not known');
    }
  };

  const dropEmpty = async (): Promise<void> => {
    if (open === undefined) return;
    const { at, wanted } = open;
    for (const [topic, since] of left) {
      if (Date.now() - since < LEAST_MS || !(await isEmpty(topic, wanted.group))) continue;
      if (settings !== undefined) await changeList(settings, at, wanted.group, (list) => list.filter((one) => one !== topic));
      left.delete(topic);
      logger.info({ topic, group: wanted.group }, 'topic left: it is empty');
    }
    look();
  };
  /** A topic that is gone has nothing either. */
  const isEmpty = (topic: string, group: string): Promise<boolean> =>
    bus.lag(topic, group).then(
      (lag) => lag === 0,
      (error: { type?: string }) => error.type === 'UNKNOWN_TOPIC_OR_PARTITION',
    );
  let isLooking = false;
  const timer = setInterval(() => {
    if (left.size === 0 || isLooking) return;
    isLooking = true;
    dropEmpty()
      .catch((error: unknown) => logger.warn({ error }, 'topics that were left not looked at'))
      .finally(() => {
        isLooking = false;
      });
  }, LOOK_MS).unref();
  look();

  return {
    look,
    taken: () => open && { group: open.wanted.group, topics: [open.wanted.topic, ...left.keys()] },
    async close() {
      closed = true;
      clearInterval(timer);
      look();
      await closing;
    },
  };
}

/** The topics that a group takes at some brokers, those among them that are to be emptied. Returns what the list is then. */
async function changeList(
  settings: SharedSettings,
  at: string,
  group: string,
  change: (list: readonly string[]) => readonly string[],
): Promise<readonly string[]> {
  const key = `topics of ${group}, ${at}`;
  for (let i = 0; i < TRIES; i++) {
    const before = await settings.get(key);
    const list = change(before === undefined ? [] : (JSON.parse(before) as string[]));
    const after = JSON.stringify(list);
    if (after === before || (await settings.compareAndSet(key, before, after))) return list;
  }
  throw new Error(`The list of the ${key} changes too often`);
}
