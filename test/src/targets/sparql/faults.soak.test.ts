/** SPARQL targets in trouble, with real servers: who may write, what is refused, what is slow, what is not there. */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { Fault } from '../../../../src/core/fault.ts';
import { NO_LIMITS } from '../../../../src/core/limits.ts';
import type { RejectedStatement } from '../../../../src/nquads/statement.ts';
import { sparqlTarget } from '../../../../src/targets/sparql/sparql.ts';
import { type GraphTarget, type TargetAddress, TargetBusy } from '../../../../src/targets/target.ts';
import type { WriteRequest } from '../../../../src/write/request.ts';
import { executeWrite } from '../../../../src/write/write.ts';
import { FUSEKI_USERS, type Fuseki, startFuseki } from '../../../servers/fuseki.ts';
import { freePort } from '../../../servers/port.ts';
import { type Proxy, startProxy } from '../../../servers/proxy.ts';
import type { SharedRdf4j } from '../../../servers/shared.ts';
import { VIRTUOSO_USER, type Virtuoso } from '../../../servers/virtuoso.ts';
import { address, contents, noFuseki, noRdf4j, noVirtuoso, post, type Stores, sorted, startStores, statements } from './stores.ts';

const never = new AbortController().signal;
const ONE = statements('<urn:s> <urn:p> "1" <urn:g> .');
const named = (missing: string | undefined): string => (missing === undefined ? '' : ` (not tested: ${missing})`);

let stores: Stores;
/** Of this file alone, which stops and kills it. */
let fuseki: Fuseki;
let rdf4j: SharedRdf4j;
const open: GraphTarget[] = [];

beforeAll(async () => {
  stores = await startStores({ fuseki: false });
  if (noFuseki === undefined) fuseki = (await startFuseki()) as Fuseki;
  rdf4j = stores.rdf4j as SharedRdf4j;
}, 180_000);

afterEach(async () => {
  for (const target of open.splice(0)) await target.close();
});

afterAll(async () => {
  await stores?.stop();
  await fuseki?.stop();
});

async function target(at: TargetAddress): Promise<GraphTarget> {
  const opened = await sparqlTarget(at);
  open.push(opened);
  return opened;
}

const faultOf = (promise: Promise<unknown>): Promise<Fault> =>
  promise.then(
    () => Promise.reject(new Error('there was no fault')),
    (error: Fault) => error,
  );

/** Every way of writing ends in the same fault. */
async function faultOfAll(at: TargetAddress): Promise<Fault> {
  const to = await target(at);
  const faults = [
    await faultOf(to.probe(never)),
    await faultOf(to.insert(ONE, never)),
    await faultOf(to.replace(ONE, 'property', never)),
    await faultOf(to.replaceGraph('<urn:g>', 'key', never)),
  ];
  expect(new Set(faults.map(({ code }) => code)).size).toBe(1);
  return faults[0] as Fault;
}

(noFuseki === undefined ? describe : describe.skip)(`login and rights on Fuseki${named(noFuseki)}`, () => {
  const { writer, stranger } = FUSEKI_USERS;

  test('who may write writes', async () => {
    const to = await target(address('fuseki', fuseki.secret, writer));
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
    ['a wrong password', { username: writer.username, password: 'wrong-secret' }],
    ['a user who may not', stranger],
  ])('%s', async (_, login) => {
    const fault = await faultOfAll(address('fuseki', fuseki.secret, login));
    expect(fault.code).toBe('target/credentials');
    expect(fault.message).toBe(`Apache Jena Fuseki at ${fuseki.secret} refuses the login`);
    if (login.password !== undefined) expect(JSON.stringify(fault)).not.toContain(login.password);
  });

  test('a wrong password is heard of in the middle of a large body too', async () => {
    const to = await target(address('fuseki', fuseki.secret, { username: writer.username, password: 'wrong' }));
    const long = 'x'.repeat(200);
    const many = Array.from({ length: 100_000 }, (_, i) => ({ ...(ONE[0] as (typeof ONE)[0]), subject: `<urn:${long}${i}>` }));
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

(noRdf4j === undefined ? describe : describe.skip)(`refusals of RDF4J${named(noRdf4j)}`, () => {
  test('a statement that it refuses, with its own words, and nothing else of the request', async () => {
    const to = await target(address('rdf4j', rdf4j.memory));
    const mixed = statements('<urn:ok> <urn:p> "1" .\n<urn:s> <urn:p> <http://example.org/%zz> .\n');
    for (const write of [() => to.insert(mixed, never), () => to.replace(mixed, 'subject', never)]) {
      const fault = await faultOf(write());
      expect(fault.code).toBe('target/refused');
      expect(fault.message).toMatch(/percent.*%zz/i);
      expect(await contents(`${rdf4j.memory}/statements`)).toBe('');
    }
  });

  test('a statement that breaks a rule of the repository', async () => {
    const to = await target(address('rdf4j', rdf4j.validated));
    const integer = '^^<http://www.w3.org/2001/XMLSchema#integer>';
    const good = `<urn:s> <urn:age> "41"${integer} .\n`;
    for (const bad of ['<urn:t> <urn:age> "old" .', `<urn:t> <urn:age> "old"${integer} .`]) {
      const mixed = statements(`${good}${bad}\n`);
      for (const write of [() => to.insert(mixed, never), () => to.replace(mixed, 'subject', never)]) {
        const fault = await faultOf(write());
        expect(fault.code).toBe('target/refused');
        expect(fault.message).toMatch(/SHACL.*focusNode <urn:t>.*resultPath <urn:age>.*value "old".*DatatypeConstraint/);
        expect(await contents(`${rdf4j.validated}/statements`)).not.toContain('urn:age> "');
      }
    }
    await to.insert(statements(good), never);
    expect(await contents(`${rdf4j.validated}/statements`)).toContain('"41"');
  });

  test.each([
    ['insert', 'property'],
    ['update', 'property'],
    ['update', 'subject'],
    ['update', 'graph'],
  ] as const)('%s, scope %s: the writer finds what the store refuses and writes the rest', async (mode, scope) => {
    await post(`${rdf4j.validated}/statements`, 'application/sparql-update', 'CLEAR DEFAULT ; CLEAR GRAPH <urn:g>');
    const directory = mkdtempSync(join(tmpdir(), 'quadmill-sparql-write-'));
    const integer = '^^<http://www.w3.org/2001/XMLSchema#integer>';
    const all = Array.from({ length: 900 }, (_, i) => {
      const subject = `<urn:s${Math.floor(i / 3)}>`;
      return i % 400 === 7 ? `${subject} <urn:age> "old" <urn:g> .` : `${subject} <urn:p${i % 3}> "${i}"${integer} <urn:g> .`;
    });
    writeFileSync(join(directory, 'in.nq'), all.map((line) => `${line}\n`).join(''));
    const rejected: RejectedStatement[] = [];
    const request: WriteRequest = {
      runId: `${mode}-${scope}`,
      inputs: [join(directory, 'in.nq')],
      workingDirectory: directory,
      target: address('rdf4j', rdf4j.validated),
      mode,
      scope,
      blankNodes: 'skolem',
      skolemBase: 'urn:skolem:',
      maxRejected: 10,
      patienceSeconds: 10,
      memoryBudgetBytes: 64 * 2 ** 20,
      limits: NO_LIMITS,
      spillDirectory: join(directory, 'spill'),
      resume: undefined,
    };
    const report = await executeWrite(request, { signal: never, reject: (each) => void rejected.push(each) });
    rmSync(directory, { recursive: true, force: true });
    expect([report.quadsWritten, report.rejected]).toEqual([897, 3]);
    expect(rejected.map(({ line }) => line).sort((a, b) => a - b)).toEqual([8, 408, 808]);
    expect(rejected.every(({ fault }) => fault.code === 'target/refused' && /SHACL/.test(fault.message))).toBe(true);
    const good = all.filter((line) => !line.includes('urn:age')).join('\n');
    const there = (await contents(`${rdf4j.validated}/statements`)).split('\n').filter((line) => line.endsWith('<urn:g> .'));
    expect(sorted(there.join('\n'))).toEqual(sorted(good));
    expect(await contents(`${rdf4j.validated}/statements`)).not.toContain('urn:quadmill:staging');
  });

  test('a repository that is not there', async () => {
    const fault = await faultOfAll(address('rdf4j', `${rdf4j.server}/repositories/none`));
    expect(fault.code).toBe('config/invalid');
    expect(fault.message).toMatch(/none.*Unknown repository/);
  });

  test('the version is that of its protocol', async () => {
    expect((await (await target(address('rdf4j', rdf4j.memory))).probe(never)).product).toBe('Eclipse RDF4J (protocol 12)');
  });
});

(noVirtuoso === undefined ? describe : describe.skip)(`Virtuoso${named(noVirtuoso)}`, () => {
  const origin = (): string => (stores.virtuoso as Virtuoso).origin;

  test.each([
    ['a wrong password', () => address('virtuoso', origin(), { username: 'dba', password: 'wrong-secret' })],
    ['no login', () => address('virtuoso', origin())],
    ['no login where the public may only read', () => address('virtuoso', `${origin()}/sparql`)],
  ])('%s', async (_, at) => {
    const to = await target(at());
    const fault = await faultOf(to.insert(ONE, never));
    expect(fault.code).toBe('target/credentials');
    expect(JSON.stringify(fault)).not.toContain('wrong-secret');
  });

  test('a statement that it refuses, with its own words', async () => {
    const to = await target(address('virtuoso', origin(), VIRTUOSO_USER));
    const fault = await faultOf(to.insert(statements('<urn:s> <urn:p> "abc"^^<http://www.w3.org/2001/XMLSchema#integer> .'), never));
    expect([fault.code, fault.message]).toEqual(['target/refused', expect.stringMatching(/Invalid integer value converting 'abc'/)]);
  });

  test('many statements of one subject are replaced in one request', async () => {
    const to = await target(address('virtuoso', origin(), VIRTUOSO_USER));
    const many = statements(Array.from({ length: 5_000 }, (_, i) => `<urn:many> <urn:p${i % 7}> "${i}" <urn:many> .\n`).join(''));
    await to.replace(many, 'subject', never);
    const query = encodeURIComponent('SELECT (COUNT(*) AS ?n) { GRAPH <urn:many> { ?s ?p ?o } }');
    const answer = await fetch(`${origin()}/sparql?query=${query}`, { headers: { accept: 'text/csv' } });
    expect(await answer.text()).toMatch(/^"n"\n5000\n$/);
  });

  test('its name and version', async () => {
    const to = await target(address('virtuoso', origin(), VIRTUOSO_USER));
    expect((await to.probe(never)).product).toMatch(/^OpenLink Virtuoso \(Virtuoso\/07\./);
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
  const url = (): string => `${proxy.origin}/memory`;

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
    const many = Array.from({ length: 200_000 }, (_, i) => ({ ...(ONE[0] as (typeof ONE)[0]), subject: `<urn:a-long-name:${i}>` }));
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

  test('a server that stands still', async () => {
    const to = await target(address('fuseki', fuseki.memory, { requestSeconds: 1 }));
    await to.insert(ONE, never);
    fuseki.pause();
    try {
      expect(await faultOf(to.insert(ONE, never))).toBeInstanceOf(TargetBusy);
    } finally {
      fuseki.resume();
    }
    await to.insert(ONE, never);
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

  test('a connection that breaks, and one that was closed while nobody used it', async () => {
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
    const nobody = await faultOf((await target(address('sparql', `http://127.0.0.1:${await freePort()}/update`))).insert(ONE, never));
    expect([nobody.code, nobody.retriable]).toEqual(['target/unreachable', true]);
    expect(nobody.message).toMatch(/connection refused$/);
    const nowhere = await faultOf((await target(address('sparql', 'http://nowhere.invalid/update'))).insert(ONE, never));
    expect(nowhere.code).toBe('target/unreachable');
    expect(nowhere.message).toMatch(/no such host$/);
  });

  test('kill -9 in the middle of a request leaves all of it or nothing', async () => {
    const to = await target(address('fuseki', fuseki.tdb));
    await post(fuseki.tdb, 'application/sparql-update', 'DROP ALL');
    const many = Array.from({ length: 100_000 }, (_, i) => ({ ...(ONE[0] as (typeof ONE)[0]), subject: `<urn:${i}>` }));
    await to.insert(many.slice(0, 1_000), never);
    const writing = faultOf(to.insert(many, never));
    setTimeout(() => void fuseki.crash(), 700);
    expect((await writing).code).toBe('target/unreachable');
    await fuseki.crash();
    await fuseki.restart();
    expect([1_000, 100_000]).toContain(sorted(await contents(fuseki.tdb)).length);
    await to.insert(many, never);
    expect(sorted(await contents(fuseki.tdb)).length).toBe(100_000);
  }, 180_000);
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
    const to = await target(address('fuseki', `${proxy.origin}/memory`, { ca: ca() }));
    await to.probe(never);
    await to.insert(ONE, never);
    expect(await contents(fuseki.memory)).toContain('urn:s');
  });

  test.each([
    ['another authority', () => file('another.pem')],
    ['the usual authorities', () => undefined],
  ])('with %s it is refused', async (_, ca) => {
    const fault = await faultOf((await target(address('fuseki', `${proxy.origin}/memory`, { ca: ca() }))).insert(ONE, never));
    expect(fault.code).toBe('target/unreachable');
    expect(fault.message).toMatch(/TLS failed/);
    expect(fault.hint).toContain('TRIPLESTORE_CA');
  });

  test('with a file that is not there', async () => {
    const fault = await faultOf(sparqlTarget(address('fuseki', `${proxy.origin}/memory`, { ca: file('none.pem') })));
    expect(fault.code).toBe('config/invalid');
    expect(fault.message).toContain('none.pem');
  });
});
