/** Hides secrets in text that people and logs see. */

const HIDDEN = '******';
/** `//user:password@`, wherever it stands. */
const USER_INFO = /(\/\/[^/?#@:\s]*:)[^/?#\s]*(?=@)/g;
/** `name=value` at the beginning, or after what separates parameters. */
const PARAMETER = /(^|[?&;\s])([\w.-]+)=([^&;#\s]*)/g;
const SECRET_NAME = /pass|pwd|secret|token|credential|signature|auth|^sig$|key$|key[-_]?id$/i;

/** The same text without the passwords of URLs and the values of parameters with secret-looking names. */
export function redact(text: string): string {
  return text
    .replace(USER_INFO, `$1${HIDDEN}`)
    .replace(PARAMETER, (whole, before: string, name: string) => (SECRET_NAME.test(name) ? `${before}${name}=${HIDDEN}` : whole));
}
