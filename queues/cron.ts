/**
 * Cron expressions: computes the next ticks of the SQL transformer's schedule.
 *
 * The number of fields decides between two forms. Unix, five fields: minutes, hours, day of month, month, day of week (0–7, Sunday is 0 and
 * 7). Quartz, six or seven fields: additionally seconds first and an optional year last, days of the week 1–7 from Sunday, and `?`, `L`,
 * `W`, `#`. When summer time begins, a tick at a skipped time comes right after the gap; when it ends, a repeated time of day ticks once.
 */
import { Cron as Croner } from 'croner';
import type { Snapshot } from '../src/config/options/options.ts';
import { excerpt, Fault, type FaultCode } from '../src/core/fault.ts';

/** An expression and its IANA time zone. */
export interface CronSchedule {
  readonly cron: string;
  readonly timezone: string;
}

export interface ParsedCron extends CronSchedule {
  /** The next times after `after`: `count`, or fewer if the years of the expression end. */
  next(count: number, after?: Date): readonly Date[];
}

type Form = 'Unix' | 'Quartz';

interface Field {
  readonly name: string;
  readonly min: number;
  readonly max: number;
  readonly names?: readonly string[];
  readonly accepts: Readonly<Record<Form, string>>;
}

const MONTHS = ['JAN', 'FEB', 'MAR', 'APR', 'MAY', 'JUN', 'JUL', 'AUG', 'SEP', 'OCT', 'NOV', 'DEC'];
const DAYS = ['SUN', 'MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT'];
const both = (text: string) => ({ Unix: text, Quartz: text });

/** In the order of Quartz. `min`, `max` and `names` use Quartz's numbering. */
const FIELDS: readonly Field[] = [
  { name: 'seconds', min: 0, max: 59, accepts: both('0 to 59') },
  { name: 'minutes', min: 0, max: 59, accepts: both('0 to 59') },
  { name: 'hours', min: 0, max: 23, accepts: both('0 to 23') },
  { name: 'day of month', min: 1, max: 31, accepts: { Unix: '1 to 31', Quartz: '1 to 31, ?, L, LW or 15W' } },
  { name: 'month', min: 1, max: 12, names: MONTHS, accepts: both('1 to 12 or JAN to DEC') },
  {
    name: 'day of week',
    min: 1,
    max: 7,
    names: DAYS,
    accepts: { Unix: '0 to 7 (0 and 7 are Sunday) or SUN to SAT', Quartz: '1 to 7 (1 is Sunday) or SUN to SAT, ?, L, 6L or 6#3' },
  },
  { name: 'year', min: 1970, max: 2099, accepts: both('1970 to 2099') },
];
const DAY_OF_MONTH = 3;
const DAY_OF_WEEK = 5;

/**
 * Parses an expression.
 *
 * @throws Fault request/invalid — not a valid expression, naming the wrong field; or it never ticks (again)
 */
export function parseCron(text: string, timezone: string, code: FaultCode = 'request/invalid'): ParsedCron {
  const cron = text.trim().replace(/\s+/g, ' ');
  const given = cron === '' ? [] : cron.split(' ');
  const form = given.length === 5 ? 'Unix' : 'Quartz';
  if (given.length < 5 || given.length > 7) {
    const count = given.length === 1 ? '1 field' : `${given.length} fields`;
    throw new Fault(code, `The cron expression ${excerpt(text)} has ${count}: expected are 5 (Unix) or 6 or 7 (Quartz)`, {
      hint: 'Such as 0 2 * * *, or 0 0 2 * * ?, for two o’clock every night',
    });
  }
  const first = form === 'Unix' ? 1 : 0;
  const fields = form === 'Unix' ? ['0', ...given, '*'] : [...given, '*'].slice(0, FIELDS.length);
  const ready = fields.map((field, i) => {
    const normal = form === 'Quartz' ? normalise(field, i) : field;
    if (normal === undefined || !isAccepted(normal, i, form)) {
      const { name, accepts } = FIELDS[i] as Field;
      throw new Fault(
        code,
        `The cron expression ${excerpt(text)} is not valid: field ${i + 1 - first} (${name}) is ${excerpt(field)}, ` +
          `expected are ${accepts[form]}, *, lists (,), ranges (-) and steps (/)`,
      );
    }
    return normal;
  });
  if (form === 'Quartz' && [DAY_OF_MONTH, DAY_OF_WEEK].every((i) => ready[i] !== '*')) {
    throw new Fault(
      code,
      `The cron expression ${excerpt(text)} is not valid: fields ${DAY_OF_MONTH + 1} (day of month) and ${DAY_OF_WEEK + 1} (day of week) both choose days`,
      { hint: 'Write ? in one of the two' },
    );
  }
  const croner = open(ready, form, timezone);
  if (croner.nextRun() === null) throw new Fault(code, `The cron expression ${excerpt(text)} never matches from now on`);
  return { cron, timezone, next: (count, after = new Date()) => croner.nextRuns(count, after) };
}

/** The schedule that the option CRON sets. @throws Fault config/invalid */
export function cronOfOptions({ CRON, CRON_TIMEZONE }: Pick<Snapshot, 'CRON' | 'CRON_TIMEZONE'>): CronSchedule | undefined {
  if (CRON === undefined) return undefined;
  const { cron, timezone } = parseCron(CRON, CRON_TIMEZONE ?? localTimezone(), 'config/invalid');
  return { cron, timezone };
}

export const localTimezone = (): string => new Intl.DateTimeFormat().resolvedOptions().timeZone;

/** BullMQ's `repeatStrategy`: time of the next tick after `after` in milliseconds; undefined: none. */
export function nextTick(
  after: number,
  { pattern = '', tz = localTimezone() }: { readonly pattern?: string; readonly tz?: string },
): number | undefined {
  try {
    return parseCron(pattern, tz).next(1, new Date(after))[0]?.getTime();
  } catch (error) {
    // The years of the expression have ended; it was valid when it was set.
    if (error instanceof Fault) return undefined;
    throw error;
  }
}

/**
 * Rewrites Quartz syntax that croner does not support: `?` (only in its two fields), a lone `L`, ranges that wrap around (FRI-MON).
 * undefined: invalid.
 */
function normalise(field: string, index: number): string | undefined {
  const { min, max, names = [] } = FIELDS[index] as Field;
  if (field.includes('?')) return field === '?' && (index === DAY_OF_MONTH || index === DAY_OF_WEEK) ? '*' : undefined;
  const numberOf = (text: string): number => (/^\d+$/.test(text) ? Number(text) : names.indexOf(text.toUpperCase()) + min);
  const parts = field.split(',').map((part) => {
    if (index === DAY_OF_WEEK && part.toUpperCase() === 'L') return String(max);
    const [, from, to] = /^(\w+)-(\w+)$/.exec(part) ?? [];
    if (from === undefined || to === undefined || numberOf(from) <= numberOf(to)) return part;
    return `${from}-${max},${min}-${to}`;
  });
  const numbers = parts.flatMap((part) => part.split(/[#/]/)[0]?.match(/\d+/g) ?? []).map(Number);
  return numbers.some((number) => number < min || number > max) ? undefined : parts.join(',');
}

function isAccepted(field: string, index: number, form: Form): boolean {
  try {
    open(
      FIELDS.map((_, i) => (i === index ? field : '*')),
      form,
    );
    return true;
  } catch {
    return false;
  }
}

/** Takes seven fields. Quartz numbers the days of the week from 1 and allows steps with a start (`0/15`). */
const open = (fields: readonly string[], form: Form, timezone?: string): Croner =>
  new Croner(fields.join(' '), {
    alternativeWeekdays: form === 'Quartz',
    sloppyRanges: true,
    ...(timezone === undefined ? {} : { timezone }),
  });
