/** What a serving process consists of: services that start one after the other, and stop in the reverse order. */
import type { Logger } from '../../src/core/telemetry/observe.ts';

export interface Ends<T> {
  /** Takes no more work. All services do so at once, before the first one stops. */
  readonly leave?: (service: T) => unknown;
  readonly stop?: (service: T) => unknown;
}

interface Started {
  readonly name: string;
  readonly leave: () => unknown;
  readonly stop: () => unknown;
}

type Closable = { close(): unknown } | undefined;

export class Services {
  readonly #started: Started[] = [];
  readonly #logger: Logger;

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  /**
   * @param name for the log
   * @param ends undefined: it is closed
   * @throws what `start` throws; the caller stops the services that were started before
   */
  async start<T extends Closable>(name: string, start: () => T | Promise<T>): Promise<T>;
  async start<T>(name: string, start: () => T | Promise<T>, ends: Ends<T>): Promise<T>;
  async start<T>(name: string, start: () => T | Promise<T>, ends: Ends<T> = { stop: (one) => (one as Closable)?.close() }): Promise<T> {
    const service = await start();
    this.#started.push({ name, leave: () => ends.leave?.(service), stop: () => ends.stop?.(service) });
    return service;
  }

  /** Stops all, also where one fails, which the log names. Resolves to whether none has failed. */
  async stop(): Promise<boolean> {
    let failures = 0;
    const attempt = async (name: string, act: () => unknown): Promise<void> => {
      try {
        await act();
      } catch (error) {
        failures++;
        this.#logger.error({ error, service: name }, 'not stopped');
      }
    };
    const leaving = this.#started.map(({ name, leave, stop }) => ({ name, stop, left: attempt(name, leave) }));
    for (const { name, stop, left } of leaving.reverse()) {
      await left;
      await attempt(name, stop);
    }
    return failures === 0;
  }
}
