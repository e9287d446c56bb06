/** PEM files that options name: certificates and private keys. */
import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { Fault } from '../core/fault.ts';
import type { OptionName } from './options/options.ts';

/** A file, and the option that names it. */
export interface PemFile {
  readonly option: OptionName;
  readonly path: string;
}

/** PEM texts, as Node's `tls` expects them. */
export interface KeyPair {
  /** The certificate, then intermediate ones. */
  readonly cert: string;
  readonly key: string;
  /** The certificate of the key. */
  readonly certificate: X509Certificate;
}

/**
 * A certificate with its key; undefined: neither file is given.
 *
 * @throws Fault config/invalid — one without the other; a file that cannot be read or has other content; a key that does not match the
 *   certificate. Names the option and the file, never the content of a key file
 */
export function readKeyPair(
  certificate: Pick<PemFile, 'option'> & { readonly path: string | undefined },
  key: Pick<PemFile, 'option'> & { readonly path: string | undefined },
): KeyPair | undefined {
  if (certificate.path === undefined && key.path === undefined) return undefined;
  if (certificate.path === undefined || key.path === undefined) {
    const [given, absent] = certificate.path === undefined ? [key, certificate] : [certificate, key];
    throw new Fault('config/invalid', `${given.option} is set, but ${absent.option} is not: a certificate is of use only with its key`, {
      hint: `Set ${absent.option} to a PEM file`,
    });
  }
  const { text: cert, first } = readCertificates({ option: certificate.option, path: certificate.path });
  const { text, key: own } = readPrivateKey({ option: key.option, path: key.path });
  if (!first.checkPrivateKey(own)) {
    throw new Fault(
      'config/invalid',
      `The key of ${key.option} (${key.path}) does not belong to the certificate of ${certificate.option} (${certificate.path})`,
      { hint: 'The first certificate of that file must be the one that was made with this key' },
    );
  }
  return { cert, key: text, certificate: first };
}

const CERTIFICATE = /-----BEGIN CERTIFICATE-----.*?-----END CERTIFICATE-----/gs;

/** @throws Fault config/invalid — as `readKeyPair` */
export function readCertificates(file: PemFile): { readonly text: string; readonly first: X509Certificate } {
  const text = readPem(file);
  const [first, ...others] = text.match(CERTIFICATE) ?? [];
  if (first === undefined) throw notPem(file, 'no certificate');
  try {
    for (const other of others) new X509Certificate(other);
    return { text, first: new X509Certificate(first) };
  } catch (cause) {
    throw notPem(file, 'a certificate that cannot be decoded', cause);
  }
}

function readPrivateKey(file: PemFile): { readonly text: string; readonly key: KeyObject } {
  const text = readPem(file);
  try {
    return { text, key: createPrivateKey(text) };
  } catch (cause) {
    if (!/-----BEGIN ENCRYPTED|Proc-Type: 4,ENCRYPTED/.test(text)) throw notPem(file, 'no private key', cause);
    throw new Fault('config/invalid', `The file ${file.path} of ${file.option} holds a key that a passphrase protects`, {
      hint: 'Give the key without one (openssl pkey -in KEY -out PLAIN), and protect the file',
      cause,
    });
  }
}

function readPem({ option, path }: PemFile): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (cause) {
    throw new Fault('config/invalid', `The file ${path} of ${option} cannot be read: ${(cause as NodeJS.ErrnoException).code}`, {
      hint: 'A PEM file was expected',
      cause,
    });
  }
}

const notPem = ({ option, path }: PemFile, found: string, cause?: unknown): Fault =>
  new Fault('config/invalid', `The file ${path} of ${option} holds ${found}`, { hint: 'A PEM file was expected', cause });
