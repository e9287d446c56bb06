/** TLS with the servers of the queue and of messages: PEM files that options name, and what a failed handshake means. */
import type { OptionName } from '../src/config/options/options.ts';
import { readCertificates, readKeyPair } from '../src/config/pem.ts';

/** Names of the options of one kind of server. */
export interface TlsOptions {
  /** In messages: `brokers`. */
  readonly server: string;
  readonly ca: OptionName;
  readonly cert: OptionName;
  readonly key: OptionName;
}

/** PEM texts, as Node's `tls` expects them. Without `ca` the server needs a certificate that Node trusts. */
export interface TlsTexts {
  readonly ca?: string[];
  readonly cert?: string;
  readonly key?: string;
}

/** Values of the options: paths of PEM files. */
export interface TlsPaths {
  readonly ca?: string | undefined;
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
}

/** An option that is set; undefined: none is. */
export const anySet = (paths: TlsPaths, names: TlsOptions): OptionName | undefined => {
  const set = (['ca', 'cert', 'key'] as const).find((one) => paths[one] !== undefined);
  return set && names[set];
};

/**
 * @throws Fault config/invalid — a file that cannot be read or has other content; a key that does not match the certificate. Names the
 *   option and the file, never the content of a key file
 */
export function readTls(paths: TlsPaths, { ca, cert, key }: TlsOptions): TlsTexts {
  // The first certificate is the client's; intermediate certificates may follow.
  const own = readKeyPair({ option: cert, path: paths.cert }, { option: key, path: paths.key });
  return {
    ...(paths.ca === undefined ? {} : { ca: [readCertificates({ option: ca, path: paths.ca }).text] }),
    ...(own === undefined ? {} : { cert: own.cert, key: own.key }),
  };
}

/** TLS alerts about a certificate, with which the peer ends a handshake. @see https://www.rfc-editor.org/rfc/rfc8446#section-6.2 */
const ALERT = /alert ([a-z ]+):.*SSL alert number (?:4[1-6]|48|116)\b/s;
const NOT_TRUSTED = /self-signed certificate|unable to (?:verify|get)[a-z ]* certificate/;

/** Explains a handshake error in terms of the options, without paths and addresses; undefined: not a handshake error. */
export function explainHandshake(error: string, hasCertificate: boolean, { server, ca, cert, key }: TlsOptions): string | undefined {
  const alert = ALERT.exec(error)?.[1];
  if (alert !== undefined) {
    return hasCertificate
      ? `The ${server} refuse the certificate of ${cert} (alert: ${alert})`
      : `The ${server} want a certificate of this service (alert: ${alert}): set ${cert} and ${key}`;
  }
  const untrusted = NOT_TRUSTED.exec(error)?.[0];
  if (untrusted === undefined) return undefined;
  return `The certificate of the ${server} is not trusted (${untrusted}): set ${ca} to the file of those that sign it`;
}
