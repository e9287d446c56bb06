/** Numbers of cells: plain numbers, and the dates, times and durations that serial numbers mean. */
import { canonicalDouble } from '../../../sql/numbers.ts';
import { type CellValue, date, dateTime, double, duration, integer, time, wrongCell } from './cell-value.ts';
import type { Shown } from './number-format.ts';

/** Digits that every program writes alike: no exponent, no zeros that say nothing, and few enough that a double holds them exactly. */
const WHOLE = /^-?(?:0|[1-9]\d{0,14})$/;
const PLAIN = /^-?(?=[\d.]{3,16}$)(?:0|[1-9]\d*)\.\d*[1-9]$/;

/** Beyond these powers of ten, zeros are not written out. */
const MAX_ZEROS = 21;

/**
 * A number: an xsd:integer, or an xsd:double. It is written as the shortest decimal that means the same double: `0.1` for
 * `0.10000000000000001`, `1200` for `1.2E3`. Spreadsheet programs write up to 17 digits, of which they show 15.
 */
export function numberCell(raw: string): CellValue {
  if (WHOLE.test(raw) && raw !== '-0') return integer(raw);
  if (PLAIN.test(raw)) return double(raw);
  const text = raw.trim();
  const number = Number(text);
  if (text === '' || !/^[-+\d.eE]+$/.test(text) || !Number.isFinite(number))
    return wrongCell(raw, `should hold a number, and holds ${JSON.stringify(raw)}`);
  const written = decimal(number);
  return /^-?\d+$/.test(written) ? integer(written) : double(written);
}

function decimal(number: number): string {
  const text = String(number === 0 ? 0 : number);
  const [, sign = '', whole = '', fraction = '', power] = /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]\d+))?$/.exec(text) ?? [];
  if (power === undefined) return text;
  const exponent = Number(power);
  if (Math.abs(exponent) > MAX_ZEROS) return canonicalDouble(text) as string;
  const digits = whole + fraction;
  return exponent < 0 ? `${sign}0.${'0'.repeat(-exponent - 1)}${digits}` : `${sign}${digits}${'0'.repeat(exponent - fraction.length)}`;
}

const DAY_MS = 86_400_000;
/** Of 0001-01-01 and 9999-12-31. */
const FIRST_DAY = -693_593;
const LAST_DAY = 2_958_465;
/** Serial numbers in the system of 1904 are smaller by so much. */
const DAYS_TO_1904 = 1462;
/** 1970-01-01 as a serial number of the system of 1900. */
const EPOCH_1970 = 25_569;
/** The day that the system of 1900 has and the calendar has not: 1900-02-29. */
const NO_DAY = 60;

/**
 * What a serial number means in a number format: `2024-02-29`, `2024-02-29T08:30:00`, `08:30:00` or `P1DT2H30M`. Milliseconds are kept.
 *
 * @param date1904 days are counted from 1904-01-01, else from 1900-01-01 as day 1
 * @see ECMA-376 part 1, 18.17.4
 */
export function serialCell(raw: string, shown: Shown, date1904: boolean): CellValue {
  const serial = Number(raw);
  if (shown === 'number' || raw.trim() === '' || Number.isNaN(serial)) return numberCell(raw);
  const ms = Math.round(serial * DAY_MS);
  if (shown === 'duration') return durationCell(ms);
  if (shown === 'time') return timeCell(((ms % DAY_MS) + DAY_MS) % DAY_MS);
  const total = ms + (date1904 ? DAYS_TO_1904 * DAY_MS : 0);
  const day = Math.floor(total / DAY_MS);
  if (day < FIRST_DAY || day > LAST_DAY || (!date1904 && day === NO_DAY))
    return wrongCell(raw, `is shown as a date, and its number ${raw} is no day of the calendar`);
  // LibreOffice counts days before 1900-01-01 backwards, from 1899-12-30 as day 0.
  const days = day - EPOCH_1970 + (day > 0 && day < NO_DAY ? 1 : 0);
  const found = dayText(days);
  return shown === 'date' ? date(found) : dateTime(`${found}T${timeText(total - day * DAY_MS)}`);
}

/** The days that were written last, by the low bits of their number: so many are 44 years. */
const RECENT = 1 << 14;
const recentDays = new Int32Array(RECENT).fill(-1 << 31);
const recentTexts = new Array<string>(RECENT).fill('');

/** `2024-02-29` @param days since 1970-01-01 */
function dayText(days: number): string {
  const slot = days & (RECENT - 1);
  if (recentDays[slot] !== days) {
    recentDays[slot] = days;
    recentTexts[slot] = new Date(days * DAY_MS).toISOString().slice(0, 10);
  }
  return recentTexts[slot] as string;
}

/** `08:30:00`, `08:30:00.5` */
export const timeCell = (ms: number): CellValue => time(timeText(ms));

function timeText(ms: number): string {
  const [hours, minutes, seconds] = [Math.floor(ms / 3_600_000), Math.floor(ms / 60_000) % 60, secondsText(ms % 60_000)];
  return `${two(hours)}:${two(minutes)}:${seconds.length === 1 || seconds[1] === '.' ? `0${seconds}` : seconds}`;
}

/** `P1DT2H30M`, `-PT5S`, `PT0S` @see https://www.w3.org/TR/xmlschema11-2/#f-durationMap */
export function durationCell(ms: number): CellValue {
  const size = Math.abs(ms);
  const [days, hours, minutes] = [Math.floor(size / DAY_MS), Math.floor(size / 3_600_000) % 24, Math.floor(size / 60_000) % 60];
  const seconds = secondsText(size % 60_000);
  const times = `${hours > 0 ? `${hours}H` : ''}${minutes > 0 ? `${minutes}M` : ''}${seconds === '0' ? '' : `${seconds}S`}`;
  const parts = `${days > 0 ? `${days}D` : ''}${times === '' ? '' : `T${times}`}`;
  return duration(`${ms < 0 ? '-' : ''}P${parts || 'T0S'}`);
}

const two = (number: number): string => String(number).padStart(2, '0');

const secondsText = (ms: number): string => String(ms / 1000);
