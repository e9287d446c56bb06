/** Logical targets of a real service: their files stand beside the output under one manifest, whatever places the mapping names. */
import { createHash } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { missingRedis } from '../../servers/queues/redis.ts';
import { startRedis, temporaryDirectory, uniquePrefix } from '../../support/queues/backends.ts';
import { type Answer, postJson, type ServiceProcess, startService } from '../../support/service/process.ts';

const mapping = (targets: string): string => `@prefix rml: <http://w3id.org/rml/> .
@prefix formats: <http://www.w3.org/ns/formats/> .
@prefix ex: <http://example.com/> .
ex:People a rml:TriplesMap ;
  rml:logicalSource [ a rml:LogicalSource ; rml:source [ a rml:RelativePathSource ; rml:path "people.csv" ] ; rml:referenceFormulation rml:CSV ] ;
  rml:subjectMap [ rml:template "http://example.com/{id}" ; rml:class ex:Person ] ;
  rml:predicateObjectMap [ rml:predicate ex:name ; rml:objectMap [ rml:reference "name" ; rml:logicalTarget ${targets} ] ; rml:graph ex:graph ] .
ex:up rml:target [ a rml:Target, rml:FilePath ; rml:path "../../../names.nq.gz" ] ; rml:compression rml:gzip .
ex:elsewhere rml:target [ a rml:Target, rml:FilePath ; rml:path "/etc/names.nq.gz" ] ; rml:serialization formats:TriG .
ex:flat rml:target [ a rml:Target, rml:FilePath ; rml:path "names.nt" ] ; rml:serialization formats:N-Triples .
`;
/** Each person twice, far from each other. */
const PEOPLE = `id,name\n${Array.from({ length: 1000 }, (_, i) => `${i % 500},name ${(i % 500) % 400}\n`).join('')}`;

describe(`a service whose mapping has logical targets${missingRedis === undefined ? '' : ` (not tested: ${missingRedis})`}`, () => {
  const maybe = missingRedis === undefined ? test : test.skip;
  let directory: { readonly path: string; remove(): Promise<void> };
  let redis: Awaited<ReturnType<typeof startRedis>> | undefined;
  let service: ServiceProcess | undefined;
  const at = (name: string): string => join(directory.path, name);
  const outputs = (): string[] => readdirSync(at('data/output')).sort();

  beforeAll(async () => {
    directory = await temporaryDirectory();
    if (missingRedis !== undefined) return;
    redis = await startRedis();
    await writeFile(at('people.csv'), PEOPLE);
    // Small slices: each has its own statements for the targets.
    const env = { QUEUE_URL: redis.url, QUEUE_PREFIX: uniquePrefix(), DATA_DIR: at('data'), SLICE_BYTES: '1000' };
    service = await startService({ cwd: directory.path, env: { ...env, SERVICE: 'semi-structured-transformer' } });
  });
  afterAll(async () => {
    await service?.stop();
    await redis?.stop();
    await directory.remove();
  });

  async function run(targets: string): Promise<Answer> {
    await writeFile(at('mapping.ttl'), mapping(targets));
    return postJson(`${service?.url}/process`, {
      inputFileURL: at('people.csv'),
      logicalSource: 'people.csv',
      mappingURL: at('mapping.ttl'),
    });
  }

  maybe('publishes the files of targets with the output', async () => {
    const { status, body } = await run('ex:up, ex:elsewhere');
    // Its name says that it is compressed, and it is not declared so.
    const warnings = [expect.stringContaining('the target "/etc/names.nq.gz" is not compressed')];
    expect([status, body.warnings, body.quads]).toEqual([200, warnings, 1500]);
    const name = `Semi-Structured-Transformer-${body.runId}`;
    const files = [`${name}.target.names.nq.gz`, `${name}.target.2.names.nq.gz`];
    expect(body.targetFileLocations.map((url: string) => basename(url))).toEqual(files);
    const manifest = JSON.parse(await readFile(at(`data/output/${name}.manifest.json`), 'utf8'));
    expect(manifest.targets).toEqual([
      expect.objectContaining({ target: 'http://example.com/up', path: '../../../names.nq.gz', format: 'nquads', quads: 500 }),
      expect.objectContaining({ target: 'http://example.com/elsewhere', path: '/etc/names.nq.gz', format: 'trig', quads: 500 }),
    ]);
    for (const { url, bytes, sha256 } of manifest.targets) {
      const content = await readFile(fileURLToPath(url));
      expect([content.length, createHash('sha256').update(content).digest('hex')]).toEqual([bytes, sha256]);
    }
    expect(manifest.parts.length).toBeGreaterThan(3);
    const parts = manifest.parts.map(({ url }: { readonly url: string }) => basename(url));
    expect(outputs()).toEqual([`${name}.manifest.json`, ...parts, ...files].sort());
    const [up, elsewhere] = await Promise.all(body.targetFileLocations.map((url: string) => readFile(fileURLToPath(url))));
    const lines = gunzipSync(up).toString().split('\n');
    expect([lines.length, new Set(lines).size]).toEqual([501, 501]);
    // The name of a file implies no compression of a target.
    expect(elsewhere.toString()).toContain('<http://example.com/graph> {');
  });

  maybe('leaves nothing of a run whose target cannot say its statements', async () => {
    const before = outputs();
    const { status, body } = await run('ex:up, ex:flat');
    expect([status, JSON.stringify(body)]).toEqual([400, expect.stringContaining('N-Triples')]);
    expect(outputs()).toEqual(before);
  });
});
