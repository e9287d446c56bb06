/** The compressions of files, and the file names that imply them. An archive holds one file. */
import { fileNameOf } from './url.ts';

/** As RML-IO names them: `targz` and `tarxz` are archives of tar, compressed with gzip and xz. */
export const COMPRESSIONS = ['none', 'gzip', 'zip', 'targz', 'tarxz'] as const;
export type Compression = (typeof COMPRESSIONS)[number];

/** The longer ending first: an archive of tar is more than its compression. */
const ENDINGS: readonly (readonly [RegExp, Compression])[] = [
  [/\.(?:tar\.gz|tgz)$/i, 'targz'],
  [/\.(?:tar\.xz|txz)$/i, 'tarxz'],
  [/\.zip$/i, 'zip'],
  [/\.gz$/i, 'gzip'],
];

/** The compression that the name of a file implies. @param url or path */
export function compressionByName(url: string): Compression {
  const name = fileNameOf(url);
  return ENDINGS.find(([ending]) => ending.test(name))?.[1] ?? 'none';
}

/** The compression that the media type of an answer names. */
export function compressionByType(mediaType: string | undefined): Compression {
  if (/^application\/(?:zip|x-zip-compressed)$/.test(mediaType ?? '')) return 'zip';
  return /^application\/(?:x-)?gzip$/.test(mediaType ?? '') ? 'gzip' : 'none';
}

/** A file name without the ending that implies a compression: `a.csv` for `a.csv.gz` and `a.csv.tar.xz`. */
export function withoutCompression(name: string): string {
  const ending = ENDINGS.find(([one]) => one.test(name))?.[0];
  return ending === undefined ? name : name.replace(ending, '');
}
