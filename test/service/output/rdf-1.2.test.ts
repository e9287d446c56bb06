/** RDF 1.2 of a real service: the option changes while it runs, and slices write each reifier once. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { missingRedis } from '../../servers/queues/redis.ts';
import { startRedis, temporaryDirectory, uniquePrefix } from '../../support/queues/backends.ts';
import { inRdf12 } from '../../support/quoted-triples.ts';
import { type Answer, ask, postJson, type ServiceProcess, startService } from '../../support/service/process.ts';

/** Every second row says the same as the row before, of which it says something else. */
const MAPPING = `@prefix rml: <http://w3id.org/rml/> .
@prefix ex: <http://example.com/> .
ex:Said a rml:NonAssertedTriplesMap ; rml:logicalSource ex:source ; rml:subjectMap [ rml:template "http://example.com/{who}" ] ;
  rml:predicateObjectMap [ rml:predicate ex:says ; rml:objectMap [ rml:reference "what" ] ] .
ex:When a rml:TriplesMap ; rml:logicalSource ex:source ; rml:subjectMap [ rml:quotedTriplesMap ex:Said ] ;
  rml:predicateObjectMap [ rml:predicate ex:in ; rml:objectMap [ rml:reference "id" ] ; rml:graph ex:graph ] ;
  rml:predicateObjectMap [ rml:predicate ex:like ; rml:objectMap [ rml:quotedTriplesMap ex:Said ] ] .
ex:source a rml:LogicalSource ; rml:source [ a rml:RelativePathSource ; rml:path "said.csv" ] ; rml:referenceFormulation rml:CSV .
`;
const SAID = `id,who,what\n${Array.from({ length: 600 }, (_, i) => `${i},p${(i >> 1) % 100},text ${i >> 1}\n`).join('')}`;

describe(`a service whose mapping quotes triples${missingRedis === undefined ? '' : ` (not tested: ${missingRedis})`}`, () => {
  const maybe = missingRedis === undefined ? test : test.skip;
  let directory: { readonly path: string; remove(): Promise<void> };
  let redis: Awaited<ReturnType<typeof startRedis>> | undefined;
  let service: ServiceProcess | undefined;
  const at = (name: string): string => join(directory.path, name);

  beforeAll(async () => {
    directory = await temporaryDirectory();
    if (missingRedis !== undefined) return;
    redis = await startRedis();
    await writeFile(at('said.csv'), SAID);
    await writeFile(at('mapping.ttl'), MAPPING);
    const env = { QUEUE_URL: redis.url, QUEUE_PREFIX: uniquePrefix(), DATA_DIR: at('data'), SLICE_BYTES: '1500' };
    service = await startService({ cwd: directory.path, env: { ...env, SERVICE: 'semi-structured-transformer' } });
  });
  afterAll(async () => {
    await service?.stop();
    await redis?.stop();
    await directory.remove();
  });

  async function run(): Promise<{ readonly body: Answer['body']; readonly lines: readonly string[] }> {
    const { status, body } = await postJson(`${service?.url}/process`, {
      inputFileURL: at('said.csv'),
      logicalSource: 'said.csv',
      mappingURL: at('mapping.ttl'),
    });
    expect([status, body.warnings]).toEqual([200, []]);
    const texts = await Promise.all(body.outputFileLocations.map((url: string) => readFile(fileURLToPath(url), 'utf8')));
    return { body, lines: texts.flatMap((text: string) => text.split('\n').slice(0, -1)) };
  }

  const setVersion = (version: string): Promise<Answer> =>
    ask(`${service?.url}/updateConfig?configEntry=RDF_VERSION&configValue=${version}`, { method: 'PUT' });

  maybe('writes triple terms and reifiers when RDF_VERSION says so', async () => {
    const star = await run();
    expect(star.lines.filter((line) => line.startsWith('<< '))).toHaveLength(star.lines.length);
    expect((await setVersion('1.2')).status).toBe(200);
    const { body, lines } = await run();
    expect(lines.toSorted()).toEqual([...inRdf12(star.lines)].sort());
    expect(body.quads).toBe(lines.length);
    expect(body.outputFileLocations.length).toBeGreaterThan(1);
    expect((await setVersion('star')).status).toBe(200);
    expect((await run()).lines.toSorted()).toEqual(star.lines.toSorted());
  });

  maybe('refuses a version that there is not, and names those that there are', async () => {
    const { status, body } = await setVersion('1.1');
    expect([status, JSON.stringify(body)]).toEqual([400, expect.stringMatching(/RDF_VERSION.*star.*1\.2/)]);
  });
});
