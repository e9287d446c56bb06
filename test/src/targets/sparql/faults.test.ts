/** SPARQL targets in trouble, with Fuseki: who may write, what is slow, what is not there. `faults.soak.test.ts` has more. */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { Secret } from '../../../../src/core/secret.ts';
import { sparqlTarget } from '../../../../src/targets/sparql/sparql.ts';
import { TargetBusy } from '../../../../src/targets/target.ts';
import { freePort } from '../../../servers/process/port.ts';
import { SHARED_START_MS, type SharedFuseki, sharedFuseki } from '../../../servers/shared/shared.ts';
import { FUSEKI_USERS } from '../../../servers/stores/fuseki.ts';
import { type Proxy, startProxy } from '../../../servers/stores/proxy.ts';
import { secretLogin } from '../../../support/secrets.ts';
import { address, contents, noFuseki, post, sorted, statements } from './stores.ts';
import { faultOf, likeOne, named, never, ONE, targetsOfTest } from './trouble.ts';

const { target, faultOfAll } = targetsOfTest();
let fuseki: SharedFuseki;

beforeAll(async () => {
  if (noFuseki === undefined) fuseki = await sharedFuseki();
}, SHARED_START_MS);

afterAll(async () => {
  await fuseki?.stop();
});

(noFuseki === undefined ? describe : describe.skip)(`login and rights on Fuseki${named(noFuseki)}`, () => {
  const { writer, stranger } = FUSEKI_USERS;

  test('who may write writes', async () => {
    const to = await target(address('fuseki', fuseki.secret, secretLogin(writer)));
    await to.probe(never);
    await to.insert(ONE, never);
    const login = `Basic ${Buffer.from(`${writer.username}:${writer.password}`).toString('base64')}`;
    expect(sorted(await contents(fuseki.secret, login))).toEqual(sorted('<urn:s> <urn:p> "1" <urn:g> .'));
  });

  test('the login may stand in the URL, and is not shown', async () => {
    const to = await target(address('fuseki', fuseki.secret.replace('//', `//${writer.username}:${writer.password}@`)));
    await to.probe(never);
    expect(to.describe()).toBe(`Apache Jena Fuseki at ${fuseki.secret}`);
  });

  test.each([
    ['no login', { username: undefined, password: undefined }],
    ['a wrong password', { username: writer.username, password: new Secret('wrong-secret') }],
    ['a user who may not', secretLogin(stranger)],
  ])('%s', async (_, login) => {
    const fault = await faultOfAll(address('fuseki', fuseki.secret, login));
    expect(fault.code).toBe('target/credentials');
    expect(fault.message).toBe(`Apache Jena Fuseki at ${fuseki.secret} refuses the login`);
    if (login.password !== undefined) expect(JSON.stringify(fault)).not.toContain(login.password.reveal());
  });

  test('a wrong password is heard of in the middle of a large body too', async () => {
    const to = await target(address('fuseki', fuseki.secret, { username: writer.username, password: new Secret('wrong') }));
    const many = likeOne(100_000, 'x'.repeat(200));
    expect((await faultOf(to.insert(many, never))).code).toBe('target/credentials');
  });

  test.each([
    ['of its type', 'fuseki', () => fuseki.readOnly],
    ['as any SPARQL endpoint', 'sparql', () => fuseki.readOnly],
  ] as const)('a read-only dataset %s', async (_name, type, url) => {
    const fault = await faultOfAll(address(type, url()));
    expect(fault.code).toBe('target/read-only');
    expect(fault.message).toContain(url());
  });

  test('the URL of queries stands for that of updates beside it', async () => {
    await (await target(address('sparql', `${fuseki.memory}/query/`))).probe(never);
    expect((await faultOfAll(address('sparql', `${fuseki.readOnly}/query`))).code).toBe('config/invalid');
  });

  test.each([
    ['a dataset that is not there', 'fuseki', () => `${fuseki.origin}/none`],
    ['a store of another type', 'graphdb', () => `${fuseki.origin}/tdb`],
  ] as const)('%s', async (_name, type, url) => {
    const fault = await faultOfAll(address(type, url()));
    expect(fault.code).toBe('config/invalid');
    expect(fault.message).toContain(url());
    expect(fault.hint).toContain('TRIPLESTORE_ENDPOINT');
  });
});

(noFuseki === undefined ? describe : describe.skip)(`IRIs that Fuseki would change${named(noFuseki)}`, () => {
  const dotted = '<urn:s> <urn:p> <http://example.org/a/../b> <urn:dots> .';

  test('are inserted as they are', async () => {
    const to = await target(address('fuseki', fuseki.tdb));
    await to.insert(statements(dotted), never);
    const replacement = await to.replaceGraph('<urn:dots>', 'dots', never);
    await replacement.insert(statements(dotted), never);
    await replacement.commit(never);
    expect(await contents(fuseki.tdb)).toContain('<http://example.org/a/../b>');
  });

  test.each([
    dotted,
    dotted.replace(/<http.*b>/, '"x"^^<http://example.org/./b>'),
    '<http://example.org/..> <urn:p> "1" .',
    '<urn:s> <urn:p> "1" <http://example.org/./g> .',
  ])('are refused where it would change them: %s', async (line) => {
    const fault = await faultOf((await target(address('fuseki', fuseki.tdb))).replace(statements(line), 'subject', never));
    expect(fault.code).toBe('target/refused');
    expect(fault.message).toMatch(/segments/);
  });
});

(noFuseki === undefined ? describe : describe.skip)(`a store in trouble${named(noFuseki)}`, () => {
  let proxy: Proxy;
  const url = (): string => `${proxy.origin}${new URL(fuseki.memory).pathname}`;

  beforeEach(async () => {
    proxy = await startProxy(fuseki.origin);
    await post(fuseki.memory, 'application/sparql-update', 'DROP ALL');
  });

  afterEach(() => proxy.stop());

  test.each([
    ['503 with seconds', 503, '7', 7_000, 7_000],
    ['429 with seconds', 429, '0', 0, 0],
    ['503 with a date', 503, new Date(Date.now() + 3_600_000).toUTCString(), 3_400_000, 3_600_000],
    ['503 with a date that has passed', 503, new Date(0).toUTCString(), 0, 0],
    ['503 without a word', 503, undefined, undefined, undefined],
    ['503 with nonsense', 503, 'soon', undefined, undefined],
    ['502', 502, undefined, undefined, undefined],
    ['504', 504, undefined, undefined, undefined],
    ['507', 507, undefined, undefined, undefined],
    ['500', 500, undefined, undefined, undefined],
  ])('%s is a matter of time', async (_, status, after, least, most) => {
    proxy.troubles.push({ status, headers: after === undefined ? {} : { 'retry-after': after }, body: 'Too busy just now\nat java.lang' });
    const to = await target(address('fuseki', url()));
    const fault = await faultOf(to.insert(ONE, never));
    expect(fault).toBeInstanceOf(TargetBusy);
    expect(fault.message).toBe(`Apache Jena Fuseki at ${url()} answered ${status}: Too busy just now`);
    const { retryAfterMs } = fault as TargetBusy;
    if (least === undefined) expect(retryAfterMs).toBeUndefined();
    else {
      expect(retryAfterMs).toBeGreaterThanOrEqual(least);
      expect(retryAfterMs).toBeLessThanOrEqual(most as number);
    }
    await to.insert(ONE, never);
    expect(await contents(fuseki.memory)).toContain('urn:s');
  });

  test('413 refuses these statements together', async () => {
    proxy.troubles.push({ status: 413, headers: { 'content-type': 'text/html' }, body: '<html><title>413 Too large</title></html>' });
    const fault = await faultOf((await target(address('fuseki', url()))).insert(ONE, never));
    expect([fault.code, fault.message]).toEqual(['target/refused', `Apache Jena Fuseki at ${url()} takes no request of this size`]);
  });

  test('an answer that comes before the body was read counts', async () => {
    const many = likeOne(200_000, 'a-long-name:');
    const to = await target(address('fuseki', url()));
    proxy.troubles.push({ status: 413, early: true });
    expect((await faultOf(to.insert(many, never))).message).toMatch(/no request of this size/);
    await to.insert(ONE, never);
    expect(await contents(fuseki.memory)).toContain('urn:s');
  });

  test('a redirection is not followed', async () => {
    proxy.troubles.push({ status: 307, headers: { location: 'http://127.0.0.1:9/' } });
    const fault = await faultOf((await target(address('fuseki', url()))).insert(ONE, never));
    expect(fault.code).toBe('config/invalid');
  });

  test('a reason is cut, and a long answer is not kept', async () => {
    proxy.troubles.push({ status: 400, body: `${'x'.repeat(5_000_000)}` });
    const fault = await faultOf((await target(address('fuseki', url()))).insert(ONE, never));
    expect(fault.code).toBe('target/refused');
    expect(fault.message.length).toBeLessThan(1_000);
  });

  test('no answer in time', async () => {
    proxy.troubles.push('silent');
    const begun = performance.now();
    const fault = await faultOf((await target(address('fuseki', url(), { requestSeconds: 1 }))).insert(ONE, never));
    expect(fault).toBeInstanceOf(TargetBusy);
    expect(fault.message).toMatch(/did not answer within 1 s/);
    expect(performance.now() - begun).toBeLessThan(5_000);
  });

  test('the caller may end a request, and hears his own reason', async () => {
    proxy.troubles.push('silent');
    const to = await target(address('fuseki', url()));
    const ending = new AbortController();
    const reason = new Error('enough');
    setTimeout(() => ending.abort(reason), 100);
    expect(await faultOf(to.insert(ONE, ending.signal))).toBe(reason);
    expect(await faultOf(to.insert(ONE, ending.signal))).toBe(reason);
  });

  test('a connection that breaks, and one that was closed while it was idle', async () => {
    const to = await target(address('fuseki', url()));
    proxy.troubles.push('reset');
    expect((await faultOf(to.insert(ONE, never))).code).toBe('target/unreachable');
    await to.insert(ONE, never);
    // The client keeps a connection for others only after the event loop has come around.
    await new Promise(setImmediate);
    proxy.troubles.push('reset');
    await to.insert(ONE, never);
    expect(proxy.seen).toHaveLength(4);
  });

  test('an exchange whose answer is lost is harmless to repeat', async () => {
    await post(fuseki.memory, 'application/n-quads', '<urn:old> <urn:p> "1" <urn:g> .');
    const to = await target(address('fuseki', url(), { requestSeconds: 5 }));
    const replacement = await to.replaceGraph('<urn:g>', 'lost', never);
    await replacement.insert(ONE, never);
    proxy.troubles.push('unanswered', 'unanswered');
    expect((await faultOf(replacement.commit(never))).code).toBe('target/unreachable');
    await replacement.commit(never);
    expect(sorted(await contents(fuseki.memory))).toEqual(sorted('<urn:s> <urn:p> "1" <urn:g> .'));
  });

  test('a replacement is given up also when the store is gone', async () => {
    const to = await target(address('fuseki', url()));
    const replacement = await to.replaceGraph('<urn:g>', 'gone', never);
    await replacement.insert(ONE, never);
    proxy.troubles.push('reset', 'reset');
    await replacement.abort();
    expect(await contents(fuseki.memory)).toContain('urn:quadmill:staging:gone');
    const again = await to.replaceGraph('<urn:g>', 'gone', never);
    await again.abort();
    expect(await contents(fuseki.memory)).toBe('');
  });

  test('nothing listens there, or no such host', async () => {
    const refused = await faultOf((await target(address('sparql', `http://127.0.0.1:${await freePort()}/update`))).insert(ONE, never));
    expect([refused.code, refused.retriable]).toEqual(['target/unreachable', true]);
    expect(refused.message).toMatch(/connection refused$/);
    const nowhere = await faultOf((await target(address('sparql', 'http://nowhere.invalid/update'))).insert(ONE, never));
    expect(nowhere.code).toBe('target/unreachable');
    expect(nowhere.message).toMatch(/no such host$/);
  });
});

const noTls = noFuseki ?? (spawnSync('openssl', ['version']).status === 0 ? undefined : 'there is no openssl');

(noTls === undefined ? describe : describe.skip)(`TLS${named(noTls)}`, () => {
  let directory: string;
  let proxy: Proxy;
  const file = (name: string): string => join(directory, name);

  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), 'quadmill-sparql-tls-'));
    const names = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost'];
    for (const name of ['ours', 'another'])
      execFileSync(
        'openssl',
        ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-keyout', `${name}.key`, '-out', `${name}.pem`, ...names],
        { cwd: directory, stdio: 'pipe' },
      );
    proxy = await startProxy(fuseki.origin, { key: readFileSync(file('ours.key'), 'utf8'), cert: readFileSync(file('ours.pem'), 'utf8') });
  });

  afterAll(async () => {
    await proxy?.stop();
    rmSync(directory, { recursive: true, force: true });
  });

  test.each([
    ['a file of its authority', () => file('ours.pem')],
    ['the text of it', () => readFileSync(file('ours.pem'), 'utf8')],
  ])('with %s', async (_, ca) => {
    const to = await target(address('fuseki', `${proxy.origin}${new URL(fuseki.memory).pathname}`, { ca: ca() }));
    await to.probe(never);
    await to.insert(ONE, never);
    expect(await contents(fuseki.memory)).toContain('urn:s');
  });

  test.each([
    ['another authority', () => file('another.pem')],
    ['the usual authorities', () => undefined],
  ])('with %s it is refused', async (_, ca) => {
    const fault = await faultOf(
      (await target(address('fuseki', `${proxy.origin}${new URL(fuseki.memory).pathname}`, { ca: ca() }))).insert(ONE, never),
    );
    expect(fault.code).toBe('target/unreachable');
    expect(fault.message).toMatch(/TLS failed/);
    expect(fault.hint).toContain('TRIPLESTORE_CA');
  });

  test('with a file that is not there', async () => {
    const fault = await faultOf(
      sparqlTarget(address('fuseki', `${proxy.origin}${new URL(fuseki.memory).pathname}`, { ca: file('none.pem') })),
    );
    expect(fault.code).toBe('config/invalid');
    expect(fault.message).toContain('none.pem');
  });
});
