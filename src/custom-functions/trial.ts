/** Tries a set in a separate thread, so that code that computes for long stops nothing else. */
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { compiled } from '../core/compiled.ts';
import { Fault, type FaultData } from '../core/fault.ts';
import { tryExamples } from './examples.ts';
import type { FunctionFiles } from './files.ts';
import { openFunctions } from './open.ts';

interface TrialTask {
  readonly kind: 'try functions';
  readonly files: FunctionFiles;
}

type TrialAnswer = { readonly iris: readonly string[] } | { readonly fault: FaultData };

/**
 * Loads the code of a set and tries the examples of its description. Resolves to the IRIs of its functions.
 *
 * @throws Fault functions/invalid
 */
export function tryFunctions(files: FunctionFiles): Promise<readonly string[]> {
  const task: TrialTask = { kind: 'try functions', files };
  const thread = new Worker(compiled('src/custom-functions/trial.js'), { workerData: task });
  return new Promise((resolve, reject) => {
    thread.once('message', (answer: TrialAnswer) => {
      if ('iris' in answer) resolve(answer.iris);
      else reject(Fault.from(answer.fault));
    });
    thread.once('error', reject);
    // Has no effect after an answer or an error.
    thread.once('exit', (code) => reject(new Error(`the thread that tries custom functions ended with code ${code}`)));
  });
}

/** As `tryFunctions`, in this thread. */
export async function tryHere(files: FunctionFiles): Promise<readonly string[]> {
  const opened = await openFunctions(files);
  try {
    opened.start();
    tryExamples(opened.definitions);
    return opened.definitions.map(({ iri }) => iri);
  } finally {
    opened.close();
  }
}

/** Runs in the thread. Other threads that load this module have other tasks. */
if (!isMainThread && (workerData as Partial<TrialTask> | null)?.kind === 'try functions') {
  const answer = (given: TrialAnswer): void => parentPort?.postMessage(given);
  void tryHere((workerData as TrialTask).files).then(
    (iris) => answer({ iris }),
    (error: unknown) => answer({ fault: Fault.of(error).toJSON() }),
  );
}
