/**
 * Text as bytes: inside a program, text is UTF-8 carried as a one-byte string (each character is one byte, 0–255).
 *
 * Escaping and percent-encoding look at ASCII only, strings stay one-byte, output is written as `latin1`. This module owns
 * the invariant; whatever cares about characters (case, length, regular expressions) decodes at its own door.
 */

// biome-ignore lint/suspicious/noControlCharactersInRegex: the ASCII range is what is meant
const NOT_ASCII = /[^\x00-\x7f]/;

/** Characters → UTF-8 bytes as a one-byte string. Free for ASCII. A lone surrogate becomes U+FFFD. */
export function toBytes(text: string): string {
  if (!NOT_ASCII.test(text)) return text;
  let bytes = '';
  for (let i = 0; i < text.length; i++) {
    let point = text.codePointAt(i) as number;
    if (point < 0x80) bytes += text[i];
    else {
      if (point > 0xffff) i++;
      else if (point >= 0xd800 && point <= 0xdfff) point = 0xfffd;
      if (point < 0x800) bytes += String.fromCharCode(0xc0 | (point >> 6), 0x80 | (point & 63));
      else if (point < 0x10000) bytes += String.fromCharCode(0xe0 | (point >> 12), 0x80 | ((point >> 6) & 63), 0x80 | (point & 63));
      else bytes += String.fromCharCode(0xf0 | (point >> 18), 0x80 | ((point >> 12) & 63), 0x80 | ((point >> 6) & 63), 0x80 | (point & 63));
    }
  }
  return bytes;
}

const decoder = new TextDecoder('utf-8');

/** UTF-8 bytes as a one-byte string → characters. Free for ASCII. Invalid sequences become U+FFFD. */
export function fromBytes(bytes: string): string {
  if (!NOT_ASCII.test(bytes)) return bytes;
  const array = new Uint8Array(bytes.length);
  for (let i = 0; i < bytes.length; i++) array[i] = bytes.charCodeAt(i);
  return decoder.decode(array);
}
