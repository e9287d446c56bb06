/**
 * Several feeds as one: topics of several clusters, or topics beside a database. Positions of the feeds stand side by side. While a feed is inside a
 * transaction, no other one has its turn, so transactions never overlap.
 */
import { LinkedAbort } from '../core/abort.ts';
import type { ChangeBatch, ChangeFeed, FeedLag, FeedPosition } from './events.ts';

export const BETWEEN = ' + ';

/** The position of one of several feeds. */
export const positionOf = (position: FeedPosition | undefined, name: string): FeedPosition | undefined =>
  position?.[name] === undefined ? undefined : (JSON.parse(position[name]) as FeedPosition);

/** A position with that of one feed replaced. undefined: nothing was read of it. */
export function withPosition(position: FeedPosition, name: string, own: FeedPosition | undefined): FeedPosition {
  const { [name]: _, ...others } = position;
  return own === undefined ? others : { ...others, [name]: JSON.stringify(own) };
}

/** @param feeds by names that positions keep; at least one. They are closed with the feed */
export function joinedFeed(feeds: ReadonlyMap<string, ChangeFeed>): ChangeFeed {
  const all = [...feeds];
  return {
    name: all.map(([, { name }]) => name).join(BETWEEN),
    batches: (from, signal) => joined(feeds, from, signal),
    async end(from) {
      const ends = await Promise.all(all.map(async ([name, feed]) => [name, await feed.end(positionOf(from, name))] as const));
      return (position) => ends.every(([name, reached]) => reached(positionOf(position, name) ?? {}));
    },
    async lag(position) {
      const lags = await Promise.all(all.map(([name, feed]) => feed.lag(positionOf(position, name) ?? {})));
      const sum = (of: (lag: FeedLag) => number | undefined): number | undefined => {
        const known = lags.map(of).filter((one) => one !== undefined);
        return known.length === 0 ? undefined : known.reduce((a, b) => a + b, 0);
      };
      const keptBytes = sum((lag) => lag.keptBytes);
      return {
        messages: sum(({ messages }) => messages),
        bytes: sum(({ bytes }) => bytes),
        ...(keptBytes === undefined ? {} : { keptBytes }),
      };
    },
    async confirm(position) {
      for (const [name, feed] of all) {
        const own = positionOf(position, name);
        if (own !== undefined) await feed.confirm(own);
      }
    },
    async close() {
      await Promise.all(all.map(([, feed]) => feed.close()));
    },
  };
}

interface Turn {
  readonly name: string;
  readonly batches: AsyncIterator<ChangeBatch>;
  /** The batch that was asked for. Never rejects. */
  next: Promise<Arrived> | undefined;
}

type Arrived = { readonly turn: Turn } & ({ readonly result: IteratorResult<ChangeBatch> } | { readonly error: unknown });

async function* joined(
  feeds: ReadonlyMap<string, ChangeFeed>,
  from: FeedPosition | undefined,
  signal: AbortSignal,
): AsyncGenerator<ChangeBatch> {
  let position = from ?? {};
  const abort = new LinkedAbort([signal]);
  const turns: Turn[] = [...feeds].map(([name, feed]) => ({
    name,
    batches: feed.batches(positionOf(from, name), abort.signal)[Symbol.asyncIterator](),
    next: undefined,
  }));
  /** The feed that is inside a transaction. */
  let open: Turn | undefined;
  try {
    for (;;) {
      const waiting = open === undefined ? turns : [open];
      for (const turn of waiting)
        turn.next ??= turn.batches.next().then(
          (result): Arrived => ({ turn, result }),
          (error: unknown): Arrived => ({ turn, error }),
        );
      const arrived = await Promise.race(waiting.map(({ next }) => next as Promise<Arrived>));
      if ('error' in arrived) throw arrived.error;
      const { turn, result } = arrived;
      if (result.done === true) return;
      turn.next = undefined;
      // The others have their turns first.
      turns.push(...turns.splice(turns.indexOf(turn), 1));
      const last = result.value.events.findLast(({ kind }) => kind === 'begin' || kind === 'commit');
      if (last !== undefined) open = last.kind === 'begin' ? turn : undefined;
      position = withPosition(position, turn.name, result.value.position);
      yield { ...result.value, position };
    }
  } finally {
    abort.abort();
    await Promise.all(
      turns.map(async ({ batches, next }) => {
        await next;
        await batches.return?.().catch(() => undefined);
      }),
    );
  }
}
