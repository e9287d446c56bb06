/**
 * The subscription of a service: follows the switch, the brokers and the topic when they change. After a change of topic the old one is
 * drained in addition to the new one, also across a restart, so that messages just sent there by another process are not lost.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { MessageBus, MessageHandler, Subscription } from '../../queues/messaging/bus.ts';
import type { SharedSettings } from '../../queues/runs/contract.ts';
import type { Logger } from '../../src/core/telemetry/observe.ts';

export interface SubscriptionTarget {
  readonly topic: string;
  readonly group: string;
}

export interface TopicFollower {
  /** Applies the current target. A new subscription is open when this returns. */
  refresh(): void;
  /** undefined: nothing is being consumed. */
  consumed(): { readonly group: string; readonly topics: readonly string[] } | undefined;
  /** Resolves when consumption has stopped. */
  close(): Promise<void>;
}

/** The new consumer joins the group before the old one leaves it: an empty group would wait for more members. */
const HANDOVER_MS = 500;
/** Other processes may not know the new topic yet, or may be sending a message. */
const MIN_DRAIN_MS = 10_000;
const POLL_MS = 2_000;
const TRIES = 20;

interface OpenSubscription {
  readonly key: string;
  /** Description of the brokers. */
  readonly brokers: string;
  readonly target: SubscriptionTarget;
  readonly subscription: Subscription;
}

/** @param settings where draining topics are remembered; undefined: in this process only */
export function followTopics(
  currentTarget: () => SubscriptionTarget | undefined,
  handler: MessageHandler,
  { bus, settings }: { readonly bus: MessageBus; readonly settings: SharedSettings | undefined },
  logger: Logger,
): TopicFollower {
  let open: OpenSubscription | undefined;
  let closed = false;
  let closing: Promise<unknown> = Promise.resolve();
  /** Former topics, by the time of the change. */
  const draining = new Map<string, number>();

  const refresh = (): void => {
    const target = closed ? undefined : currentTarget();
    const brokers = bus.describe();
    const before = open;
    if (before !== undefined && (before.brokers !== brokers || (target !== undefined && before.target.group !== target.group)))
      draining.clear();
    else if (before !== undefined && target !== undefined && before.target.topic !== target.topic && bus.kind === 'kafka') {
      draining.set(before.target.topic, Date.now());
    }
    if (target !== undefined) draining.delete(target.topic);
    const additionalTopics = [...draining.keys()];
    const key = target === undefined ? '' : JSON.stringify([brokers, target.group, target.topic, additionalTopics]);
    if (key === (before?.key ?? '')) return;
    if (target === undefined) open = undefined;
    else {
      open = { key, brokers, target, subscription: bus.consume(target.topic, target.group, handler, additionalTopics) };
      logger.info(
        { ...target, ...(additionalTopics.length === 0 ? {} : { also: additionalTopics }), broker: brokers },
        'subscribed to topic',
      );
      if (before?.brokers !== brokers || before.target.topic !== target.topic) void remember(open);
    }
    if (before === undefined) return;
    if (open === undefined) logger.info({ ...before.target }, 'unsubscribed from topic');
    const pause = open === undefined || bus.kind !== 'kafka' ? Promise.resolve() : sleep(HANDOVER_MS);
    closing = Promise.all([closing, pause.then(() => before.subscription.close())]);
  };

  /** Adds the topic to the stored list of the group, and drains the topics that an earlier process left in it. */
  const remember = async ({ brokers, target }: OpenSubscription): Promise<void> => {
    if (bus.kind !== 'kafka' || settings === undefined) return;
    try {
      const topics = await updateTopicList(settings, brokers, target.group, (list) => [...new Set([...list, target.topic])]);
      if (open?.brokers !== brokers || open.target.group !== target.group) return;
      for (const topic of topics) if (!draining.has(topic)) draining.set(topic, Date.now());
      refresh();
    } catch (error) {
      logger.warn({ ...target, error }, 'former topics cannot be read');
    }
  };

  const dropEmpty = async (): Promise<void> => {
    if (open === undefined) return;
    const { brokers, target } = open;
    for (const [topic, since] of draining) {
      if (Date.now() - since < MIN_DRAIN_MS || !(await isEmpty(topic, target.group))) continue;
      if (settings !== undefined) await updateTopicList(settings, brokers, target.group, (list) => list.filter((one) => one !== topic));
      draining.delete(topic);
      logger.info({ topic, group: target.group }, 'former topic is empty');
    }
    refresh();
  };
  /** A deleted topic counts as empty. */
  const isEmpty = (topic: string, group: string): Promise<boolean> =>
    bus.lag(topic, group).then(
      (lag) => lag === 0,
      (error: { type?: string }) => error.type === 'UNKNOWN_TOPIC_OR_PARTITION',
    );
  let isDropping = false;
  const timer = setInterval(() => {
    if (draining.size === 0 || isDropping) return;
    isDropping = true;
    dropEmpty()
      .catch((error: unknown) => logger.warn({ error }, 'former topics cannot be checked'))
      .finally(() => {
        isDropping = false;
      });
  }, POLL_MS).unref();
  refresh();

  return {
    refresh,
    consumed: () => open && { group: open.target.group, topics: [open.target.topic, ...draining.keys()] },
    async close() {
      closed = true;
      clearInterval(timer);
      refresh();
      await closing;
    },
  };
}

/** Updates the stored list of a group's topics at some brokers, including those being drained. Returns the new list. */
async function updateTopicList(
  settings: SharedSettings,
  brokers: string,
  group: string,
  change: (list: readonly string[]) => readonly string[],
): Promise<readonly string[]> {
  const key = `topics of ${group}, ${brokers}`;
  for (let i = 0; i < TRIES; i++) {
    const before = await settings.get(key);
    const list = change(before === undefined ? [] : (JSON.parse(before) as string[]));
    const after = JSON.stringify(list);
    if (after === before || (await settings.compareAndSet(key, before, after))) return list;
  }
  throw new Error(`The list of the ${key} is being changed too often`);
}
