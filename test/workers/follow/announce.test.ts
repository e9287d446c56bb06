/** What a follower announces, over an outbox that refuses at first. */
import { expect, test } from '@jest/globals';
import type { Outcome } from '../../../queues/jobs.ts';
import { feedMessageHeaders, messagesOf } from '../../../queues/messaging/messages.ts';
import { DEFAULTS } from '../../../src/config/options/options.ts';
import { Fault } from '../../../src/core/fault.ts';
import { announceRejected, announceVersion, type FollowerAnnouncements } from '../../../workers/follow/announce.ts';
import type { RunResult } from '../../../workers/task.ts';

const never = new AbortController().signal;
const RESULT: RunResult = {
  report: { records: 3, rejected: 0, quads: 2, bytesRead: 0, bytesWritten: 9, seconds: 0.5, triplesMaps: [], warnings: [], mappings: [] },
  parts: [{ url: 'file:///d/versions/000002.added.nq.gz', bytes: 9, sha256: 'ab' }],
  dataset: {
    dataset: 'shop',
    version: 2,
    previousVersion: 1,
    added: 1,
    removed: 1,
    removedFileLocations: ['file:///d/versions/000002.removed.nq.gz'],
  },
  manifest: 'file:///d/versions/000002.json',
  rejections: undefined,
  slices: 1,
};

/** @param refusals faults of the first additions */
function outbox(refusals: Fault[], isHeard = true) {
  const added: string[] = [];
  const take = (id: string): void => {
    const refusal = refusals.shift();
    if (refusal !== undefined) throw refusal;
    added.push(id);
  };
  const announcements: FollowerAnnouncements = {
    publish: {
      has: () => isHeard,
      add: async (run, outcome: Outcome) =>
        take(JSON.stringify(messagesOf(run, outcome, DEFAULTS, new Date(0)).messages.map(({ value }) => JSON.parse(value ?? '')))),
    },
    rejected: async (_service, { runId, code, error }) => take(`${runId} ${code} ${error}`),
  };
  return { announcements, added };
}

const AWAY = new Fault('service/unavailable', 'the queue is away');

test('a version has the success message of a run, once the queue takes it', async () => {
  const { announcements, added } = outbox([AWAY]);
  expect(await announceVersion(announcements, 'sql-transformer', 'r1', RESULT, never)).toBe(true);
  expect(added).toHaveLength(1);
  expect(JSON.parse(added[0] as string)).toEqual([
    expect.objectContaining({
      runId: 'r1',
      service: 'sql-transformer',
      outputFileLocations: ['file:///d/versions/000002.added.nq.gz'],
      quads: 2,
      ...RESULT.dataset,
    }),
  ]);
});

test('where no message is waited for, there is none', async () => {
  const { announcements, added } = outbox([], false);
  expect([await announceVersion(announcements, 'sql-transformer', 'r1', RESULT, never), added]).toEqual([false, []]);
});

test('another fault, and a lease that is lost, end the wait', async () => {
  const full = new Fault('sink/failed', 'no').with({ code: 'config/invalid' });
  await expect(announceVersion(outbox([full]).announcements, 'sql-transformer', 'r1', RESULT, never)).rejects.toBe(full);
  const lost = new AbortController();
  lost.abort();
  await expect(announceVersion(outbox([AWAY]).announcements, 'sql-transformer', 'r1', RESULT, lost.signal)).rejects.toBe(AWAY);
});

test('a message that is rejected twice has one id', async () => {
  const { announcements, added } = outbox([]);
  const message = { place: 'shop.customers[0]@7', reason: 'it is no JSON' };
  for (let n = 0; n < 2; n++) await announceRejected(announcements, 'sql-transformer', 'shop', message, never);
  await announceRejected(announcements, 'sql-transformer', 'other', message, never);
  expect(added[0]).toMatch(/^rejected-[0-9a-f]{32} source\/malformed .*shop\.customers\[0\]@7: it is no JSON/);
  expect([added[1] === added[0], added[2] === added[0]]).toEqual([true, false]);
});

test.each([
  [
    { place: 'a.b[12]@34', key: Buffer.from('k'), value: Buffer.of(0, 255) },
    {
      'source-topic': 'a.b',
      'source-partition': '12',
      'source-offset': '34',
      'source-key': Buffer.from('k'),
      'source-value': Buffer.of(0, 255),
    },
  ],
  [{ place: 'public.t ["1"], position 0/1A' }, { 'source-place': 'public.t ["1"], position 0/1A' }],
])('headers of %j', (message, headers) => expect(feedMessageHeaders(message)).toEqual(headers));
