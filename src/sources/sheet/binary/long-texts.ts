/**
 * Texts of XLS, which go on in other records where one is not large enough: those that cells share, and those of formulas.
 *
 * @see [MS-XLS] 2.5.293, 2.4.265 and 2.4.58
 */
import { toBytes } from '../../../core/text.ts';
import { damaged } from '../package/archive.ts';
import { characters, tooLong } from './records.ts';

/**
 * Each text as one-byte UTF-8.
 *
 * @param pieces the content of the first record from its texts on, and of those that continue it
 * @param maxBytes of a text
 * @throws Fault source/malformed — texts are missing; limit/exceeded. RangeError — a text is cut off
 */
export function* longTexts(pieces: readonly Buffer[], count: number, input: string, maxBytes: number): Generator<string> {
  let [bytes] = pieces as [Buffer];
  let piece = 0;
  let at = 0;
  const goOn = (): void => {
    const next = pieces[++piece];
    if (next === undefined) throw damaged(input, 'texts are missing');
    bytes = next;
    at = 0;
  };
  for (let i = 0; i < count; i++) {
    while (at >= bytes.length) goOn();
    let missing = bytes.readUInt16LE(at);
    const flags = bytes.readUInt8(at + 2);
    at += 3;
    let wide = (flags & 1) === 1;
    // Bytes behind the text that are passed over: its formats and phonetic hints.
    let skip = 0;
    if ((flags & 8) !== 0) {
      skip += 4 * bytes.readUInt16LE(at);
      at += 2;
    }
    if ((flags & 4) !== 0) {
      skip += bytes.readUInt32LE(at);
      at += 4;
    }
    let text = '';
    for (;;) {
      const width = wide ? 2 : 1;
      const here = Math.min(missing, Math.floor((bytes.length - at) / width));
      text += characters(bytes, at, here, wide);
      if (text.length > maxBytes) throw tooLong(input, maxBytes);
      at += here * width;
      missing -= here;
      if (missing === 0) break;
      goOn();
      // Characters may be stored in another width from here on.
      wide = (bytes.readUInt8(0) & 1) === 1;
      at = 1;
    }
    for (; skip > bytes.length - at; goOn()) skip -= bytes.length - at;
    at += skip;
    yield toBytes(text);
  }
}
