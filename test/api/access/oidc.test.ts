/** Tokens of an issuer of the test's own: what is let in, and everything else. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { type CryptoKey, exportJWK, exportSPKI, generateKeyPair, type JWTPayload, SignJWT, UnsecuredJWT } from 'jose';
import { makeGuard } from '../../../api/access/guard.ts';
import { type OidcOptions, type OidcTimes, oidcVerifier } from '../../../api/access/oidc.ts';
import { DEFAULTS } from '../../../src/config/options/options.ts';
import { secrets } from '../../support/secrets.ts';

interface Key {
  readonly kid: string;
  readonly privateKey: CryptoKey;
  readonly publicKey: CryptoKey;
}

const newKey = async (kid: string, algorithm = 'RS256'): Promise<Key> => ({
  kid,
  ...(await generateKeyPair(algorithm, { extractable: true })),
});

/** Of the issuer, as it is now. */
const issuer = { url: '', keys: [] as Key[], status: 200, named: undefined as string | undefined, asked: { discovery: 0, keys: 0 } };
let server: Server;
let [first, second, stranger, ec]: Key[] = [];

beforeAll(async () => {
  [first, second, stranger, ec] = await Promise.all([newKey('one'), newKey('two'), newKey('one'), newKey('ec', 'ES256')]);
  server = createServer(async ({ url }, response) => {
    const isKeys = url === '/realm/keys';
    issuer.asked[isKeys ? 'keys' : 'discovery']++;
    if (issuer.status !== 200) return void response.writeHead(issuer.status).end();
    const document = isKeys
      ? { keys: await Promise.all(issuer.keys.map(async ({ kid, publicKey }) => ({ ...(await exportJWK(publicKey)), kid, use: 'sig' }))) }
      : { issuer: issuer.named ?? issuer.url, jwks_uri: `${issuer.url}/keys` };
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(document));
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  issuer.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/realm`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});
beforeEach(() => {
  Object.assign(issuer, { keys: [first, ec], status: 200, named: undefined, asked: { discovery: 0, keys: 0 } });
});

const options = (more: Partial<OidcOptions> = {}): OidcOptions => ({
  ...DEFAULTS,
  OIDC_ISSUER: issuer.url,
  OIDC_AUDIENCE: 'mill',
  ...more,
});
const TIMES: OidcTimes = { cooldownMs: 60_000, keysMs: 600_000, answerMs: 5_000, retryMs: 0 };
const verifierOf = (more: Partial<OidcOptions> = {}, times: Partial<OidcTimes> = {}) => {
  const verifier = oidcVerifier(options(more), { ...TIMES, ...times });
  if (verifier === undefined) throw new Error('no verifier');
  return verifier;
};

const now = (): number => Math.floor(Date.now() / 1000);
const claims = (): JWTPayload => ({ iss: issuer.url, aud: 'mill', sub: 'ann', exp: now() + 300, iat: now(), roles: ['quadmill-operator'] });
const tokenOf = (
  changes: JWTPayload = {},
  key = first as Key,
  header: { readonly alg?: string; readonly kid?: string } = {},
): Promise<string> =>
  new SignJWT({ ...claims(), ...changes }).setProtectedHeader({ alg: 'RS256', kid: key.kid, ...header }).sign(key.privateKey);
const without = async (claim: string): Promise<string> => {
  const { [claim]: _, ...rest } = claims();
  return new SignJWT(rest).setProtectedHeader({ alg: 'RS256', kid: 'one' }).sign((first as Key).privateKey);
};

describe('a token', () => {
  test('of the issuer says who asks, and with which role', async () => {
    expect(await verifierOf().verify(await tokenOf())).toEqual({ caller: { name: 'oidc:ann', role: 'operator' } });
    expect(await verifierOf().verify(await tokenOf({ aud: ['other', 'mill'] }, ec, { alg: 'ES256' }))).toEqual({
      caller: { name: 'oidc:ann', role: 'operator' },
    });
  });

  test.each<[string, string, JWTPayload, string | undefined]>([
    ['the highest of several', 'roles', { roles: ['quadmill-viewer', 'quadmill-admin', 'x'] }, 'admin'],
    ['a text with spaces', 'scope', { scope: 'openid quadmill-viewer' }, 'viewer'],
    ['one text', 'group', { group: 'quadmill-admin' }, 'admin'],
    ['a path', 'realm_access.roles', { realm_access: { roles: ['quadmill-viewer'] } }, 'viewer'],
    ['a name with dots and slashes', 'https://mill.example/roles', { 'https://mill.example/roles': ['quadmill-viewer'] }, 'viewer'],
    ['no such claim', 'groups', {}, undefined],
    ['no value that is known', 'roles', { roles: ['admin', 'Quadmill-Admin'] }, undefined],
    ['another type', 'roles', { roles: { admin: true } }, undefined],
    ['numbers', 'roles', { roles: [1, null] }, undefined],
    ['what every object has', '__proto__.constructor', {}, undefined],
  ])('has the role of its claim: %s', async (_, claim, changes, role) => {
    const answer = await verifierOf({ OIDC_ROLE_CLAIM: claim }).verify(await tokenOf(changes));
    expect(answer).toEqual({ caller: { name: 'oidc:ann', role } });
  });

  const hs256 = async (): Promise<string> =>
    new SignJWT(claims())
      .setProtectedHeader({ alg: 'HS256', kid: 'one' })
      .sign(new TextEncoder().encode(await exportSPKI((first as Key).publicKey)));
  const tampered = async (): Promise<string> => {
    const [head, , signature] = (await tokenOf()).split('.');
    const payload = Buffer.from(JSON.stringify({ ...claims(), roles: ['quadmill-admin'] })).toString('base64url');
    return `${head}.${payload}.${signature}`;
  };
  const unsigned = async (): Promise<string> => {
    const [, payload] = (await tokenOf()).split('.');
    return `${Buffer.from('{"alg":"none","kid":"one"}').toString('base64url')}.${payload}.`;
  };

  test.each<[string, () => Promise<string>, RegExp]>([
    ['a changed payload', tampered, /signature/],
    ['a cut signature', async () => (await tokenOf()).slice(0, -4), /signature/],
    ['another key of the same name', () => tokenOf({}, stranger), /signature/],
    ['no signature', unsigned, /algorithm/],
    ['no signature, by the library', async () => new UnsecuredJWT(claims()).encode(), /algorithm/],
    ['the public key as the secret of HMAC', hs256, /algorithm/],
    ['another algorithm than the key has', () => tokenOf({}, ec, { alg: 'ES256', kid: 'one' }), /key/],
    ['a key that the issuer does not have', () => tokenOf({}, second), /key/],
    ['an end that is over', () => tokenOf({ exp: now() - 120 }), /expired/],
    ['a beginning that is to come', () => tokenOf({ nbf: now() + 120 }), /not valid yet/],
    ['another audience', () => tokenOf({ aud: 'other' }), /aud is not the expected/],
    ['an audience that begins like it', () => tokenOf({ aud: 'mill2' }), /aud/],
    ['another issuer', () => tokenOf({ iss: `${issuer.url}/` }), /iss is not the expected/],
    ['no end', () => without('exp'), /exp is missing/],
    ['no audience', () => without('aud'), /aud is missing/],
    ['no issuer', () => without('iss'), /iss is missing/],
    ['no subject', () => without('sub'), /sub is missing/],
    ['an end that is no number', () => tokenOf({ exp: 'never' as never }), /exp/],
    [
      'a critical header',
      async () => (await tokenOf()).replace(/^[^.]+/, Buffer.from('{"alg":"RS256","kid":"one","crit":["x"],"x":1}').toString('base64url')),
      /algorithm|well-formed/,
    ],
    ['what is no token', async () => 'abc', /this service does not know it/],
    ['parts that are no JSON', async () => 'abc.def.ghi', /well-formed/],
    ['a very long one', async () => `${'a'.repeat(20_000)}.b.c`, /this service does not know it/],
  ])('with %s is not valid', async (_, make, reason) => {
    const token = await make();
    const answer = await verifierOf().verify(token);
    expect(answer).toEqual({ invalid: expect.stringMatching(reason) });
    expect(JSON.stringify(answer)).not.toContain(token.slice(0, 30));
  });

  test('may be a little early or late, as clocks differ', async () => {
    const verifier = verifierOf({ OIDC_CLOCK_SECONDS: 60 });
    for (const changes of [{ exp: now() - 30 }, { nbf: now() + 30 }])
      expect(await verifier.verify(await tokenOf(changes))).toHaveProperty('caller');
    expect(await verifierOf({ OIDC_CLOCK_SECONDS: 0 }).verify(await tokenOf({ exp: now() - 1 }))).toHaveProperty('invalid');
  });
});

describe('keys', () => {
  test('are asked for once, and again when a new one comes', async () => {
    const verifier = verifierOf({}, { cooldownMs: 0 });
    for (let i = 0; i < 5; i++) expect(await verifier.verify(await tokenOf())).toHaveProperty('caller');
    expect(issuer.asked).toEqual({ discovery: 1, keys: 1 });
    issuer.keys = [second as Key];
    expect(await verifier.verify(await tokenOf({}, second))).toHaveProperty('caller');
    expect(await verifier.verify(await tokenOf())).toHaveProperty('invalid');
  });

  test('that no issuer has are not asked for without end', async () => {
    const verifier = verifierOf();
    for (let i = 0; i < 30; i++)
      expect(await verifier.verify(await tokenOf({}, stranger, { kid: `made up ${i}` }))).toHaveProperty('invalid');
    expect(issuer.asked.keys).toBe(1);
    expect(await verifier.verify(await tokenOf())).toHaveProperty('caller');
  });

  test('of many tokens at once are asked for once', async () => {
    const verifier = verifierOf();
    const token = await tokenOf();
    const answers = await Promise.all(Array.from({ length: 50 }, () => verifier.verify(token)));
    expect(answers.every((answer) => 'caller' in answer)).toBe(true);
    expect(issuer.asked).toEqual({ discovery: 1, keys: 1 });
  });

  test('of an issuer that is away: the answer says so, it is not asked for each token, and when it is back all is well', async () => {
    issuer.status = 503;
    const verifier = verifierOf({}, { retryMs: 60_000 });
    for (let i = 0; i < 5; i++) {
      await expect(verifier.verify(await tokenOf())).rejects.toMatchObject({ code: 'service/unavailable', status: 503 });
    }
    expect(issuer.asked.discovery).toBe(1);
    const patient = verifierOf();
    await expect(patient.verify(await tokenOf())).rejects.toMatchObject({ code: 'service/unavailable' });
    issuer.status = 200;
    expect(await patient.verify(await tokenOf())).toHaveProperty('caller');
  });

  test('of a document of another issuer are not taken', async () => {
    issuer.named = 'https://evil.example';
    await expect(verifierOf().verify(await tokenOf())).rejects.toMatchObject({ code: 'service/unavailable' });
    expect(issuer.asked.keys).toBe(0);
  });
});

test.each<[string, Partial<OidcOptions>, RegExp]>([
  ['no audience', { OIDC_AUDIENCE: undefined }, /OIDC_AUDIENCE/],
  ['an audience without an issuer', { OIDC_ISSUER: undefined }, /OIDC_ISSUER/],
  ['an issuer without TLS', { OIDC_ISSUER: 'http://issuer.example' }, /https/],
  ['an issuer that is no URL', { OIDC_ISSUER: 'issuer' }, /https/],
  ['an unknown role', { OIDC_ROLES: ['x=owner'] }, /OIDC_ROLES/],
])('%s is refused at start', (_, more, message) => {
  expect(() => oidcVerifier(options(more))).toThrow(message);
});

describe('the guard', () => {
  test('takes tokens of both kinds', async () => {
    const all = { ...DEFAULTS, ...options(), API_TOKENS: secrets(['bob:admin:right']), HOST: '0.0.0.0' };
    const guard = makeGuard(all, () => all);
    const ask = async (token: string, role: 'viewer' | 'admin') =>
      (
        await guard.admit({ headers: { authorization: `Bearer ${token}` }, socket: { remoteAddress: '1.1.1.1' } } as never, {
          changes: true,
        })
      ).require(role);
    expect(await ask('right', 'admin')).toBe('bob');
    expect(await ask(await tokenOf(), 'viewer')).toBe('oidc:ann');
    await expect(ask(await tokenOf(), 'admin')).rejects.toMatchObject({ status: 403 });
    await expect(ask(await tokenOf({ roles: [] }), 'viewer')).rejects.toMatchObject({
      status: 403,
      hint: expect.stringContaining('OIDC_ROLES'),
    });
    await expect(ask(await tokenOf({ exp: now() - 120 }), 'viewer')).rejects.toMatchObject({
      status: 401,
      message: 'The bearer token is not valid: it has expired',
      headers: { 'WWW-Authenticate': 'Bearer realm="quadmill", error="invalid_token"' },
    });
    issuer.status = 500;
    const alone = makeGuard(all, () => all);
    await expect(
      alone.admit({ headers: { authorization: `Bearer ${await tokenOf()}` }, socket: {} } as never, { changes: true }),
    ).rejects.toMatchObject({ status: 503 });
  });

  test('needs no API_TOKENS beyond loopback where there is an issuer', () => {
    const all = { ...DEFAULTS, ...options(), HOST: '0.0.0.0' };
    expect(() => makeGuard(all, () => all)).not.toThrow();
  });
});
