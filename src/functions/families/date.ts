import { dateText, dateTimeText, epochMs, type Moment, momentAt, readIso, timeText } from '../dates/moment.ts';
import { dates } from '../dates/parameters.ts';
import { readByPattern, writeByPattern } from '../dates/pattern.ts';
import { inZone, offsetAt, toZone } from '../dates/zone.ts';
import { define } from '../define.ts';
import { DataError, type FunctionDefinition } from '../definition.ts';
import { gives, grel, idlab, optional, qm, withDefault } from '../names.ts';
import { numberText } from '../numbers.ts';

const PATTERN = "The pattern is that of Java's `DateTimeFormatter`, such as `dd/MM/yyyy HH:mm`";

/** IDLab's functions have no value for a text that is no date of the pattern, as their source says. */
function dateOrNull(write: (moment: Moment) => string, ...read: Parameters<typeof readByPattern>): string | null {
  try {
    return write(readByPattern(...read));
  } catch (error) {
    if (error instanceof DataError) return null;
    throw error;
  }
}

const local = (moment: Moment): string => dateTimeText({ ...moment, offset: undefined });

/** Seconds since 1970, with digits behind the point as far as there are. */
function epochSeconds(moment: Moment): string {
  const whole = Math.floor(epochMs({ ...moment, fraction: '' }) / 1000);
  if (moment.fraction === '') return numberText(whole);
  return whole >= 0 ? `${whole}.${moment.fraction}` : numberText(whole + Number(`0.${moment.fraction}`));
}

function fromEpoch(ms: number, zone: string): string {
  return dateTimeText(momentAt(Math.round(ms), offsetAt(zone, ms)));
}

export const DATE: readonly FunctionDefinition[] = [
  define({
    names: ['idlab-fn:normalizeDate'],
    does: `A date as \`xsd:date\`. ${PATTERN}; names are English. No value for a text that is no such date.`,
    takes: [idlab.strDate, dates.idlabPattern],
    gives: gives.idlabString,
    call: (text, form) => dateOrNull(dateText, text, form),
    examples: [
      [['20220124', 'yyyyMMdd'], '2022-01-24'],
      [['01-Apr-20', 'dd-MMM-yy'], '2020-04-01'],
      [['1 april 2022', 'd MMMM uuuu'], '2022-04-01'],
      [['30/02/2022', 'dd/MM/yyyy'], null],
      [['x', 'dd/MM/yyyy'], null],
    ],
  }),
  define({
    names: ['idlab-fn:normalizeDateWithLang'],
    does: `A date as \`xsd:date\`. ${PATTERN}; names are those of the language. No value for a text that is no such date.`,
    takes: [idlab.strDate, dates.idlabPattern, dates.idlabLanguage],
    gives: gives.idlabString,
    call: (text, form, lang) => dateOrNull(dateText, text, form, lang),
    examples: [
      [['1 août 2022', 'd MMMM yyyy', 'fr'], '2022-08-01'],
      [['03 mrt 2021', 'dd MMM yyyy', 'nl'], '2021-03-03'],
      [['5 мая 2020', 'd MMMM yyyy', 'ru'], '2020-05-05'],
      [['1 May 2020', 'd MMMM yyyy', 'fr'], null],
    ],
  }),
  define({
    names: ['idlab-fn:normalizeDateTime'],
    does: `A date with its time as \`xsd:dateTime\` without offset. ${PATTERN}; names are English. No value for a text that is no such date.`,
    takes: [idlab.strDate, dates.idlabPattern],
    gives: gives.idlabString,
    call: (text, form) => dateOrNull(local, text, form),
    examples: [
      [['20220124T09:36:04', "yyyyMMdd'T'HH:mm:ss"], '2022-01-24T09:36:04'],
      [['01-Apr-20 9u4', "dd-MMM-yy H'u'm"], '2020-04-01T09:04:00'],
      [['1/2/2020 12:05 AM', 'd/M/yyyy hh:mm a'], '2020-02-01T00:05:00'],
      [['2020', 'yyyy[-MM]'], '2020-01-01T00:00:00'],
      [['2020-13', 'yyyy[-MM]'], null],
    ],
  }),
  define({
    names: ['idlab-fn:normalizeDateTimeWithLang'],
    does: `A date with its time as \`xsd:dateTime\` without offset. ${PATTERN}; names are those of the language. No value for a text that is no such date.`,
    takes: [idlab.strDate, dates.idlabPattern, dates.idlabLanguage],
    gives: gives.idlabString,
    call: (text, form, lang) => dateOrNull(local, text, form, lang),
    examples: [[['3. März 2021 14:05', 'd. MMMM yyyy HH:mm', 'de'], '2021-03-03T14:05:00']],
  }),
  define({
    names: ['grel:date_toDate', 'grel:date_toString'],
    does: `A date as \`xsd:date\`. ${PATTERN}, or that of \`strptime\`, such as \`%d/%m/%Y\`.`,
    takes: [grel.value, dates.grelPattern],
    gives: gives.grelDate,
    fails: true,
    call: (text, form) => dateText(readByPattern(text, form)),
    examples: [
      [['31/12/2023', 'dd/MM/yyyy'], '2023-12-31'],
      [['1/2/2023', '%d/%m/%Y'], '2023-02-01'],
      [['x', '%Y'], { fails: 'does not have the form' }],
    ],
  }),
  define({
    names: ['qm:parseDateTime'],
    does: `A date with its time as \`xsd:dateTime\`. ${PATTERN}. A zone in the text becomes the offset; else \`zone\` does, if given: an offset, or a name such as \`Europe/Brussels\`.`,
    takes: [qm.value, dates.pattern, optional(dates.zone), dates.language],
    gives: gives.dateTime,
    fails: true,
    call: (text, form, zone, lang) => {
      const moment = readByPattern(text, form, lang);
      return dateTimeText(zone === undefined || moment.offset !== undefined ? moment : inZone(moment, zone));
    },
    examples: [
      [['31/12/2023 23:59', 'dd/MM/yyyy HH:mm'], '2023-12-31T23:59:00'],
      [['01/07/2023 12:00', 'dd/MM/yyyy HH:mm', 'Europe/Brussels'], '2023-07-01T12:00:00+02:00'],
      [['2023-07-01 12:00:00.250 -0500', 'yyyy-MM-dd HH:mm:ss.SSS XX'], '2023-07-01T12:00:00.25-05:00'],
      [['2023-01-15 12:00 America/New_York', 'yyyy-MM-dd HH:mm VV'], '2023-01-15T12:00:00-05:00'],
      [['2023', 'yyyy', 'Mars/Olympus'], { fails: '"Mars/Olympus" is not a time zone' }],
    ],
  }),
  define({
    names: ['qm:parseDate'],
    does: `A date as \`xsd:date\`. ${PATTERN}.`,
    takes: [qm.value, dates.pattern, dates.language],
    gives: gives.date,
    fails: true,
    call: (text, form, lang) => dateText(readByPattern(text, form, lang)),
    examples: [
      [['Dec 3, 2023', 'MMM d, yyyy'], '2023-12-03'],
      [['2024-060', 'yyyy-DDD'], '2024-02-29'],
      [['29/02/2023', 'dd/MM/yyyy'], { fails: 'out of its range' }],
    ],
  }),
  define({
    names: ['qm:formatDate'],
    does: `A date or time by a pattern, as clocks of \`zone\` show it, if given. ${PATTERN}.`,
    takes: [qm.value, dates.writtenPattern, optional(dates.zone), dates.language],
    gives: gives.string,
    fails: true,
    call: (text, form, zone, lang) => {
      const moment = readIso(text);
      return writeByPattern(zone === undefined ? moment : toZone(moment, zone), form, lang);
    },
    examples: [
      [['2023-07-01', 'EEEE d MMMM yyyy'], 'Saturday 1 July 2023'],
      [['2023-07-01', 'd MMMM yyyy', null, 'fr'], '1 juillet 2023'],
      [['2023-07-01T12:00:00Z', "yyyy-MM-dd'T'HH:mmXXX", 'Asia/Kolkata'], '2023-07-01T17:30+05:30'],
      [['2023-07-01', 'XXX'], { fails: 'has no time zone' }],
      [['soon', 'yyyy'], { fails: '"soon" is not a date' }],
    ],
  }),
  define({
    names: ['qm:epochToDateTime'],
    does: 'Seconds since 1970 as `xsd:dateTime`, as clocks of `zone` show it (UTC if left out).',
    takes: [qm.number, withDefault(dates.zone, 'UTC')],
    gives: gives.dateTime,
    call: (seconds, zone) => fromEpoch(seconds * 1000, zone),
    examples: [
      [[0], '1970-01-01T00:00:00Z'],
      [['1700000000.5', 'Europe/Brussels'], '2023-11-14T23:13:20.5+01:00'],
      [[-1], '1969-12-31T23:59:59Z'],
      [['1e20'], { fails: 'is no time' }],
    ],
  }),
  define({
    names: ['qm:epochMillisecondsToDateTime'],
    does: 'Milliseconds since 1970 as `xsd:dateTime`, as clocks of `zone` show it (UTC if left out).',
    takes: [qm.number, withDefault(dates.zone, 'UTC')],
    gives: gives.dateTime,
    call: fromEpoch,
    examples: [
      [['1700000000123'], '2023-11-14T22:13:20.123Z'],
      [['0', '+05:30'], '1970-01-01T05:30:00+05:30'],
    ],
  }),
  define({
    names: ['qm:dateTimeToEpoch'],
    does: 'The seconds since 1970 of a date or time. Without an offset it is one of `zone` (UTC if left out).',
    takes: [qm.value, withDefault(dates.zone, 'UTC')],
    gives: gives.number,
    fails: true,
    call: (text, zone) => {
      const moment = readIso(text);
      return epochSeconds(moment.offset === undefined ? inZone(moment, zone) : moment);
    },
    examples: [
      [['1970-01-01T00:00:00Z'], '0'],
      [['2023-11-14T23:13:20.5+01:00'], '1700000000.5'],
      [['2023-07-01T02:00:00', 'Europe/Brussels'], '1688169600'],
      [['1969-12-31'], '-86400'],
      [['now'], { fails: '"now" is not a date' }],
    ],
  }),
  define({
    names: ['qm:toZone'],
    does: 'The same instant as clocks of another zone show it. Without an offset it is one of UTC.',
    takes: [qm.value, dates.zone],
    gives: gives.dateTime,
    fails: true,
    call: (text, zone) => dateTimeText(toZone(readIso(text), zone)),
    examples: [
      [['2023-01-01T00:30:00Z', 'America/New_York'], '2022-12-31T19:30:00-05:00'],
      [['2023-07-01T12:00:00+02:00', 'Z'], '2023-07-01T10:00:00Z'],
    ],
  }),
  define({
    names: ['qm:withZone'],
    does: 'The same local time with the offset of a zone; one that has an offset stays. In the hour that clocks skip or repeat, the offset before the change.',
    takes: [qm.value, dates.zone],
    gives: gives.dateTime,
    fails: true,
    call: (text, zone) => {
      const moment = readIso(text);
      return dateTimeText(moment.offset === undefined ? inZone(moment, zone) : moment);
    },
    examples: [
      [['2023-01-01T12:00:00', 'Europe/Brussels'], '2023-01-01T12:00:00+01:00'],
      [['2023-10-29T02:30:00', 'Europe/Brussels'], '2023-10-29T02:30:00+02:00'],
      [['2023-01-01T12:00:00Z', 'Europe/Brussels'], '2023-01-01T12:00:00Z'],
    ],
  }),
  define({
    names: ['qm:dateOf'],
    does: 'The date of a date and time, as `xsd:date` without offset.',
    takes: [qm.value],
    gives: gives.date,
    fails: true,
    call: (text) => dateText(readIso(text)),
    examples: [
      [['2023-07-01T23:00:00Z'], '2023-07-01'],
      [['2023-07-01'], '2023-07-01'],
      [['x'], { fails: 'not a date' }],
    ],
  }),
  define({
    names: ['qm:timeOf'],
    does: 'The time of a date and time, as `xsd:time` without offset; no result for a date.',
    takes: [qm.value],
    gives: gives.string,
    fails: true,
    call: (text) => {
      const moment = readIso(text);
      return moment.hasTime ? timeText(moment) : null;
    },
    examples: [
      [['2023-07-01T23:00:00.5Z'], '23:00:00.5'],
      [['2023-07-01'], null],
    ],
  }),
  define({
    names: ['grel:date_now'],
    does: 'The date and time at which the run began, in UTC.',
    takes: [],
    gives: gives.grelDateTime,
    random: true,
    call: (chance) => dateTimeText(momentAt(chance.startedAt, 0)),
    examples: [
      [[], '2024-01-02T03:04:05Z'],
      [[], '2024-01-02T03:04:05Z', 'datetime'],
    ],
  }),
];
