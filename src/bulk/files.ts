/** The statements of a write as files of N-Quads, for a loader: a target like the others, so that what no store takes is rejected as always. */
import { rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Fault } from '../core/fault.ts';
import type { Statement } from '../nquads/statement.ts';
import { type FileSink, openFileSink, partName } from '../sinks/file.ts';
import type { GraphTarget } from '../targets/target.ts';

export interface BulkFilesOptions {
  /** Absolute; created if missing. */
  readonly directory: string;
  /** Unique there, without extension. */
  readonly name: string;
  /** The product, for messages. */
  readonly product: string;
  readonly takesTripleTerms: boolean;
  /** Name of the graph of statements that have none, as a term of N-Quads; undefined: they stay without. */
  readonly defaultGraph: string | undefined;
}

export interface BulkFiles extends GraphTarget {
  /** @returns absolute paths, at least one. @throws Fault sink/failed */
  finish(): Promise<readonly string[]>;
  /** Removes every file. */
  remove(): Promise<void>;
}

/** Loaders take files side by side. */
const FILE_BYTES = 256 * 2 ** 20;

/** @throws Fault sink/failed */
export async function openBulkFiles(options: BulkFilesOptions): Promise<BulkFiles> {
  const { directory, product, takesTripleTerms } = options;
  const name = `${options.name}.nq`;
  const sink: FileSink = await openFileSink({ directory, name, format: 'nquads', attempt: 'bulk', digest: false });
  const ending = options.defaultGraph === undefined ? ' .\n' : ` ${options.defaultGraph} .\n`;
  let paths: string[] = [];
  let bytes = 0;
  const textOf = (statements: readonly Statement[]): string =>
    statements
      .map(({ subject, predicate, object, graph }) => `${subject} ${predicate} ${object}${graph === '' ? ending : ` ${graph} .\n`}`)
      .join('');
  return {
    describe: () => `the files for the loader of ${product}`,
    sizes: { first: 10_000, least: 10_000, most: 10_000, inFlight: 1 },
    takesBlankNodes: false,
    takesTripleTerms,
    probe: async () => ({ product, milliseconds: 0 }),
    prepare: async () => undefined,
    async insert(statements) {
      const text = textOf(statements);
      await sink.write(text);
      bytes += text.length;
      if (bytes < FILE_BYTES) return;
      await sink.rollOver?.();
      bytes = 0;
    },
    replace: unsupported,
    replaceGraph: unsupported,
    async finish() {
      const parts = await sink.finish();
      for (const [i, { file }] of parts.entries()) {
        const path = join(directory, partName(name, i + 1));
        await rename(join(directory, file), path);
        paths.push(path);
      }
      return paths;
    },
    async remove() {
      await sink.abort();
      for (const path of paths) await rm(path, { force: true });
      paths = [];
    },
    close: async () => undefined,
  };
}

const unsupported = async (): Promise<never> => {
  throw new Fault('config/invalid', 'A loader adds statements, and replaces none', {
    hint: 'Use the mode insert (WRITE_MODE), or leave out --bulk',
  });
};
