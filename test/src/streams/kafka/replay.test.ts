/** Which topics a replay reads from their beginning, and what it tells. */
import { describe, expect, test } from '@jest/globals';
import { PayloadReader } from '../../../../src/streams/debezium/payload.ts';
import type { FeedPosition } from '../../../../src/streams/events.ts';
import { TopicMerge } from '../../../../src/streams/kafka/merge.ts';
import { Replay } from '../../../../src/streams/kafka/replay.ts';

const TOPICS = ['a', 'b', 'c', 'd'];
/** One table of a and b, one of b and c, and nothing that is replaced in d. */
const tablesOf = (topic: string): readonly string[] => ({ a: ['ab'], b: ['ab', 'bc'], c: ['bc'] })[topic] ?? [];
const never = new AbortController().signal;

describe('a replay', () => {
  const position = Replay.of('a', { 'a-0': '7', 'b-0': '8', 'd-0': '9', ':read-at': '1' }, TOPICS, tablesOf);

  test('reads all topics of the tables that share one with the topic, and leaves the others', () => {
    const replay = Replay.in(position, TOPICS, tablesOf) as Replay;
    expect(replay.tables).toEqual(['ab', 'bc']);
    expect(['a', 'b', 'c', 'd'].map((topic) => replay.has(topic))).toEqual([true, true, true, false]);
    expect(replay.begun(position)).toEqual({ 'd-0': '9', ':read-at': '1', ':replay': '["ab","bc"]' });
    expect(Replay.in({ 'a-0': '7' }, TOPICS, tablesOf)).toBeUndefined();
  });

  test('is one transaction, which ends where all topics have been read up to the end that they had', async () => {
    const replay = Replay.in(position, TOPICS, tablesOf) as Replay;
    const merge = new TopicMerge({
      tables: new Map(TOPICS.map((topic) => [topic, tablesOf(topic)])),
      transactionTopic: undefined,
      reader: new PayloadReader(undefined),
      kept: replay.begun(position),
      replay,
      now: Date.now,
    });
    const ends = TOPICS.map((topic) => ({ topic, partition: 0, low: 0n, high: topic === 'c' ? 0n : 1n }));
    replay.until(ends);
    for (const { topic, high } of ends) merge.addQueue(topic, 0, 0n, high === 0n);
    const message = (topic: string, offset: string) => ({
      topic,
      partition: 0,
      offset,
      timestamp: 1,
      key: Buffer.from('{"id":1}'),
      value: Buffer.from('{"id":1,"v":"x","__op":"c","__lsn":1}'),
      headers: {},
    });
    const take = async (): Promise<readonly [readonly string[], FeedPosition | undefined]> => {
      const batch = await merge.take(never);
      const names = batch?.events.map((event) =>
        'table' in event ? `${event.kind} ${event.table}${'state' in event ? ` ${event.state}` : ''}` : event.kind,
      );
      return [names ?? [], batch?.position];
    };
    merge.queue('b', 0)?.add([message('b', '0')], 1n, 1n);
    const [begun, within] = await take();
    expect(begun).toEqual(['begin', 'replay ab begin', 'replay bc begin', 'row ab', 'row bc']);
    expect(within).toMatchObject({ ':replay': '["ab","bc"]', 'b-0': '1' });
    merge.queue('a', 0)?.add([message('a', '0'), message('a', '1')], 2n, 2n);
    const [ended, behind] = await take();
    expect(ended).toEqual(['row ab', 'row ab', 'replay ab end', 'replay bc end', 'commit']);
    expect(behind).not.toHaveProperty([':replay']);
  });
});
