/** The settings of a connection, on which the texts of values depend. */
import type { DatabaseAddress } from '../database.ts';

/**
 * Names and values for `set_config`. The user's `options` come last, and win.
 *
 * @param version `server_version_num`
 * @param isAscii whether the server stores any bytes, without an encoding
 * @param lockMs the longest wait for a lock; 0: no limit
 */
export function settingsOf(
  { schemas, parameters }: DatabaseAddress,
  version: number,
  isAscii: boolean,
  lockMs: number,
): readonly (readonly [name: string, value: string])[] {
  const path = schemas.map((name) => `"${name.replaceAll('"', '""')}"`).join(', ');
  return [
    // A server without encoding would reject invalid UTF-8 without saying where.
    ['client_encoding', isAscii ? 'SQL_ASCII' : 'UTF8'],
    ['standard_conforming_strings', 'on'],
    ['DateStyle', 'ISO, MDY'],
    ['IntervalStyle', 'iso_8601'],
    ['TimeZone', 'UTC'],
    ['extra_float_digits', '3'],
    ['bytea_output', 'hex'],
    // The server would also count the time of a slow reader, so time limits are enforced here.
    ['statement_timeout', '0'],
    ['idle_in_transaction_session_timeout', '0'],
    ...(version >= 170_000 ? ([['transaction_timeout', '0']] as const) : []),
    ['lock_timeout', String(lockMs)],
    ...(path === '' ? [] : ([['search_path', path]] as const)),
    ...parametersOf(parameters.options ?? ''),
  ];
}

/**
 * `-c name=value` separated by spaces, with a backslash before a space or a backslash in the value: the form that the JDBC URL parser
 * returns.
 */
function parametersOf(options: string): readonly (readonly [name: string, value: string])[] {
  return [...options.matchAll(/-c (\w+)=((?:[^\s\\]|\\.)*)/gs)].map(
    ([, name, value]) => [name as string, (value as string).replace(/\\(.)/gs, '$1')] as const,
  );
}
