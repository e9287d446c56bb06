/** Compresses what a sink gets: gzip, zip, and archives of tar with gzip or xz. */

import type { Duplex } from 'node:stream';
import { createGzip } from 'node:zlib';
import { type Compression, withoutCompression } from '../../storage/compression.ts';
import type { QuadSink } from '../sink.ts';
import { tarred } from './tar.ts';
import { Through } from './through.ts';
import { createXz } from './xz.ts';
import { zipped } from './zip.ts';

export interface PackingOptions {
  readonly compression: Exclude<Compression, 'none'>;
  /** Of gzip; undefined: 6. */
  readonly level?: number | undefined;
  /** Name of the file that is written: an archive holds one of the same name without the ending of the compression. */
  readonly name: string;
  /** For the name in an archive, if `name` has no ending of a compression. */
  readonly extension: string;
  /** Path of a file that nothing else uses; archives of tar need one. */
  readonly spoolPath: string;
}

/**
 * A sink that takes bytes as one-byte text, and passes the compressed bytes to `inner`, which it owns.
 *
 * @throws Fault sink/failed
 */
export async function packed(inner: QuadSink, options: PackingOptions): Promise<QuadSink> {
  switch (options.compression) {
    case 'gzip':
      return streamed(inner, createGzip({ level: options.level }));
    case 'zip':
      return zipped(inner, entryOf(options));
    case 'targz':
      return tarred(streamed(inner, createGzip()), entryOf(options), options.spoolPath);
    case 'tarxz': {
      const xz = await createXz();
      return tarred(streamed(inner, xz), entryOf(options), options.spoolPath).catch((error) => {
        xz.destroy();
        throw error;
      });
    }
  }
}

export function streamed(inner: QuadSink, stream: Duplex): QuadSink {
  const through = new Through(stream, (bytes) => inner.write(bytes));
  return {
    write: (bytes) => through.write(bytes),
    async commit() {
      await through.end();
      return inner.commit();
    },
    async abort() {
      through.destroy();
      await inner.abort();
    },
  };
}

function entryOf({ name, extension }: PackingOptions): string {
  const plain = withoutCompression(name);
  return plain === name || plain === '' ? `${name}.${extension}` : plain;
}
