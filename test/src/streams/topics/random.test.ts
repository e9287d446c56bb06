/**
 * Random messages, mappings and moments of reading: after each, the graph of an Upsert topic is that of a plain run over a file of the newest values,
 * and the graph of an Append topic that of a run over a file of all of them.
 */
import { afterEach, describe, expect, test } from '@jest/globals';
import { Random, seeds } from '../../../support/random.ts';
import { Following, topic } from './harness.ts';
import { TopicLog } from './topic-log.ts';

const followings: Following[] = [];
afterEach(() => {
  for (const one of followings.splice(0)) one.remove();
});

const TEXTS = ['a', 'é', '"q"', 'x\ny', '', '𝄞', 'a\\b'];
const NUMBERS = ['0', '1', '9007199254740993', '-12345678901234567890', '1.50', '1e3', '-0.25'];

/** The text of a document: object members in any order, with and without optional ones. @param ids of which its own are */
function documentOf(random: Random, ids: number): string {
  const value = (): string =>
    random.chance(0.5) ? JSON.stringify(random.pick(TEXTS)) : random.chance(0.8) ? random.pick(NUMBERS) : random.pick(['null', 'true']);
  const item = (): string => `{"id":${random.between(1, ids)},"v":${value()}}`;
  const items = Array.from({ length: random.between(0, 3) }, item);
  const members = [
    `"id":${random.between(1, ids)}`,
    ...(random.chance(0.8) ? [`"v":${value()}`] : []),
    ...(random.chance(0.8) ? [`"items":[${items.join(',')}]`] : []),
  ];
  return `{${random.shuffle(members).join(',')}}`;
}

/** With a join of the records of one iterator with those of the other. */
const mappingOf = (source: string, iterator: string): string =>
  `<#D> rml:logicalSource [ ${source} ; rml:iterator "${iterator}" ] ; rml:subjectMap [ rml:template "http://e.org/d{$.id}" ] ;
  rml:predicateObjectMap [ rml:predicate ex:v ; rml:objectMap [ rml:reference "$.v" ] ] ;
  rml:predicateObjectMap [ rml:predicate ex:has ; rml:objectMap [ rml:parentTriplesMap <#I> ; rml:joinCondition [ rml:child "$.id" ; rml:parent "$.id" ] ] ] .
<#I> rml:logicalSource [ ${source} ; rml:iterator "${iterator}.items[*]" ] ; rml:subjectMap [ rml:template "http://e.org/i{$.id}" ] ;
  rml:predicateObjectMap [ rml:predicate ex:v ; rml:objectMap [ rml:reference "$.v" ] ] .`;

describe('random messages', () => {
  test.each(seeds(1, 6).flatMap((seed) => (['Upsert', 'Append'] as const).map((changes) => [changes, seed] as const)))(
    '%s, seed %d: by record and by output',
    async (changes, seed) => {
      const random = new Random(seed * 7919 + changes.length);
      const log = new TopicLog();
      const mapping = mappingOf(`rml:source ${topic('t', 'application/json')} ; qms:changes qms:${changes}`, '$');
      const [byRecord, byOutput] = [new Following(log, mapping), new Following(log, mapping)];
      followings.push(byRecord, byOutput);
      const newest = new Map<string, string>();
      const all: string[] = [];
      const keys = Array.from({ length: random.between(1, 60) }, (_, i) => `${random.pick(TEXTS)}${i}`);
      const ids = random.pick([6, 300]);
      for (let round = 0; round < 4; round++) {
        for (let n = random.between(0, round === 0 ? 80 : 8); n > 0; n--) {
          const key = random.pick(keys);
          const value = random.chance(0.15) ? null : documentOf(random, ids);
          // A key stays in its partition.
          log.send('t', { key, value, partition: keys.indexOf(key) % 3 });
          if (value === null) newest.delete(key);
          else {
            newest.set(key, value);
            all.push(value);
          }
        }
        const graph = await byRecord.catchUp();
        byOutput.write('all.json', `[${(changes === 'Upsert' ? [...newest.values()] : all).join(',')}]`);
        const expected = await byOutput
          .run(
            mappingOf(
              'rml:source [ a rml:FilePath ; rml:root rml:MappingDirectory ; rml:path "all.json" ] ; rml:referenceFormulation rml:JSONPath',
              '$[*]',
            ),
          )
          .catch((error: Error) => expectNoRecords(error));
        expect(graph).toEqual(expected);
        expect(await byOutput.catchUp({}, log.source(), 'output')).toEqual(expected);
      }
      expect([...byRecord.rejected, ...byOutput.rejected]).toEqual([]);
      ways.push(...byRecord.epochs.map(({ made }) => made.reason ?? made.changesBy ?? ''));
      expect(byOutput.epochs.every(({ made }) => made.changesBy === 'output')).toBe(true);
    },
  );

  test('take the way by record wherever few records change', () => {
    const few = 'most records have changed, or are needed to know what stays';
    expect(ways.filter((way) => !['record', few, 'it is the first version'].includes(way))).toEqual([]);
    expect(ways.filter((way) => way === 'record').length).toBeGreaterThan(5);
  });
});

/** Which way each version has taken, or why it was by output. */
const ways: string[] = [];

/** A run over a file is strict about references that no record has. */
function expectNoRecords(error: Error): readonly string[] {
  expect(error.message).toMatch(/has anything at/);
  return [];
}
