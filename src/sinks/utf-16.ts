/** UTF-16 for files of targets that ask for it. */
import type { QuadSink } from './sink.ts';

const LITTLE_ENDIAN_MARK = '\xff\xfe';

/**
 * A sink that takes UTF-8 in one-byte text, in pieces that end between characters, and passes UTF-16 in one-byte text to `inner`, which it
 * owns: a byte order mark, then little-endian.
 */
export function inUtf16(inner: QuadSink): QuadSink {
  let mark = LITTLE_ENDIAN_MARK;
  return {
    write(text) {
      const characters = Buffer.from(text, 'latin1').toString('utf8');
      const bytes = mark + Buffer.from(characters, 'utf16le').toString('latin1');
      mark = '';
      return inner.write(bytes);
    },
    async commit() {
      if (mark !== '') await inner.write(mark);
      return inner.commit();
    },
    abort: () => inner.abort(),
  };
}
