/** Hides secrets in text that people and logs see. */

const HIDDEN = '******';
/** `//user:password@`, wherever it stands. */
const USER_INFO = /(\/\/[^/?#@:\s]*:)[^/?#\s]*(?=@)/g;
/**
 * `name=value` of a secret-looking name, at the beginning or after what separates parameters. A value ends before the next `&` or
 * `;name=`; outside of JDBC URLs, which have no fragment, also before `#`.
 */
const secretIn = (ends: string): RegExp =>
  new RegExp(
    `(^|[?&;\\s(,])([\\w.-]*(?:pass|pwd|secret|token|credential|signature|auth)[\\w.-]*|sig|[\\w.-]*key(?:[-_]?id)?)=(?:(?!;[\\w.-]+=)[^${ends}])*`,
    'gi',
  );
const SECRET = secretIn('&#\\s');
const SECRET_OF_JDBC = secretIn('&\\s');

/** The same text without the passwords of URLs and the values of parameters with secret-looking names. */
export function redact(text: string): string {
  const secret = /jdbc:/i.test(text) ? SECRET_OF_JDBC : SECRET;
  return text.replace(USER_INFO, `$1${HIDDEN}`).replace(secret, `$1$2=${HIDDEN}`);
}
