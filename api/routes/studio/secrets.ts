/** Questions of the studio become jobs, which the queue stores: no password may stand in them. */
import { Fault } from '../../../src/core/fault.ts';

/**
 * `d2rq:password` with any prefix or written out, the login of YARRRML's sources, a parameter of a JDBC URL or of an address in one, the login of a
 * URL, and that of Oracle's URLs. Rather too often than too rarely.
 */
const PASSWORD = new RegExp(
  [
    /[:#]password\b/,
    /\bcredentials\s*:/,
    /[?&;,(]\s*(?:password\d?|pwd)\s*=/,
    /\/\/[^\s/"'<>@]*:[^\s/"'<>@]*@/,
    /jdbc:oracle:\w+:[^\s@]*\/[^@]*@/,
  ]
    .map(({ source }) => source)
    .join('|'),
  'i',
);

/** @throws Fault request/invalid — a password stands in one of the texts; the message does not repeat it */
export function assertNoPassword(...texts: readonly string[]): void {
  if (!texts.some((text) => PASSWORD.test(text))) return;
  throw new Fault('request/invalid', 'A mapping or location with a password may not be asked about', {
    hint: 'Name the database by the options JDBC_URL, DB_USER and DB_PASSWORD, and logins of servers by SOURCE_LOGINS',
  });
}
