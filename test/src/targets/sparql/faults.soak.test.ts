/** SPARQL targets in trouble: what RDF4J and Virtuoso refuse, and a Fuseki that stands still or is killed. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { NO_LIMITS } from '../../../../src/core/limits.ts';
import { Secret } from '../../../../src/core/secret.ts';
import type { RejectedStatement } from '../../../../src/nquads/statement.ts';
import { TargetBusy } from '../../../../src/targets/target.ts';
import type { WriteRequest } from '../../../../src/write/request.ts';
import { executeWrite } from '../../../../src/write/write.ts';
import type { SharedRdf4j } from '../../../servers/shared/shared.ts';
import { type Fuseki, startFuseki } from '../../../servers/stores/fuseki.ts';
import { VIRTUOSO_USER, type Virtuoso } from '../../../servers/stores/virtuoso.ts';
import { secretLogin } from '../../../support/secrets.ts';
import { address, contents, noFuseki, noRdf4j, noVirtuoso, post, type Stores, sorted, startStores, statements } from './stores.ts';
import { faultOf, likeOne, named, never, ONE, targetsOfTest } from './trouble.ts';

const { target, faultOfAll } = targetsOfTest();
let stores: Stores;
let rdf4j: SharedRdf4j;

beforeAll(async () => {
  stores = await startStores(['rdf4j', 'virtuoso']);
  rdf4j = stores.rdf4j as SharedRdf4j;
}, 180_000);

afterAll(async () => {
  await stores?.stop();
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
      reach: undefined,
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
    ['a wrong password', () => address('virtuoso', origin(), { username: 'dba', password: new Secret('wrong-secret') })],
    ['no login', () => address('virtuoso', origin())],
    ['no login where the public may only read', () => address('virtuoso', `${origin()}/sparql`)],
  ])('%s', async (_, at) => {
    const to = await target(at());
    const fault = await faultOf(to.insert(ONE, never));
    expect(fault.code).toBe('target/credentials');
    expect(JSON.stringify(fault)).not.toContain('wrong-secret');
  });

  test('a statement that it refuses, with its own words', async () => {
    const to = await target(address('virtuoso', origin(), secretLogin(VIRTUOSO_USER)));
    const fault = await faultOf(to.insert(statements('<urn:s> <urn:p> "abc"^^<http://www.w3.org/2001/XMLSchema#integer> .'), never));
    expect([fault.code, fault.message]).toEqual(['target/refused', expect.stringMatching(/Invalid integer value converting 'abc'/)]);
  });

  test('many statements of one subject are replaced in one request', async () => {
    const to = await target(address('virtuoso', origin(), secretLogin(VIRTUOSO_USER)));
    const many = statements(Array.from({ length: 5_000 }, (_, i) => `<urn:many> <urn:p${i % 7}> "${i}" <urn:many> .\n`).join(''));
    await to.replace(many, 'subject', never);
    const query = encodeURIComponent('SELECT (COUNT(*) AS ?n) { GRAPH <urn:many> { ?s ?p ?o } }');
    const answer = await fetch(`${origin()}/sparql?query=${query}`, { headers: { accept: 'text/csv' } });
    expect(await answer.text()).toMatch(/^"n"\n5000\n$/);
  });

  test('its name and version', async () => {
    const to = await target(address('virtuoso', origin(), secretLogin(VIRTUOSO_USER)));
    expect((await to.probe(never)).product).toMatch(/^OpenLink Virtuoso \(Virtuoso\/07\./);
  });
});

(noFuseki === undefined ? describe : describe.skip)(`a dedicated Fuseki${named(noFuseki)}`, () => {
  let fuseki: Fuseki;

  beforeAll(async () => {
    fuseki = (await startFuseki()) as Fuseki;
  }, 180_000);

  afterAll(async () => {
    await fuseki?.stop();
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

  test('kill -9 in the middle of a request leaves all of it or nothing', async () => {
    const to = await target(address('fuseki', fuseki.tdb));
    await post(fuseki.tdb, 'application/sparql-update', 'DROP ALL');
    const many = likeOne(100_000, '');
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
