/** Licences: whatever is changed in one, and on which day it is read. */
import { generateKeyPairSync, sign } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { assertLicensed, createLicence, expiryOf, licenceObject, licenceOf, publicKeyOf } from '../../../src/config/licence.ts';
import { Secret } from '../../../src/core/secret.ts';

const licensor = generateKeyPairSync('ed25519');
const LICENSE_PUBLIC_KEY = licensor.publicKey.export({ type: 'spki', format: 'pem' }).toString();
const given = {
  id: '2027-0042',
  name: 'Ada Lovelace',
  company: 'Example Ltd',
  email: 'ada@example.org',
  notBefore: '2027-01-01',
  expires: '2027-12-31',
};
const text = createLicence(given, licensor.privateKey);
const at = (time: string): number => Date.parse(time);
const NOON = at('2027-06-15T12:00:00Z');
const read = (LICENSE: string | undefined, now = NOON, key: string | undefined = LICENSE_PUBLIC_KEY) =>
  licenceOf({ LICENSE: Secret.of(LICENSE), LICENSE_PUBLIC_KEY: key }, now);

/** `text` with another header or payload, but the signature of the original. */
function changed(part: 0 | 1, change: Readonly<Record<string, unknown>>): string {
  const parts = text.split('.');
  const old = JSON.parse(Buffer.from(parts[part] as string, 'base64url').toString());
  parts[part] = Buffer.from(JSON.stringify({ ...old, ...change })).toString('base64url');
  return parts.join('.');
}

/** Any header and payload, signed by the licensor. */
function signed(header: unknown, payload: unknown): string {
  const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  const both = `${encode(header)}.${encode(payload)}`;
  return `${both}.${sign(null, Buffer.from(both), licensor.privateKey).toString('base64url')}`;
}
const HEADER = JSON.parse(Buffer.from(text.split('.')[0] as string, 'base64url').toString());
const PAYLOAD = JSON.parse(Buffer.from(text.split('.')[1] as string, 'base64url').toString());

test('a licence names the licensee and the days that are left', () => {
  expect(licenceObject(read(text), NOON)).toEqual({
    license: '2027-0042: Quadmill licence, valid from 2027-01-01 to 2027-12-31',
    licenseInformation: {
      registeredTo: 'Ada Lovelace - Example Ltd - ada@example.org',
      expires: '2027-12-31 (199 days remaining)',
      productName: 'Quadmill',
    },
    validationStatus: 'LICENSE_VALID',
  });
  expect(expiryOf(read(text))).toBe(at('2028-01-01T00:00:00Z') / 1000);
});

test.each([undefined, '', ' \n'])('without one (%j) the community licence is valid for ever', (none) => {
  const now = at('2999-01-01T00:00:00Z');
  expect(licenceObject(read(none, now), now)).toMatchObject({
    licenseInformation: { registeredTo: 'Community - none - none', expires: expect.stringMatching(/^9999-12-31 \(\d+ days remaining\)$/) },
    validationStatus: 'LICENSE_VALID',
  });
});

test.each([
  ['2026-12-31T23:59:59.999Z', 'LICENSE_NOT_YET_VALID', '2027-12-31 (365 days remaining)'],
  ['2027-01-01T00:00:00.000Z', 'LICENSE_VALID', '2027-12-31 (365 days remaining)'],
  ['2027-12-30T12:00:00.000Z', 'LICENSE_VALID', '2027-12-31 (1 day remaining)'],
  ['2027-12-31T23:59:59.999Z', 'LICENSE_VALID', '2027-12-31 (0 days remaining)'],
  ['2028-01-01T00:00:00.000Z', 'LICENSE_EXPIRED', '2027-12-31 (0 days remaining)'],
  ['1969-01-01T00:00:00.000Z', 'LICENSE_NOT_YET_VALID', expect.any(String)],
])('at %s it is %s', (time, status, expires) => {
  const licence = read(text, at(time));
  expect(licenceObject(licence, at(time))).toMatchObject({ validationStatus: status, licenseInformation: { expires } });
  const start = (): void => assertLicensed({ LICENSE: new Secret(text), LICENSE_PUBLIC_KEY }, at(time));
  if (status === 'LICENSE_VALID') expect(start).not.toThrow();
  else expect(start).toThrow(expect.objectContaining({ code: 'licence/invalid', message: expect.stringContaining('2027-0042') }));
});

describe('what is not a licence says nothing of a licensee', () => {
  test.each([
    ['another name', changed(1, { name: 'Mallory' }), /changed/],
    ['a later end', changed(1, { expires: '2099-12-31' }), /changed/],
    ['another algorithm', changed(0, { alg: 'none' }), /not a licence/],
    ['no signature', text.replace(/\.[^.]*$/, '.'), /changed/],
    ['half a signature', text.slice(0, -20), /changed/],
    ['without its last part', text.replace(/\.[^.]*$/, ''), /not a licence/],
    ['a fourth part', `${text}.x`, /not a licence/],
    ['any text', 'community', /not a licence/],
    ['JSON', JSON.stringify(given), /not a licence/],
    ['another kind of token', signed({ alg: 'EdDSA', typ: 'JWT' }, PAYLOAD), /not a licence/],
    ['no header', signed(null, PAYLOAD), /not a licence/],
    ['no payload', signed(HEADER, null), /lacks a field/],
    ['no end', signed(HEADER, { ...PAYLOAD, expires: undefined }), /lacks a field/],
    ['an end that is no day', signed(HEADER, { ...PAYLOAD, expires: '2027-02-30' }), /lacks a field/],
    ['another product', signed(HEADER, { ...PAYLOAD, product: 'Other' }), /for Other/],
    ['another licensor', createLicence(given, generateKeyPairSync('ed25519').privateKey), /another key/],
  ])('%s', (_, changedText, problem) => {
    expect(licenceObject(read(changedText), NOON)).toEqual({
      license: '',
      licenseInformation: { registeredTo: '', expires: '', productName: 'Quadmill' },
      validationStatus: 'LICENSE_INVALID',
      problem: expect.stringMatching(problem),
    });
    expect(expiryOf(read(changedText))).toBe(0);
  });

  test('any bit of it', () => {
    const bytes = Buffer.from(text, 'latin1');
    // The last character of each part holds bits that decoders ignore, so a change there may be none.
    const places = [...bytes.keys()].filter((at) => at % 7 === 0 && bytes[at + 1] !== undefined && bytes[at + 1] !== 0x2e);
    for (const place of places) {
      const other = Buffer.from(bytes);
      other[place] = (other[place] as number) ^ 1;
      expect([place, read(other.toString('latin1')).status]).toEqual([place, 'LICENSE_INVALID']);
    }
    expect(places.length).toBeGreaterThan(40);
  });

  test('a licence whose licensor is unknown', () => {
    expect(licenceOf({ LICENSE: new Secret(text), LICENSE_PUBLIC_KEY: undefined }, NOON)).toMatchObject({
      status: 'LICENSE_INVALID',
      problem: expect.stringContaining('LICENSE_PUBLIC_KEY'),
    });
  });
});

test('the public key is PEM, or its line alone; nothing else is', () => {
  const line = LICENSE_PUBLIC_KEY.split('\n')[1] as string;
  expect(read(text, NOON, line).status).toBe('LICENSE_VALID');
  expect(publicKeyOf(line).asymmetricKeyType).toBe('ed25519');
  const { publicKey } = generateKeyPairSync('x25519');
  for (const other of ['', 'x', publicKey.export({ type: 'spki', format: 'pem' }).toString()]) {
    expect(() => publicKeyOf(other)).toThrow(expect.objectContaining({ code: 'config/invalid' }));
  }
});

describe('no licence is made of', () => {
  test.each([
    ['an empty name', { ...given, name: ' ' }, 'name'],
    ['a day that is none', { ...given, expires: '2027-02-29' }, '2027-02-29'],
    ['a time', { ...given, notBefore: '2027-01-01T00:00:00Z' }, 'notBefore'],
    ['an end before the beginning', { ...given, expires: '2026-12-31' }, 'before it begins'],
  ])('%s', (_, fields, said) => {
    expect(() => createLicence(fields, licensor.privateKey)).toThrow(
      expect.objectContaining({ code: 'config/invalid', message: expect.stringContaining(said) }),
    );
  });

  test('a key of another kind, or a public one', () => {
    const { privateKey } = generateKeyPairSync('ed448');
    for (const key of [privateKey, licensor.publicKey]) expect(() => createLicence(given, key)).toThrow(/Ed25519 private key/);
  });
});

test('every licence has a unique identifier', () => {
  const { id: _, ...rest } = given;
  const [one, other] = [createLicence(rest, licensor.privateKey), createLicence(rest, licensor.privateKey)];
  expect(read(one).claims?.id).not.toBe(read(other).claims?.id);
});
