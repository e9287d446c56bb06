/** Random datasets by record; `records.soak.test.ts` has more of them. And those that they seldom meet. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { openFiles } from '../../../src/datasets/files.ts';
import { runDataset } from '../../../src/datasets/run.ts';
import { USUAL_S3_ACCESS } from '../../../src/storage/s3-access.ts';
import { seeds } from '../../support/random.ts';
import { requestOf } from '../run/random/engine.ts';
import { datasetsByRecord } from './records-suite.ts';

datasetsByRecord(seeds(1, 20), 5);

const MAPPING = `@prefix rml: <http://w3id.org/rml/> . @prefix ex: <http://e/> .
<http://e/m> rml:logicalSource [ rml:source [ a rml:RelativePathSource ; rml:path "one.csv" ] ; rml:referenceFormulation rml:CSV ] ;
  rml:subjectMap [ rml:template "http://e/{id}" ] ;
  rml:predicateObjectMap [ rml:predicate ex:p ; rml:objectMap [ rml:reference "k" ] ] .
`;

/** Versions of a dataset of `id,k,a`, each record a chunk. */
async function versionsOf(texts: readonly string[], by?: 'record') {
  const place = mkdtempSync(join(tmpdir(), 'quadmill-records-'));
  try {
    writeFileSync(join(place, 'mapping.ttl'), MAPPING);
    const files = openFiles(join(place, 'dataset'), place, USUAL_S3_ACCESS);
    const made = [];
    for (const [step, text] of texts.entries()) {
      writeFileSync(join(place, 'one.csv'), `id,k,a\n${text}`);
      const request = { ...requestOf({ mappings: ['mapping.ttl'], workingDirectory: place }, join(place, 'spill')), runId: `run-${step}` };
      const finding = { by, chunks: { least: 1, usual: 0, most: 1 } };
      made.push(await runDataset({ files, stateDirectory: join(place, 'dataset', 'state') }, request, {}, undefined, finding));
    }
    return made.map(({ changesBy, reason, added, removed }) => ({ changesBy, reason, added, removed }));
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
}

test('records that the reader takes together with a long one are of their chunks', async () => {
  const wide = `1,x,${'wide '.repeat(15_000)}\n`;
  const made = await versionsOf([`${wide}2,y,1\n3,z,1\n2,y,2\n`, `${wide}2,y,1\n3,z,1\n`], 'record');
  expect(made[1]).toEqual({ changesBy: 'record', reason: undefined, added: 0, removed: 0 });
});

test('a version says why it was not made by record', async () => {
  const rows = Array.from({ length: 40 }, (_, i) => `${i},x,1\n`);
  const few = [...rows.slice(0, -1), '40,x,1\n'].join('');
  const many = rows.map((row) => row.replace('x', 'y')).join('');
  const made = await versionsOf([rows.join(''), few, many, few]);
  expect(made).toEqual([
    { changesBy: 'output', reason: 'it is the first version', added: 40, removed: 0 },
    { changesBy: 'record', reason: undefined, added: 1, removed: 1 },
    { changesBy: 'output', reason: 'most records have changed, or are needed to know what stays', added: 40, removed: 40 },
    { changesBy: 'output', reason: 'most records have changed, or are needed to know what stays', added: 40, removed: 40 },
  ]);
});
