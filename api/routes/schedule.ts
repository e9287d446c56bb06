/** `/updateCron`: the schedule of the SQL transformer. */
import { localTimezone, parseCron } from '../../queues/cron.ts';
import { type Api, type Route, withinQueueWait } from '../route.ts';

/** Number of next ticks in the answer. */
const SHOWN = 3;

export function cronRoute(api: Api): Route {
  return {
    method: 'PUT',
    path: '/updateCron',
    role: 'admin',
    summary: 'Sets the schedule for the whole fleet, or switches it off',
    parameters: [
      {
        name: 'cronValue',
        in: 'query',
        description: 'Cron expression, Quartz (6 or 7 fields) or Unix (5 fields); left out or empty: the schedule is off',
        schema: { type: 'string', examples: ['0 0 2 * * ?'] },
      },
    ],
    replies: { 200: { description: 'The schedule and its next times', schema: 'CronSchedule' } },
    handle: async ({ parameters, actor }) => {
      const text = (parameters.cronValue as string | undefined)?.trim();
      const cron = text === undefined || text === '' ? undefined : parseCron(text, api.config.snapshot().CRON_TIMEZONE ?? localTimezone());
      await withinQueueWait(api, api.schedule.set(cron && { cron: cron.cron, timezone: cron.timezone }));
      api.logger.info({ cron: cron?.cron ?? null, timezone: cron?.timezone, by: actor }, 'schedule changed');
      if (cron === undefined) return { status: 200, body: { cron: null } };
      const next = cron.next(SHOWN).map((time) => zonedTime(time, cron.timezone));
      return { status: 200, body: { cron: cron.cron, timezone: cron.timezone, next } };
    },
  };
}

/** ISO 8601 with the offset of the time zone at that time: `2026-03-29T03:00:00+02:00`. */
function zonedTime(time: Date, timeZone: string): string {
  const format = new Intl.DateTimeFormat('en', {
    timeZone,
    hourCycle: 'h23',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    timeZoneName: 'longOffset',
  });
  const part = Object.fromEntries(format.formatToParts(time).map(({ type, value }) => [type, value]));
  const offset = part.timeZoneName?.replace('GMT', '') || '+00:00';
  return `${part.year}-${part.month}-${part.day}T${part.hour}:${part.minute}:${part.second}${offset}`;
}
