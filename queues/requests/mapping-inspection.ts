/**
 * Diagnostics and sources of mapping texts.
 *
 * Ten megabytes of Turtle take seconds to parse, and the event loop must renew locks meanwhile: large texts are read in a thread, one after
 * another.
 */

import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { compiled } from '../../src/core/compiled.ts';
import { Fault } from '../../src/core/fault.ts';
import { type DescribedSet, describedFunctions } from '../../src/custom-functions/open.ts';
import type { Diagnostic } from '../../src/mapping/model/model.ts';
import { allSourcesOf } from '../../src/mapping/model/model.ts';
import { readMapping } from '../../src/mapping/parse/read.ts';

export interface MappingText {
  readonly name: string;
  readonly text: string;
}

/** A source of a mapping, with the names by which a request may bind it. */
export interface MappingSource {
  /** As written in `rml:source` or its path; shown in messages. */
  readonly path: string;
  /** IRIs of the logical source and of the source. */
  readonly iris: readonly string[];
}

export interface MappingInspection {
  readonly diagnostics: readonly Diagnostic[];
  readonly triplesMaps: number;
  /** File sources, each path once. */
  readonly sources: readonly MappingSource[];
}

interface InspectionTask {
  readonly kind: 'inspect mapping';
  readonly documents: readonly MappingText[];
  readonly base: string;
  readonly functions: DescribedSet | undefined;
}

/** Texts up to this size are read in the calling thread, which takes milliseconds. */
const MAX_INLINE_CHARACTERS = 64 * 2 ** 10;
let last: Promise<unknown> = Promise.resolve();

/**
 * Inspects one mapping, or all mappings of a directory.
 *
 * @param functions custom functions, which the mapping may call
 * @throws Fault limit/exceeded — more memory needed than a thread has
 */
export async function inspectMapping(
  documents: readonly MappingText[],
  base: string,
  functions?: DescribedSet,
): Promise<MappingInspection> {
  if (documents.reduce((sum, { text }) => sum + text.length, 0) <= MAX_INLINE_CHARACTERS) return inspect(documents, base, functions);
  const inspection = last.then(() => inspectInThread({ kind: 'inspect mapping', documents, base, functions }));
  last = inspection.catch(() => undefined);
  return inspection;
}

function inspectInThread(task: InspectionTask): Promise<MappingInspection> {
  const thread = new Worker(compiled('queues/requests/mapping-inspection.js'), { workerData: task });
  return new Promise((resolve, reject) => {
    thread.once('message', resolve);
    thread.once('error', (error: NodeJS.ErrnoException) => {
      const tooLarge = error.code === 'ERR_WORKER_OUT_OF_MEMORY';
      const message = 'The mapping needs more memory than a thread has';
      reject(tooLarge ? new Fault('limit/exceeded', message, { hint: 'Split it', cause: error }) : error);
    });
    // Has no effect after an answer or an error.
    thread.once('exit', (code) => reject(new Error(`the thread that reads a mapping ended with code ${code}`)));
  });
}

async function inspect(documents: readonly MappingText[], base: string, described: DescribedSet | undefined): Promise<MappingInspection> {
  const functions = described && describedFunctions(described);
  const { mapping, diagnostics } = await readMapping(documents, { baseIri: base, separate: true, functions });
  const byPath = new Map<string, Set<string>>();
  for (const source of allSourcesOf(mapping)) {
    if (source.kind !== 'file') continue;
    const iris = byPath.get(source.path) ?? new Set();
    byPath.set(source.path, iris);
    for (const id of source.ids) if (!id.startsWith('_:')) iris.add(id);
  }
  const sources = [...byPath].map(([path, iris]) => ({ path, iris: [...iris] }));
  return { diagnostics, triplesMaps: mapping.triplesMaps.length, sources };
}

/** Runs in the thread. Other threads that load this module have other tasks. */
if (!isMainThread && (workerData as Partial<InspectionTask> | null)?.kind === 'inspect mapping') {
  const { documents, base, functions } = workerData as InspectionTask;
  void inspect(documents, base, functions).then((inspection) => parentPort?.postMessage(inspection));
}
