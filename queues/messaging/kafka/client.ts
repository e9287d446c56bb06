/** Clients of the brokers: address, login, retries, and what their errors mean. */

import { Kafka, type KafkaConfig, logLevel, type SASLOptions } from 'kafkajs';
import type { Snapshot } from '../../../src/config/options/options.ts';
import { atMost } from '../../../src/core/abort.ts';
import { Fault } from '../../../src/core/fault.ts';
import type { Logger } from '../../../src/core/telemetry/observe.ts';
import { explainHandshake } from '../../tls.ts';
import { throttledLog } from './log.ts';
import { KAFKA_TLS, kafkaTls } from './tls.ts';

/** Long enough for a broker to restart. `requestTimeout` stays at 30 s: a request that is given up too early is done twice. */
export const RETRY = { retries: 50, initialRetryTime: 200, maxRetryTime: 2_000 } as const;
export const CLOSE_MS = 2_000;

/** Ends the connections of clients that are connected or connect. Never rejects, and waits no longer than two seconds. */
export async function disconnected(opened: Promise<{ disconnect(): Promise<void> }> | undefined): Promise<void> {
  if (opened !== undefined)
    await atMost(
      CLOSE_MS,
      opened.then((one) => one.disconnect()),
    );
}

/** Creates a client that retries failed requests `retries` times. */
export type Client = (retries?: number) => Kafka;

/** @throws Fault config/invalid — contradicting options, or an unreadable certificate file */
export function kafkaClient(snapshot: Snapshot, logger: Logger): Client {
  const config = clientConfig(snapshot);
  const log = throttledLog(logger, (error) => explainError(error, snapshot));
  return (retries = RETRY.retries) => {
    // The library modifies the login object that it is given.
    const login = config.sasl === undefined ? {} : { sasl: { ...config.sasl } as SASLOptions };
    return new Kafka({ ...config, ...login, retry: { ...RETRY, retries }, logCreator: () => log });
  };
}

/** A description that is safe to show to everybody; undefined: unknown reason. */
export function explainError(error: unknown, options: Snapshot): string | undefined {
  const { name, message, cause } = error as { name?: string; message?: string; cause?: unknown };
  if (name === 'KafkaJSSASLAuthenticationError') return `The brokers refuse the login of KAFKA_USERNAME: ${message}`;
  if (name === 'KafkaJSProtocolError') return message;
  const handshake = explainHandshake(String(message ?? error), options.KAFKA_SSL_CERT !== undefined, KAFKA_TLS);
  if (handshake !== undefined) return handshake;
  return cause === undefined ? undefined : explainError(cause, options);
}

function clientConfig(snapshot: Snapshot): KafkaConfig {
  const { KAFKA_BROKERS, KAFKA_SASL_MECHANISM: mechanism } = snapshot;
  const { KAFKA_USERNAME: username, KAFKA_PASSWORD: password } = snapshot;
  if (mechanism !== 'none' && (username === undefined || password === undefined)) {
    throw new Fault('config/invalid', `KAFKA_SASL_MECHANISM is ${mechanism}, which needs a user and a password`, {
      hint: 'Set KAFKA_USERNAME and KAFKA_PASSWORD',
    });
  }
  if (mechanism === 'none' && password !== undefined) {
    throw new Fault('config/invalid', 'KAFKA_PASSWORD is set, but KAFKA_SASL_MECHANISM is none', {
      hint: 'Set KAFKA_SASL_MECHANISM to plain, scram-sha-256 or scram-sha-512',
    });
  }
  const tls = kafkaTls(snapshot);
  return {
    clientId: 'quadmill',
    brokers: [...KAFKA_BROKERS],
    ...(tls === undefined ? {} : { ssl: tls }),
    ...(mechanism === 'none' ? {} : { sasl: { mechanism, username, password: password?.reveal() } as SASLOptions }),
    logLevel: logLevel.ERROR,
  };
}
