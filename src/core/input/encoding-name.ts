/** Names of character encodings. */
import { Fault } from '../fault.ts';

/** Examples for messages; every label of the WHATWG Encoding Standard is understood. */
export const KNOWN_ENCODINGS =
  'utf-8, utf-16, utf-16le, utf-16be, utf-32, utf-32le, utf-32be, us-ascii, iso-8859-1 to -16, windows-1250 to -1258, koi8-r, macintosh';

/**
 * The canonical name of an encoding: lower case, `utf-8` for `UTF8`, `windows-1252` for `latin1`.
 *
 * @throws Fault source/encoding — no such encoding
 */
export function canonicalEncoding(label: string, input?: string): string {
  const name = label.trim().toLowerCase().replaceAll('_', '-');
  const unicode = /^(?:utf|ucs|iso-10646-ucs)-?(8|16|32|2|4)-?([lb]e)?$/.exec(name);
  if (unicode !== null) {
    const width = { '8': '8', '16': '16', '2': '16', '32': '32', '4': '32' }[unicode[1] as '8'];
    return `utf-${width}${width === '8' ? '' : (unicode[2] ?? '')}`;
  }
  try {
    return new TextDecoder(name).encoding;
  } catch (cause) {
    throw new Fault('source/encoding', `The encoding ${JSON.stringify(label)} is not known`, {
      place: input === undefined ? {} : { input },
      hint: `Known are ${KNOWN_ENCODINGS}`,
      cause,
    });
  }
}

export function isEncoding(label: string): boolean {
  try {
    canonicalEncoding(label);
    return true;
  } catch {
    return false;
  }
}
