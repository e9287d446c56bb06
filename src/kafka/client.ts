/** Clients of Apache Kafka: address, login, TLS and retries. The message bus and feeds of changes connect through them. */
import { Kafka, logLevel, type SASLOptions } from 'kafkajs';
import { atMost } from '../core/abort.ts';
import type { Secret } from '../core/secret.ts';
import type { Logger } from '../core/telemetry/observe.ts';
import { throttledLog } from './log.ts';

/** Long enough for a broker to restart. `requestTimeout` stays at 30 s: a request that is given up too early is done twice. */
export const RETRY = { retries: 50, initialRetryTime: 200, maxRetryTime: 2_000 } as const;
export const CLOSE_MS = 2_000;

export interface KafkaSecurity {
  readonly login: KafkaLogin | undefined;
  /** PEM texts, as Node's `tls` expects them; without `ca` the brokers need a certificate that Node trusts. undefined: no TLS. */
  readonly tls: { readonly ca?: string[]; readonly cert?: string; readonly key?: string } | undefined;
}

export interface KafkaLogin {
  readonly mechanism: 'plain' | 'scram-sha-256' | 'scram-sha-512';
  readonly username: string;
  readonly password: Secret;
}

/** Creates a client that retries failed requests `retries` times. */
export type Client = (retries?: number) => Kafka;

/** @param explain what an error means, for the log; undefined: its message says it */
export function kafkaClient(
  brokers: readonly string[],
  security: KafkaSecurity | undefined,
  explain: (error: unknown) => string | undefined,
  logger: Logger,
): Client {
  const { login, tls } = security ?? {};
  const log = throttledLog(logger, explain);
  return (retries = RETRY.retries) =>
    new Kafka({
      clientId: 'quadmill',
      brokers: [...brokers],
      ...(tls === undefined ? {} : { ssl: tls }),
      // The library modifies the login object that it is given.
      ...(login === undefined ? {} : { sasl: { ...login, password: login.password.reveal() } as SASLOptions }),
      logLevel: logLevel.ERROR,
      retry: { ...RETRY, retries },
      logCreator: () => log,
    });
}

/** Ends the connections of clients that are connected or connect. Never rejects, and waits at most two seconds. */
export async function disconnected(opened: Promise<{ disconnect(): Promise<void> }> | undefined): Promise<void> {
  if (opened !== undefined)
    await atMost(
      CLOSE_MS,
      opened.then((one) => one.disconnect()),
    );
}
