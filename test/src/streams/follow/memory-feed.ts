/** A feed in memory: batches in a log, which can be lost, and read again from any position. */
import { Fault } from '../../../../src/core/fault.ts';
import type { ChangeBatch, ChangeEvent, ChangeFeed, FeedPosition, RejectedMessage } from '../../../../src/streams/events.ts';

export class MemoryLog {
  readonly batches: (readonly ChangeEvent[])[] = [];
  readonly rejected = new Map<number, readonly RejectedMessage[]>();
  /** Positions that the follower has confirmed. */
  readonly confirmed: FeedPosition[] = [];
  /** How many batches are read before the feed is lost, each time once. */
  losses: number[] = [];
  #wake = new Set<() => void>();

  append(...batches: readonly (readonly ChangeEvent[])[]): void {
    this.batches.push(...batches);
    for (const wake of this.#wake) wake();
  }

  feed(): ChangeFeed {
    const at = (position: FeedPosition | undefined): number => Number(position?.offset ?? 0);
    const waiting = (signal: AbortSignal): Promise<void> =>
      new Promise((resolve) => {
        const wake = (): void => {
          this.#wake.delete(wake);
          signal.removeEventListener('abort', wake);
          resolve();
        };
        this.#wake.add(wake);
        signal.addEventListener('abort', wake);
        if (signal.aborted) wake();
      });
    const log = this;
    return {
      name: 'memory:log',
      async *batches(from, signal): AsyncGenerator<ChangeBatch> {
        let read = 0;
        for (let offset = at(from); !signal.aborted; ) {
          const events = log.batches[offset];
          if (events === undefined) {
            await waiting(signal);
            continue;
          }
          if (read++ === log.losses[0]) {
            log.losses.shift();
            throw new Fault('source/unreadable', 'The log is lost');
          }
          const rejected = log.rejected.get(offset);
          offset++;
          yield {
            events,
            position: { offset: String(offset) },
            bytes: 10 * events.length,
            changedAt: Date.now(),
            ...(rejected && { rejected }),
          };
        }
      },
      end: async () => {
        const end = log.batches.length;
        return (position) => at(position) >= end;
      },
      lag: async (position) => ({ messages: log.batches.length - at(position), bytes: undefined }),
      confirm: async (position) => void log.confirmed.push(position),
      close: async () => undefined,
    };
  }
}
