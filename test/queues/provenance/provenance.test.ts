/** What the provenance of a run says, with every combination of activities; what is invalid is found by the constraints of PROV. */
import { describe, expect, test } from '@jest/globals';
import type { Outcome, TransformPayload, TransformResult } from '../../../queues/jobs.ts';
import { ACTIVITIES, type ProvenanceSubject, provenanceOf } from '../../../queues/runs/provenance.ts';
import { readProvenance } from './prov.ts';

const START = Date.parse('2026-11-22T10:00:00.000Z');
const part = (name: string) => ({ url: `file:///out/${name}`, bytes: 12, sha256: 'ab'.repeat(32) });
const run = {
  service: 'semi-structured-transformer',
  runId: 'r1',
  submittedAt: '2026-11-22T09:59:59.000Z',
  inputs: [
    { name: 'people.csv', url: 'data/people "1".csv' },
    { name: 'book', url: '/data/book.xlsx#Sheet 2' },
    { name: undefined, url: 'https://user:canary@host/a?b=ü' },
  ],
  mappings: ['/m/people.ttl'],
  source: { topic: 'source_urls', partition: 3, offset: '42' },
} as unknown as TransformPayload;
const result = {
  report: { records: 3, quads: 6, rejected: 1, mappings: [{ url: 'file:///m/people.ttl', sha256: 'cd'.repeat(32) }] },
  parts: [part('a.nq'), part('b.nq')],
  propertyGraph: { nodes: part('n.csv'), edges: part('e.csv') },
  slices: 2,
  startedAt: START,
  milliseconds: 5_000,
  executions: [
    { startedAt: START + 10, milliseconds: 1_000, records: 1, quads: 2, rejected: 0 },
    { startedAt: START + 20, milliseconds: 4_900, records: 2, quads: 4, rejected: 1 },
  ],
} as unknown as TransformResult;
const completed = { state: 'completed', report: {} } as unknown as Outcome;
const failed = { state: 'failed', failure: { code: 'source/missing', error: 'Record "x"\ncould not be …' } } as unknown as Outcome;

const subject = (more: Partial<ProvenanceSubject> = {}): ProvenanceSubject => ({
  run,
  activities: new Set(ACTIVITIES),
  outcome: completed,
  result,
  inputs: [{ bytes: 7, sha256: 'ef'.repeat(32) }, undefined, undefined],
  now: START + 6_000,
  workingDirectory: '/work dir',
  ...more,
});

/** Every set of activities. */
const subsets = Array.from({ length: 2 ** ACTIVITIES.length }, (_, bits) => ACTIVITIES.filter((_, i) => (bits >> i) % 2 === 1));

describe('is valid PROV', () => {
  test.each(subsets.flatMap((set) => [[set, 'completed'] as const, [set, 'failed'] as const]))('with %j, %s', (set, state) => {
    const of = state === 'completed' ? {} : { outcome: failed, result: undefined, inputs: [] };
    for (const source of [run.source, undefined]) {
      for (const executions of [result.executions, undefined]) {
        const text = provenanceOf(
          subject({
            ...of,
            run: { ...run, source } as TransformPayload,
            activities: new Set(set),
            ...(state === 'completed' ? { result: { ...result, executions } } : {}),
          }),
        );
        const found = readProvenance(text);
        expect(found.problems()).toEqual([]);
        expect(found.graphs).toEqual(['urn:quadmill:run:r1:provenance']);
        expect(text).not.toContain('canary');
        // The bundle is an activity without an agent; each activity that is switched off is not there.
        const kinds = found.all('Activity').map((iri) => (iri === 'urn:quadmill:run:r1' ? 'main' : (iri.split(':')[4] as string)));
        expect(set).toEqual(expect.arrayContaining(kinds));
      }
    }
  });
});

test('a completed run used its inputs and mappings, and generated its files', () => {
  const found = readProvenance(provenanceOf(subject()));
  const main = 'urn:quadmill:run:r1';
  const inputs = [1, 2, 3].map((i) => `${main}:input:${i}`);
  expect(found.of(main, 'used')).toEqual([...inputs, `${main}:mapping:1`]);
  expect(inputs.flatMap((input) => found.of(input, 'specializationOf'))).toEqual([
    'file:///work%20dir/data/people%20%221%22.csv',
    'file:///data/book.xlsx',
    'https://user:******@host/a?b=%C3%BC',
  ]);
  expect(found.of(inputs[0] as string, 'https://schema.org/sha256')).toEqual(['ef'.repeat(32)]);
  expect(found.of(inputs[1] as string, 'https://schema.org/sha256')).toEqual([]);
  expect(found.of(`${main}:mapping:1`, 'https://schema.org/sha256')).toEqual(['cd'.repeat(32)]);
  for (const name of ['a.nq', 'b.nq', 'n.csv', 'e.csv']) {
    expect(found.of(`file:///out/${name}`, 'wasGeneratedBy')).toEqual([main]);
    expect(found.of(`file:///out/${name}`, 'wasDerivedFrom')).toEqual(inputs);
  }
  expect(found.of(main, 'startedAtTime')).toEqual(['2026-11-22T10:00:00.000Z']);
  expect(found.of(main, 'endedAtTime')).toEqual(['2026-11-22T10:00:05.000Z']);
  expect(found.of(main, 'wasInformedBy')).toEqual([`${main}:message:consumed`]);
  expect(found.of(`${main}:execution:2`, 'http://purl.org/dc/terms/isPartOf')).toEqual([main]);
  expect(found.all('Activity')).toHaveLength(5);
});

test('without the main activity the executions have made the files: one has generated them, several have a share in them', () => {
  const alone = { activities: new Set(['execution'] as const) };
  const several = readProvenance(provenanceOf(subject(alone)));
  const [one, two] = ['urn:quadmill:run:r1:execution:1', 'urn:quadmill:run:r1:execution:2'];
  expect(several.of('file:///out/a.nq', 'wasInfluencedBy')).toEqual([one, two]);
  expect(several.of('file:///out/a.nq', 'wasGeneratedBy')).toEqual([]);
  const single = readProvenance(provenanceOf(subject({ ...alone, result: { ...result, executions: undefined } })));
  expect(single.of('file:///out/a.nq', 'wasGeneratedBy')).toEqual([one]);
});

test('a failed run says why', () => {
  const found = readProvenance(provenanceOf(subject({ outcome: failed, result: undefined, inputs: [] })));
  expect(found.of('urn:quadmill:run:r1', 'http://w3id.org/quadmill/provenance#fault')).toEqual(['source/missing']);
  expect(found.of('urn:quadmill:run:r1', 'http://www.w3.org/2000/01/rdf-schema#comment')).toEqual(['Record "x"\ncould not be …']);
  expect(found.of('urn:quadmill:run:r1', 'startedAtTime')).toEqual(['2026-11-22T09:59:59.000Z']);
});

test('an address that is none is named as it was given', () => {
  const odd = { ...run, inputs: [{ name: undefined, url: 'ftp://user:canary@host/ä <b>' }] } as unknown as TransformPayload;
  const text = provenanceOf(subject({ run: odd, inputs: [] }));
  expect(readProvenance(text).problems()).toEqual([]);
  expect(text).toContain('<urn:quadmill:input:ftp%3A');
  expect(text).not.toContain('canary');
});
