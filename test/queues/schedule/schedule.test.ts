/** The schedule of the SQL transformer, in real time: one tick for the fleet, restarts, changes. */
import { describe, expect, test } from '@jest/globals';
import { openSchedule } from '../../../queues/schedule/schedule.ts';
import { describeQueues, ONE_QUEUE } from '../../support/queues/describe.ts';
import { memorySettings } from '../../support/service/fake.ts';
import { EVERY_SECOND, scheduleSuite, YEARLY } from './schedule-suite.ts';

describeQueues(ONE_QUEUE, (queue) => scheduleSuite(queue, 'fast'));

describe('settings that two processes change concurrently', () => {
  test('end with the value of one of them', async () => {
    const settings = memorySettings();
    const [one, two] = [await openSchedule(settings), await openSchedule(settings)];
    await Promise.all([one.set(EVERY_SECOND), two.set(YEARLY), one.set(undefined)]);
    expect([EVERY_SECOND, YEARLY, undefined]).toContainEqual(await two.read());
  });
});
