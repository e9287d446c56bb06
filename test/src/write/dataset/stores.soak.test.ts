/**
 * Random versions of one mapping in Fuseki and in Neo4j: after each, both have what the dataset exports. Its statements are shared by rows and rules, and
 * are in several languages, graphs and datatypes; some of its nodes are blank.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Driver } from 'neo4j-driver';
import { Dataset } from '../../../../src/datasets/dataset.ts';
import { openFiles } from '../../../../src/datasets/files.ts';
import { runDataset } from '../../../../src/datasets/run.ts';
import { USUAL_S3_ACCESS } from '../../../../src/storage/s3-access.ts';
import { boltTarget } from '../../../../src/targets/bolt/bolt.ts';
import { sparqlTarget } from '../../../../src/targets/sparql/sparql.ts';
import type { GraphTarget } from '../../../../src/targets/target.ts';
import { writeDatasetTo } from '../../../../src/write/dataset/write.ts';
import { writeTo } from '../../../../src/write/write.ts';
import { missingNeo4j, NEO4J_LOGIN, type Neo4jServer, startNeo4j } from '../../../servers/stores/neo4j.ts';
import { Random } from '../../../support/random.ts';
import { requestOf } from '../../run/random/engine.ts';
import { differences, emptyStore, openDriver, type StoredGraph, storedGraph } from '../../targets/bolt/oracle.ts';
import { addressOf } from '../../targets/bolt/trouble.ts';
import { FEW_PLACES, type Place, type Stores, startStores } from '../../targets/sparql/stores.ts';
import { listening, workspace } from '../writing.ts';
import { benchOf } from './suite.ts';

/** So many; `RANDOM_SEED` chooses them. */
const VERSIONS = Number(process.env.VERSIONS ?? 8);
const SEED = Number(process.env.RANDOM_SEED ?? 1);

const PEOPLE = `rml:logicalSource [ rml:source [ a rml:RelativePathSource ; rml:root rml:MappingDirectory ; rml:path "people.csv" ] ; rml:referenceFormulation rml:CSV ]`;
const MAPPING = `@prefix rml: <http://w3id.org/rml/> . @prefix ex: <http://e/ns#> . @prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
<#Person> ${PEOPLE} ;
  rml:subjectMap [ rml:template "http://e/person/{id}" ; rml:class ex:Person ; rml:graphMap [ rml:template "http://e/graph/{graph}" ] ] ;
  rml:predicateObjectMap [ rml:predicate ex:name ; rml:objectMap [ rml:reference "name" ; rml:languageMap [ rml:reference "language" ] ] ] ;
  rml:predicateObjectMap [ rml:predicate ex:city ; rml:objectMap [ rml:template "http://e/city/{city}" ] ] ;
  rml:predicateObjectMap [ rml:predicate ex:address ; rml:objectMap [ rml:template "{city}-{name}" ; rml:termType rml:BlankNode ] ] .
<#City> ${PEOPLE} ;
  rml:subjectMap [ rml:template "http://e/city/{city}" ; rml:class ex:City ] ;
  rml:predicateObjectMap [ rml:predicate ex:name ; rml:objectMap [ rml:reference "city" ; rml:languageMap [ rml:reference "language" ] ] ] ;
  rml:predicateObjectMap [ rml:predicate ex:name ; rml:objectMap [ rml:reference "city" ] ] ;
  rml:predicateObjectMap [ rml:predicate ex:number ; rml:objectMap [ rml:reference "number" ; rml:datatype xsd:integer ] ] ;
  rml:predicateObjectMap [ rml:predicate ex:number ; rml:objectMap [ rml:reference "number" ] ] .
<#Address> ${PEOPLE} ;
  rml:subjectMap [ rml:template "{city}-{name}" ; rml:termType rml:BlankNode ; rml:class ex:Address ] ;
  rml:predicateObjectMap [ rml:predicate ex:city ; rml:objectMap [ rml:template "http://e/city/{city}" ] ] ;
  rml:predicateObjectMap [ rml:predicate ex:label ; rml:objectMap [ rml:reference "name" ] ] .
<#Visit> ${PEOPLE} ;
  rml:subjectMap [ rml:termType rml:BlankNode ; rml:class ex:Visit ] ;
  rml:predicateObjectMap [ rml:predicate ex:by ; rml:objectMap [ rml:template "http://e/person/{id}" ] ] ;
  rml:predicateObjectMap [ rml:predicate ex:city ; rml:objectMap [ rml:parentTriplesMap <#City> ; rml:joinCondition [ rml:child "city" ; rml:parent "city" ] ] ] .
`;
const COLUMNS = ['id', 'name', 'language', 'city', 'number', 'graph'] as const;

const rowOf = (random: Random): string =>
  [
    random.between(1, 12),
    random.pick(['Ada', 'Bob', 'Zoë', '"q""q"']),
    random.pick(['en', 'de', 'en-GB']),
    random.pick(['Oslo', 'Bern', 'Köln']),
    random.pick(['1', '2', '10']),
    random.pick(['a', 'b']),
  ].join(',');

function edited(random: Random, rows: readonly string[]): readonly string[] {
  if (random.chance(0.04)) return [];
  let next = rows;
  for (let i = random.between(1, 3); i > 0; i--) {
    const at = random.between(0, Math.max(0, next.length - 1));
    next = random.pick([
      () => next.toSpliced(at, random.between(1, 3)),
      () => [...next, rowOf(random), rowOf(random)],
      () => (next.length === 0 ? next : [...next, next[at] as string]),
      () => next.toSpliced(at, 1, rowOf(random)),
    ])();
  }
  return random.shuffle(next);
}

const fuseki = FEW_PLACES[1] as Place;
const missing = fuseki.missing ?? (await missingNeo4j());

(missing === undefined ? describe : describe.skip)(
  `Fuseki and Neo4j have the export${missing === undefined ? '' : ` (not tested: ${missing})`}`,
  () => {
    const space = workspace();
    const { bench, open, close } = benchOf(fuseki);
    let stores: Stores;
    let server: Neo4jServer;
    let driver: Driver;
    let targets: readonly [rdf: GraphTarget, graph: GraphTarget];
    beforeAll(async () => {
      stores = await startStores(['fuseki']);
      await open();
      const started = await startNeo4j();
      if ('skip' in started) throw new Error(started.skip);
      server = started;
      driver = openDriver(server.url, NEO4J_LOGIN);
      targets = [await sparqlTarget(fuseki.address()), await boltTarget(addressOf({ endpoint: server.url }))];
    }, 600_000);
    afterAll(async () => {
      for (const target of targets ?? []) await target.close();
      await driver?.close();
      await server?.stop();
      await close();
      await stores?.stop();
      space.remove();
    });

    test(`after each of ${VERSIONS} versions`, async () => {
      const random = new Random(SEED);
      const place = space.directory;
      writeFileSync(join(place, 'mapping.ttl'), MAPPING);
      const files = openFiles(join(place, 'dataset'), place, USUAL_S3_ACCESS);
      const folding = { directory: join(place, 'folding'), memoryBudgetBytes: 2 ** 24 };
      await fuseki.reset('');
      const made: { readonly lines: string; readonly stored: StoredGraph }[] = [];
      let rows: readonly string[] = Array.from({ length: 20 }, () => rowOf(random));
      let removed = 0;
      for (let step = 0; made.length < VERSIONS; step++) {
        writeFileSync(join(place, 'people.csv'), `${COLUMNS.join(',')}\n${rows.map((row) => `${row}\n`).join('')}`);
        rows = edited(random, rows);
        const request = {
          ...requestOf({ mappings: ['mapping.ttl'], workingDirectory: place }, join(place, 'spill')),
          runId: `run-${step}`,
        };
        const report = await runDataset({ files, stateDirectory: join(place, 'state') }, request, {});
        if (report.version === report.previousVersion) continue;
        removed += report.removed;
        const dataset = await Dataset.open(files);
        for (const target of targets) {
          const write = () => writeDatasetTo(target, { ...space.request([]), dataset, graph: undefined, resync: undefined }, listening());
          expect(await write()).toMatchObject({ version: report.version, previousVersion: report.previousVersion, rejected: 0 });
          expect(await write()).toMatchObject({ version: report.version, statements: 0 });
        }
        let lines = '';
        for await (const piece of dataset.graph(report.version, undefined, folding)) lines += piece;
        expect(await bench.contents()).toEqual(await bench.expected(lines));
        made.push({ lines, stored: await storedGraph(driver) });
      }
      expect(removed).toBeGreaterThan(VERSIONS);
      // Neo4j has one database: the exports are loaded into it afterwards.
      for (const { lines, stored } of made) {
        await emptyStore(driver);
        await writeTo(targets[1], space.request([space.file('export.nq', Buffer.from(lines, 'latin1'))]), listening());
        expect(differences(stored, await storedGraph(driver))).toEqual({ extra: [], missing: [] });
      }
    });
  },
);
