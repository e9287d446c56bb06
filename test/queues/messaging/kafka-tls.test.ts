/** Checks of certificates and keys before connecting to a broker. */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { KAFKA_TLS, kafkaTls } from '../../../queues/messaging/kafka/tls.ts';
import { explainHandshake } from '../../../queues/tls.ts';
import type { Fault } from '../../../src/core/fault.ts';

const missing = spawnSync('openssl', ['version']).status === 0 ? undefined : 'there is no openssl on the PATH';

type Files = Parameters<typeof kafkaTls>[0];

(missing === undefined ? describe : describe.skip)(`the files of KAFKA_SSL_${missing ? ` (not tested: ${missing})` : ''}`, () => {
  let directory: string;
  const file = (name: string): string => join(directory, name);
  const options = (files: Partial<Files>): Files => ({
    KAFKA_SSL: true,
    KAFKA_SSL_CA: undefined,
    KAFKA_SSL_CERT: undefined,
    KAFKA_SSL_KEY: undefined,
    ...files,
  });

  beforeAll(() => {
    directory = mkdtempSync(join(tmpdir(), 'quadmill-kafka-tls-'));
    const openssl = (...words: readonly string[]): unknown => execFileSync('openssl', words, { cwd: directory, stdio: 'pipe' });
    for (const name of ['own', 'other']) {
      openssl('req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-subj', `/CN=${name}`, '-keyout', `${name}.key`, '-out', `${name}.pem`);
    }
    openssl('rsa', '-aes256', '-passout', 'pass:hunter2', '-in', 'own.key', '-out', 'locked.key');
    writeFileSync(file('garbage.pem'), 'no PEM\n');
    writeFileSync(file('torn.pem'), '-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n');
  });
  afterAll(() => rmSync(directory, { recursive: true, force: true }));

  test('become the options of the client library', () => {
    const tls = kafkaTls(options({ KAFKA_SSL_CA: file('other.pem'), KAFKA_SSL_CERT: file('own.pem'), KAFKA_SSL_KEY: file('own.key') }));
    expect(tls).toEqual({
      ca: [expect.stringContaining('BEGIN CERTIFICATE')],
      cert: expect.stringContaining('BEGIN CERTIFICATE'),
      key: expect.stringContaining('PRIVATE KEY'),
    });
    expect(kafkaTls(options({}))).toEqual({});
    expect(kafkaTls(options({ KAFKA_SSL: false }))).toBeUndefined();
  });

  test.each<[string, () => Partial<Files>, readonly string[], RegExp]>([
    [
      'a certificate without TLS',
      () => ({ KAFKA_SSL: false, KAFKA_SSL_CERT: file('own.pem'), KAFKA_SSL_KEY: file('own.key') }),
      ['KAFKA_SSL_CERT'],
      /KAFKA_SSL=true/,
    ],
    [
      'a certificate without its key',
      () => ({ KAFKA_SSL_CERT: file('own.pem') }),
      ['KAFKA_SSL_CERT', 'KAFKA_SSL_KEY'],
      /Set KAFKA_SSL_KEY/,
    ],
    [
      'a key without its certificate',
      () => ({ KAFKA_SSL_KEY: file('own.key') }),
      ['KAFKA_SSL_KEY', 'KAFKA_SSL_CERT'],
      /Set KAFKA_SSL_CERT/,
    ],
    ['an authority that is not there', () => ({ KAFKA_SSL_CA: file('none.pem') }), ['KAFKA_SSL_CA', 'none.pem', 'ENOENT'], /PEM/],
    [
      'an authority that is not PEM',
      () => ({ KAFKA_SSL_CA: file('garbage.pem') }),
      ['KAFKA_SSL_CA', 'garbage.pem', 'no certificate'],
      /PEM/,
    ],
    ['an authority that is torn', () => ({ KAFKA_SSL_CA: file('torn.pem') }), ['KAFKA_SSL_CA', 'torn.pem', 'decoded'], /PEM/],
    [
      'a directory instead of a certificate',
      () => ({ KAFKA_SSL_CERT: directory, KAFKA_SSL_KEY: file('own.key') }),
      ['KAFKA_SSL_CERT', 'EISDIR'],
      /PEM/,
    ],
    [
      'a certificate instead of the key',
      () => ({ KAFKA_SSL_CERT: file('own.pem'), KAFKA_SSL_KEY: file('own.pem') }),
      ['KAFKA_SSL_KEY', 'own.pem', 'no private key'],
      /PEM/,
    ],
    [
      'the key of another certificate',
      () => ({ KAFKA_SSL_CERT: file('own.pem'), KAFKA_SSL_KEY: file('other.key') }),
      ['KAFKA_SSL_KEY', 'other.key', 'KAFKA_SSL_CERT', 'own.pem', 'does not belong'],
      /first certificate/,
    ],
    [
      'a key with a passphrase',
      () => ({ KAFKA_SSL_CERT: file('own.pem'), KAFKA_SSL_KEY: file('locked.key') }),
      ['KAFKA_SSL_KEY', 'locked.key', 'passphrase'],
      /openssl pkey/,
    ],
  ])('are refused at start: %s', (_, given, words, hint) => {
    let fault: Fault | undefined;
    try {
      kafkaTls(options(given()));
    } catch (error) {
      fault = error as Fault;
    }
    expect(fault).toMatchObject({ code: 'config/invalid', hint: expect.stringMatching(hint) });
    for (const word of words) expect(fault?.message).toContain(word);
    expect(JSON.stringify(fault)).not.toContain('PRIVATE KEY');
  });
});

test.each([
  [
    'Connection error: C0:error:0A00045C:SSL routines:ssl3_read_bytes:tlsv13 alert certificate required:a.c:1:SSL alert number 116\n',
    'want a',
  ],
  ['Connection error: connect ECONNREFUSED 127.0.0.1:9092', undefined],
  [
    'Connection error: C0:error:0A000410:SSL routines:ssl3_read_bytes:ssl/tls alert handshake failure:a.c:1:SSL alert number 40\n',
    undefined,
  ],
])('the error %j is explained: %s', (error, expected) => {
  const told = explainHandshake(error, false, KAFKA_TLS);
  if (expected === undefined) expect(told).toBeUndefined();
  else expect(told).toContain(`The brokers ${expected} certificate`);
});
