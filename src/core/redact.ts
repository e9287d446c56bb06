/** Hides secrets in text that is shown or logged. */

const HIDDEN = '******';
/** A private key in PEM form, also one that was cut. */
const PRIVATE_KEY = /-----BEGIN [A-Z ]*PRIVATE KEY-----[^-]*(?:-----END [A-Z ]*PRIVATE KEY-----)?/g;
/** `//user:password@`, anywhere in the text. */
const USER_INFO = /(\/\/[^/?#@:\s]*:)[^/?#\s]*(?=@)/g;
/** `jdbc:oracle:thin:user/password@`. */
const ORACLE_LOGIN = /(jdbc:oracle:\w+:[^\s/@]*\/)[^\s]*(?=@)/gi;
/**
 * `name=value` with a secret-looking name, at the beginning or after a parameter separator, in a fragment too. A value ends before the next `&` or `;name=`;
 * except in JDBC URLs, which have no fragment, also before `#`.
 */
const secretIn = (ends: string): RegExp =>
  new RegExp(
    `(^|[?#&;\\s(,])([\\w.-]*(?:pass|pwd|secret|token|credential|signature|auth)[\\w.-]*|sig|[\\w.-]*key(?:[-_]?id)?)=(?:(?!;[\\w.-]+=)[^${ends}])*`,
    'gi',
  );
const SECRET = secretIn('&#\\s');
const SECRET_OF_JDBC = secretIn('&\\s');

/** The fragment of a text that is a URL as a whole. No server gets it, so some links carry a key there. */
const FRAGMENT = /^((?:https?|s3|jdbc:[\w:]+):\/\/[^\s#]*#)(?!sha256=)\S+$/i;

/** As `splitSheet` has it. */
const SHEET = /^[^#]*\.(?:xlsx|xlsm|xlsb|xls|ods)(?:\.gz|\.zip)?(?:\?[^#]*)?#/i;

/**
 * An address, or a text with addresses, without what `redactText` hides. An address alone loses its fragment as well, which may be a key as a
 * whole, unless it names a sheet of a workbook or the digest of a file.
 */
export function redact(text: string): string {
  const hidden = redactText(text);
  return SHEET.test(hidden) ? hidden : hidden.replace(FRAGMENT, `$1${HIDDEN}`);
}

/**
 * The text without passwords of URLs, without private keys, and without values of parameters that have secret-looking names. IRIs stay as
 * they are.
 */
export function redactText(text: string): string {
  const secret = /jdbc:/i.test(text) ? SECRET_OF_JDBC : SECRET;
  return text
    .replace(PRIVATE_KEY, HIDDEN)
    .replace(USER_INFO, `$1${HIDDEN}`)
    .replace(ORACLE_LOGIN, `$1${HIDDEN}`)
    .replace(secret, `$1$2=${HIDDEN}`);
}
