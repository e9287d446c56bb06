/** The certificates and the key of the `KAFKA_SSL_` options, which name PEM files. Read and checked at start. */
import type { Snapshot } from '../../../src/config/options/options.ts';
import { readCertificates, readKeyPair } from '../../../src/config/pem.ts';
import { Fault } from '../../../src/core/fault.ts';

type Options = Pick<Snapshot, 'KAFKA_SSL' | 'KAFKA_SSL_CA' | 'KAFKA_SSL_CERT' | 'KAFKA_SSL_KEY'>;
type FileOption = Exclude<keyof Options, 'KAFKA_SSL'>;

const FILES = ['KAFKA_SSL_CA', 'KAFKA_SSL_CERT', 'KAFKA_SSL_KEY'] as const satisfies readonly FileOption[];

/** PEM texts, as Node's `tls` expects them. */
export interface KafkaTls {
  readonly ca?: string[];
  readonly cert?: string;
  readonly key?: string;
}

/**
 * Undefined: no TLS. Without `ca` the brokers need certificates that Node trusts.
 *
 * @throws Fault config/invalid — contradicting options; a file that cannot be read or has other content; a key that does not match the
 *   certificate. Names the option and the file, never the content of a key file
 */
export function kafkaTls(options: Options): KafkaTls | undefined {
  if (!options.KAFKA_SSL) {
    const set = FILES.find((name) => options[name] !== undefined);
    if (set === undefined) return undefined;
    throw new Fault('config/invalid', `${set} is set, but KAFKA_SSL is false`, { hint: 'Set KAFKA_SSL=true' });
  }
  const { KAFKA_SSL_CA: ca, KAFKA_SSL_CERT: certificate, KAFKA_SSL_KEY: key } = options;
  // The first certificate is the client's; intermediate certificates may follow.
  const own = readKeyPair({ option: 'KAFKA_SSL_CERT', path: certificate }, { option: 'KAFKA_SSL_KEY', path: key });
  return {
    ...(ca === undefined ? {} : { ca: [readCertificates({ option: 'KAFKA_SSL_CA', path: ca }).text] }),
    ...(own === undefined ? {} : { cert: own.cert, key: own.key }),
  };
}

/** TLS alerts about a certificate, with which the peer ends a handshake. @see https://www.rfc-editor.org/rfc/rfc8446#section-6.2 */
const ALERT = /alert ([a-z ]+):.*SSL alert number (?:4[1-6]|48|116)\b/s;
const NOT_TRUSTED = /self-signed certificate|unable to (?:verify|get)[a-z ]* certificate/;

/** Explains a handshake error in terms of the options, without paths and addresses; undefined: not a handshake error. */
export function explainHandshake(error: string, { KAFKA_SSL_CERT }: Pick<Options, 'KAFKA_SSL_CERT'>): string | undefined {
  const alert = ALERT.exec(error)?.[1];
  if (alert !== undefined) {
    return KAFKA_SSL_CERT === undefined
      ? `The brokers want a certificate of this service (alert: ${alert}): set KAFKA_SSL_CERT and KAFKA_SSL_KEY`
      : `The brokers refuse the certificate of KAFKA_SSL_CERT (alert: ${alert})`;
  }
  const untrusted = NOT_TRUSTED.exec(error)?.[0];
  if (untrusted === undefined) return undefined;
  return `The certificate of the brokers is not trusted (${untrusted}): set KAFKA_SSL_CA to the file of those that sign it`;
}
