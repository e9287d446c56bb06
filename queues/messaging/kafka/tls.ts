/** The certificates and the key of the `KAFKA_SSL_` options, which name PEM files. Read and checked at start. */
import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Snapshot } from '../../../src/config/options/options.ts';
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
  return {
    ...(ca === undefined ? {} : { ca: [certificatesOf('KAFKA_SSL_CA', ca).text] }),
    ...(certificate === undefined && key === undefined ? {} : ownCertificate(certificate, key)),
  };
}

/** The first certificate is the client's; intermediate certificates may follow. */
function ownCertificate(certificate: string | undefined, key: string | undefined): Required<Pick<KafkaTls, 'cert' | 'key'>> {
  if (certificate === undefined || key === undefined) {
    const [given, absent] = certificate === undefined ? ['KAFKA_SSL_KEY', 'KAFKA_SSL_CERT'] : ['KAFKA_SSL_CERT', 'KAFKA_SSL_KEY'];
    throw new Fault('config/invalid', `${given} is set, but ${absent} is not: a certificate is of use only with its key`, {
      hint: `Set ${absent} to a PEM file`,
    });
  }
  const { text: cert, first } = certificatesOf('KAFKA_SSL_CERT', certificate);
  const { text, key: own } = privateKeyOf(key);
  if (!first.checkPrivateKey(own)) {
    throw new Fault(
      'config/invalid',
      `The key of KAFKA_SSL_KEY (${key}) does not belong to the certificate of KAFKA_SSL_CERT (${certificate})`,
      {
        hint: 'The first certificate of that file must be the one that was made with this key',
      },
    );
  }
  return { cert, key: text };
}

const CERTIFICATE = /-----BEGIN CERTIFICATE-----.*?-----END CERTIFICATE-----/gs;

function certificatesOf(option: FileOption, path: string): { readonly text: string; readonly first: X509Certificate } {
  const text = readPem(option, path);
  const [first, ...others] = text.match(CERTIFICATE) ?? [];
  if (first === undefined) throw notPem(option, path, 'no certificate');
  try {
    for (const other of others) new X509Certificate(other);
    return { text, first: new X509Certificate(first) };
  } catch (cause) {
    throw notPem(option, path, 'a certificate that cannot be decoded', cause);
  }
}

function privateKeyOf(path: string): { readonly text: string; readonly key: KeyObject } {
  const text = readPem('KAFKA_SSL_KEY', path);
  try {
    return { text, key: createPrivateKey(text) };
  } catch (cause) {
    if (!/-----BEGIN ENCRYPTED|Proc-Type: 4,ENCRYPTED/.test(text)) throw notPem('KAFKA_SSL_KEY', path, 'no private key', cause);
    throw new Fault('config/invalid', `The file ${path} of KAFKA_SSL_KEY holds a key that a passphrase protects`, {
      hint: 'Give the key without one (openssl pkey -in KEY -out PLAIN), and protect the file',
      cause,
    });
  }
}

function readPem(option: FileOption, path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (cause) {
    throw new Fault('config/invalid', `The file ${path} of ${option} cannot be read: ${(cause as NodeJS.ErrnoException).code}`, {
      hint: 'A PEM file was expected',
      cause,
    });
  }
}

const notPem = (option: FileOption, path: string, found: string, cause?: unknown): Fault =>
  new Fault('config/invalid', `The file ${path} of ${option} holds ${found}`, { hint: 'A PEM file was expected', cause });

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
