/** Dates and times that a file writes as ISO 8601, as the number format of the cell shows them. */
import { type CellValue, date, dateTime, wrongCell } from './cell-value.ts';
import type { Shown } from './number-format.ts';
import { durationCell, timeCell } from './numbers.ts';

const DATE = /^(-?\d{4,}-\d\d-\d\d)(?:T(\d\d:\d\d(?::\d\d)?)(\.\d+)?Z?)?$/;

/** `2024-02-29` or `2024-02-29T08:30:00`. @param shown undefined: as it is written */
export function dateCell(written: string, shown: Shown | undefined): CellValue {
  const [, day, time, fraction = ''] = DATE.exec(written) ?? [];
  if (day === undefined) return wrongCell(written, `should hold a date, and holds ${JSON.stringify(written)}`);
  if (shown === 'date' || (time === undefined && shown !== 'dateTime')) return date(day);
  const clock = time === undefined ? '00:00:00' : time.length === 5 ? `${time}:00` : time;
  return dateTime(`${day}T${clock}${fraction.replace(/\.?0+$/, '')}`);
}

const DURATION = /^(-)?P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?$/;

/** ODS writes every time as a duration: `PT08H30M00S` is 08:30:00, unless the format counts hours beyond 24. */
export function timeOfDuration(written: string, shown: Shown | undefined): CellValue {
  const [whole, sign, days = 0, hours = 0, minutes = 0, seconds = 0] = DURATION.exec(written) ?? [];
  if (whole === undefined) return wrongCell(written, `should hold a time, and holds ${JSON.stringify(written)}`);
  const ms = Math.round((((Number(days) * 24 + Number(hours)) * 60 + Number(minutes)) * 60 + Number(seconds)) * 1000);
  if (shown === 'duration' || sign !== undefined) return durationCell(sign === undefined ? ms : -ms);
  return timeCell(ms % 86_400_000);
}
