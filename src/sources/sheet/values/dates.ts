/** Dates and times that a file writes as ISO 8601, as the number format of the cell shows them. */
import { type CellValue, date, dateTime, time as timeOfDay, wrongCell } from './cell-value.ts';
import type { Shown } from './number-format.ts';
import { durationCell, timeCell } from './numbers.ts';

const DATE = /^(-?\d{4,}-\d\d-\d\d)(?:T(\d\d:\d\d(?::\d\d)?)(\.\d+)?Z?)?$/;

const TIME = /^T?([01]\d|2[0-3]):([0-5]\d)(?::([0-5]\d)(\.\d+)?)?Z?$/;

/** `2024-02-29`, `2024-02-29T08:30:00`, and in XLSX also `08:30:00` or `T08:30:00`. @param shown undefined: as it is written */
export function dateCell(written: string, shown: Shown | undefined): CellValue {
  const [, day, time, fraction = ''] = DATE.exec(written) ?? [];
  const [alone, hour, minute, second = '00', part = ''] = day === undefined ? (TIME.exec(written) ?? []) : [];
  if (alone !== undefined) return timeOfDay(`${hour}:${minute}:${second}${part.replace(/\.?0+$/, '')}`);
  if (day === undefined || !isDay(day) || (time !== undefined && !isTime(time)))
    return wrongCell(written, `should hold a date, and holds ${JSON.stringify(written)}`);
  if (shown === 'date' || (time === undefined && shown !== 'dateTime')) return date(day);
  const clock = time === undefined ? '00:00:00' : time.length === 5 ? `${time}:00` : time;
  return dateTime(`${day}T${clock}${fraction.replace(/\.?0+$/, '')}`);
}

/** Whether the calendar has it. */
function isDay(text: string): boolean {
  const [, year = '', month = '', day = ''] = /^(-?\d+)-(\d\d)-(\d\d)$/.exec(text) ?? [];
  const isLeap = Number(year) % 4 === 0 && (Number(year) % 100 !== 0 || Number(year) % 400 === 0);
  const days = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][Number(month) - 1];
  return days !== undefined && Number(day) >= 1 && Number(day) <= days;
}

/** Whether a clock shows it, or it is the end of a day. */
const isTime = (text: string): boolean => /^(?:(?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d)?|24:00(?::00)?)$/.test(text);

const DURATION = /^(-)?P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?$/;

/** ODS writes every time as a duration: `PT08H30M00S` is 08:30:00, unless the format counts hours beyond 24, or no format says that the days are left out. */
export function timeOfDuration(written: string, shown: Shown | undefined): CellValue {
  const [whole, sign, days = 0, hours = 0, minutes = 0, seconds = 0] = DURATION.exec(written) ?? [];
  if (whole === undefined) return wrongCell(written, `should hold a time, and holds ${JSON.stringify(written)}`);
  const ms = Math.round((((Number(days) * 24 + Number(hours)) * 60 + Number(minutes)) * 60 + Number(seconds)) * 1000);
  if (shown === 'duration' || sign !== undefined || (shown === undefined && ms >= 86_400_000))
    return durationCell(sign === undefined ? ms : -ms);
  return timeCell(ms % 86_400_000);
}
