/** `quadmill run --watch`: runs again when the mapping or a local input has changed, and prints which statements did. */
import { LinkedAbort } from '../../src/core/abort.ts';
import type { RunReport, RunRequest } from '../../src/run/request.ts';
import { executeRun } from '../../src/run/run.ts';
import { locate } from '../../src/storage/url.ts';
import { EXIT, failed } from '../exit.ts';
import { interruptible } from '../interruption.ts';
import { Rejections } from '../report/rejections.ts';
import { printReport } from '../report/report.ts';
import { count, printData, printLine } from '../terminal.ts';
import { WatchedFiles } from './files.ts';
import { differenceOf, Statements } from './statements.ts';

/** Changed statements that are printed. */
const SHOWN = 40;

/** Runs until it is interrupted; resolves to the exit code. A run that fails prints why, and the next one is compared with the last that did not. */
export async function watch(request: RunRequest): Promise<number> {
  const interruption = interruptible();
  const ending = new LinkedAbort([interruption.signal]);
  const { signal } = ending;
  const readerLeft = (): void => ending.abort();
  process.stdout.on('error', readerLeft);
  const files = new WatchedFiles();
  const mappings = localPaths(request.mappings, request);
  let inputs = localPaths(
    request.inputs.map(({ url }) => url),
    request,
  );
  let before: readonly string[] | undefined;
  try {
    while (true) {
      await files.watch([...mappings, ...inputs]);
      const found = await attempt(request, signal, async (urls) => {
        inputs = localPaths(urls, request);
        await files.watch([...mappings, ...inputs]);
      });
      signal.throwIfAborted();
      if (found !== undefined) {
        printChanges(before, found.statements, found.report);
        before = found.statements;
      }
      printLine('waiting for changes; Ctrl-C ends');
      await files.changed(signal);
    }
  } catch (error) {
    if (signal.aborted) return interruption.signal.aborted ? EXIT.interrupted : EXIT.brokenPipe;
    throw error;
  } finally {
    process.stdout.off('error', readerLeft);
    ending.release();
    interruption.end();
  }
}

interface Attempt {
  readonly statements: readonly string[];
  readonly report: RunReport;
}

/** A run; undefined: it failed, and that was printed. */
async function attempt(
  request: RunRequest,
  signal: AbortSignal,
  located: (urls: readonly string[]) => Promise<void>,
): Promise<Attempt | undefined> {
  const statements = new Statements();
  const rejections = new Rejections(undefined);
  const sink = { write: (lines: string) => statements.add(lines), commit: async () => [], abort: async () => undefined };
  const openTarget = async ({ path }: { readonly path: string }) => ({ write: (lines: string) => statements.add(lines, path) });
  try {
    const report = await executeRun(request, sink, { signal, located, openTarget, reject: (rejection) => rejections.add(rejection) });
    printReport(report, rejections, true, request.firstRecords);
    return { statements: statements.sorted(), report };
  } catch (error) {
    if (!signal.aborted) failed(error);
    return undefined;
  }
}

function printChanges(before: readonly string[] | undefined, after: readonly string[], report: RunReport): void {
  const { lines, added, removed } = differenceOf(before ?? [], after, SHOWN);
  if (lines.length > 0) printData(`${lines.join('\n')}\n`);
  const left = added + removed - lines.length;
  if (left > 0) printLine(`… and ${count(left)} more, which are not shown`);
  const total = `${count(after.length)} ${after.length === 1 ? 'statement' : 'statements'} from ${count(report.records)} ${report.records === 1 ? 'record' : 'records'}`;
  if (before === undefined) printLine(total);
  else if (added + removed === 0) printLine(`${total}: nothing changed`);
  else printLine(`${total}: ${count(added)} added, ${count(removed)} removed`);
}

const localPaths = (urls: readonly string[], { workingDirectory }: RunRequest): readonly string[] =>
  urls.flatMap((url) => {
    const location = locate(url, workingDirectory);
    return location.kind === 'file' ? [location.path] : [];
  });
