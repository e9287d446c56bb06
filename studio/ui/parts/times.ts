/** Times as people say them. */

const UNITS: readonly (readonly [unit: Intl.RelativeTimeFormatUnit, seconds: number])[] = [
  ['year', 31_536_000],
  ['month', 2_592_000],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
];
const FORMAT = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });

/** `2 minutes ago`, `yesterday`. @param at milliseconds since 1970 */
export function ago(at: number, now = Date.now()): string {
  const seconds = Math.max(0, (now - at) / 1_000);
  const found = UNITS.find(([, size]) => seconds >= size);
  return found === undefined ? 'just now' : FORMAT.format(-Math.floor(seconds / found[1]), found[0]);
}

/** `1.1 GB`. */
export function bytesText(bytes: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB'];
  const power = bytes < 1_000 ? 0 : Math.min(Math.floor(Math.log10(bytes) / 3), units.length - 1);
  const value = bytes / 1_000 ** power;
  return `${power === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${units[power]}`;
}
