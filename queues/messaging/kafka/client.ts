/** The brokers of the bus: what the options say of their address and login, and what errors mean. */

import type { Snapshot } from '../../../src/config/options/options.ts';
import { Fault } from '../../../src/core/fault.ts';
import type { Logger } from '../../../src/core/telemetry/observe.ts';
import { type Client, type KafkaLogin, type KafkaSecurity, kafkaClient } from '../../../src/kafka/client.ts';
import { explainHandshake } from '../../tls.ts';
import { KAFKA_TLS, kafkaTls } from './tls.ts';

/** @throws Fault config/invalid — contradicting options, or an unreadable certificate file */
export const securityOf = (options: SecurityOptions): KafkaSecurity => ({ login: loginOf(options), tls: kafkaTls(options) });

/** Login and TLS. */
export const SECURITY_OPTIONS = [
  'KAFKA_SSL',
  'KAFKA_SSL_CA',
  'KAFKA_SSL_CERT',
  'KAFKA_SSL_KEY',
  'KAFKA_SASL_MECHANISM',
  'KAFKA_USERNAME',
  'KAFKA_PASSWORD',
] as const;
type SecurityOptions = Pick<Snapshot, (typeof SECURITY_OPTIONS)[number]>;

/** @throws those of `securityOf` */
export function busClient(snapshot: Snapshot, logger: Logger): Client {
  return kafkaClient(snapshot.KAFKA_BROKERS, securityOf(snapshot), (error) => explainError(error, snapshot), logger);
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

function loginOf(snapshot: SecurityOptions): KafkaLogin | undefined {
  const { KAFKA_SASL_MECHANISM: mechanism, KAFKA_USERNAME: username, KAFKA_PASSWORD: password } = snapshot;
  if (mechanism === 'none') {
    if (password === undefined) return undefined;
    throw new Fault('config/invalid', 'KAFKA_PASSWORD is set, but KAFKA_SASL_MECHANISM is none', {
      hint: 'Set KAFKA_SASL_MECHANISM to plain, scram-sha-256 or scram-sha-512',
    });
  }
  if (username !== undefined && password !== undefined) return { mechanism, username, password };
  throw new Fault('config/invalid', `KAFKA_SASL_MECHANISM is ${mechanism}, which needs a user and a password`, {
    hint: 'Set KAFKA_USERNAME and KAFKA_PASSWORD',
  });
}
