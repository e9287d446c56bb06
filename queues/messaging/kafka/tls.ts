/** The certificates and the key of the `KAFKA_SSL_` options, which name PEM files. Read and checked at start. */
import type { Snapshot } from '../../../src/config/options/options.ts';
import { Fault } from '../../../src/core/fault.ts';
import { anySet, readTls, type TlsOptions, type TlsTexts } from '../../tls.ts';

export const KAFKA_TLS = {
  server: 'brokers',
  ca: 'KAFKA_SSL_CA',
  cert: 'KAFKA_SSL_CERT',
  key: 'KAFKA_SSL_KEY',
} as const satisfies TlsOptions;

/**
 * Undefined: no TLS.
 *
 * @throws Fault config/invalid — contradicting options, and as `readTls`
 */
export function kafkaTls(options: Pick<Snapshot, 'KAFKA_SSL' | 'KAFKA_SSL_CA' | 'KAFKA_SSL_CERT' | 'KAFKA_SSL_KEY'>): TlsTexts | undefined {
  const paths = { ca: options.KAFKA_SSL_CA, cert: options.KAFKA_SSL_CERT, key: options.KAFKA_SSL_KEY };
  if (options.KAFKA_SSL) return readTls(paths, KAFKA_TLS);
  const set = anySet(paths, KAFKA_TLS);
  if (set === undefined) return undefined;
  throw new Fault('config/invalid', `${set} is set, but KAFKA_SSL is false`, { hint: 'Set KAFKA_SSL=true' });
}
