/** Fair queueing; `fairness.soak.test.ts` has it on every queue. */
import { describe, expect, test } from '@jest/globals';
import { bandOf, DEFAULT_URGENCY, prioritiesFrom, priorityOf, URGENCY_LEVELS, urgencyOf } from '../../../queues/backend/fair-queueing.ts';
import { SERVICE_QUEUES } from '../../../queues/jobs.ts';
import { describeQueues, ONE_QUEUE } from '../../support/queues/describe.ts';
import { fairnessSuite } from './fairness-suite.ts';

const { work: TRANSFORM_QUEUE } = SERVICE_QUEUES['semi-structured-transformer'];

describe('start tags and priorities', () => {
  const lane = bandOf(TRANSFORM_QUEUE, DEFAULT_URGENCY);

  test('of an urgency lie between those of its neighbours, and within the range of BullMQ', () => {
    for (let urgency = 0; urgency < URGENCY_LEVELS; urgency++) {
      const band = bandOf(TRANSFORM_QUEUE, urgency);
      for (const place of [0, 1, 1.5, 10_000, 1e9]) {
        expect(urgencyOf(priorityOf(band, place))).toBe(urgency);
        expect(priorityOf(band, place)).toBeGreaterThan(0);
        expect(priorityOf(band, place)).toBeLessThan(2 ** 21);
      }
    }
  });

  test('rise by one at first, never fall, and a million of them are far from the maximum', () => {
    const priorities = prioritiesFrom(lane, 1, 1_000_000);
    expect(priorities.slice(0, 20)).toEqual(Array.from({ length: 20 }, (_, i) => lane.offset + 1 + i));
    expect(priorities.every((priority, i) => i === 0 || priority >= (priorities[i - 1] as number))).toBe(true);
    expect((priorities.at(-1) as number) - lane.offset).toBeLessThan(lane.width / 2);
  });
});

describeQueues(ONE_QUEUE, (queue) => fairnessSuite(queue, 'fast', 200));
