/** Digests of one-byte text. This file alone knows the library of hashes, which also runs without Node. */
import { md5, sha1 } from '@noble/hashes/legacy.js';
import { sha256, sha384, sha512 } from '@noble/hashes/sha2.js';

const DIGESTS = { md5, sha1, sha256, sha384, sha512 } as const;

const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));

/** The digest in hexadecimal digits. */
export function digest(algorithm: keyof typeof DIGESTS, text: string): string {
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  let digits = '';
  for (const byte of DIGESTS[algorithm](bytes)) digits += HEX[byte];
  return digits;
}
