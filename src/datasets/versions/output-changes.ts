/** The files of what a version changes. */
import { createReadStream } from 'node:fs';
import { join } from 'node:path';
import { createGunzip } from 'node:zlib';
import { openFileSink } from '../../sinks/file.ts';
import type { PartFile, QuadSink } from '../../sinks/sink.ts';
import { type ChangedLines, wholeLines } from '../changes.ts';
import { fileName } from '../dataset.ts';
import type { ChangeSink } from '../graphs/compare.ts';
import type { FileKind, VersionFile } from '../manifest.ts';
import type { VersionRun } from './contract.ts';
import { TEMPORARY } from './state.ts';

/** 100 MB of N-Quads take 0.15 s of processor time, as by level 1, and a quarter more room than by level 6, which takes 0.47 s. */
const CHANGES_LEVEL = 2;

/** The files of what a run changes in an output. */
export class OutputChanges {
  readonly target: string | undefined;
  added = 0;
  removed = 0;
  readonly files: VersionFile[] = [];
  readonly #directory: string;
  readonly #nameOf: (kind: FileKind) => string;
  readonly #sinks = new Map<FileKind, QuadSink>();

  constructor(target: string | undefined, directory: string, nameOf: (kind: FileKind) => string) {
    this.target = target;
    this.#directory = directory;
    this.#nameOf = nameOf;
  }

  /** @param whole takes every statement of the new graph */
  sink(whole: Pick<QuadSink, 'write'> | undefined): ChangeSink {
    return {
      added: (lines) => {
        this.added += lines.length;
        return this.writeAdded(lines.join(''));
      },
      removed: (lines) => {
        this.removed += lines.length;
        return this.#write('removed', lines.join(''));
      },
      kept: (lines) => this.#write('kept', lines.join('')),
      ...(whole === undefined ? {} : { whole: async (lines: readonly string[]) => whole.write(lines.join('')) }),
    };
  }

  /** Statements that the caller counts. */
  writeAdded(lines: string): Promise<void> {
    return this.#write('added', lines);
  }

  async #write(kind: FileKind, lines: string): Promise<void> {
    if (lines === '') return;
    let sink = this.#sinks.get(kind);
    if (sink === undefined) {
      sink = await openFileSink({
        directory: this.#directory,
        name: this.#nameOf(kind),
        attempt: 1,
        format: 'nquads',
        compression: 'gzip',
        level: CHANGES_LEVEL,
      });
      this.#sinks.set(kind, sink);
    }
    await sink.write(lines);
  }

  async finish(): Promise<void> {
    for (const [kind, sink] of this.#sinks) {
      const [{ bytes, sha256 }] = (await sink.commit()) as readonly [PartFile];
      this.files.push({ name: this.#nameOf(kind), kind, ...(this.target === undefined ? {} : { target: this.target }), bytes, sha256 });
    }
  }

  async abort(): Promise<void> {
    for (const sink of this.#sinks.values()) await sink.abort();
  }

  /** What was removed, then what was added. After `finish`. */
  async *read(): AsyncGenerator<ChangedLines> {
    for (const kind of ['removed', 'added'] as const) {
      const file = this.files.find((one) => one.kind === kind);
      if (file === undefined) continue;
      for await (const lines of wholeLines(createReadStream(this.pathOf(file)).pipe(createGunzip()))) yield { kind, lines };
    }
  }

  pathOf({ name }: VersionFile): string {
    return join(this.#directory, name);
  }
}

/** @param number of the logical target, from 1; 0: the output of the run */
export function changesOf(run: VersionRun, target: string | undefined, number: number): OutputChanges {
  const { dataset, stateDirectory, request } = run;
  const { files, current } = dataset;
  const mark = files.directory === undefined ? `-${request.runId.slice(-8)}` : '';
  const nameOf = (kind: FileKind): string => fileName(current + 1, mark, kind, number);
  return new OutputChanges(target, join(stateDirectory, TEMPORARY, 'changes'), nameOf);
}
