/** `quadmill run --dataset`: a run that makes a version of a dataset. */
import type { ChangesBy } from '../../src/datasets/manifest.ts';
import type { WholeOutputs } from '../../src/datasets/run.ts';
import type { RunRequest } from '../../src/run/request.ts';
import type { QuadSink } from '../../src/sinks/sink.ts';
import type { PolledReport } from '../../src/streams/polling/report.ts';
import { runOrPoll } from '../../src/streams/polling/run.ts';
import { type Parsed, UsageError } from '../command-line.ts';
import { EXIT } from '../exit.ts';
import { withInterruption } from '../interruption.ts';
import { formFor, openOutput, refuseOverwritingInputs, targetOf } from '../options/output.ts';
import { declaredPrefixes } from '../options/prefixes.ts';
import { TargetFiles, WITH_PREFIXES } from '../options/targets.ts';
import { reasonsToFail } from '../report/fail-on.ts';
import { RejectionLog, Rejections } from '../report/rejections.ts';
import { printReport } from '../report/report.ts';
import { statsOf } from '../report/stats.ts';
import { count, printError, printLine, progressLine } from '../terminal.ts';
import { datasetPlace } from './place.ts';

/** @throws UsageError */
export async function runIntoDataset(request: RunRequest, parsed: Parsed): Promise<number> {
  for (const name of ['limit', 'property-graph', 'no-distinct'])
    if (parsed.has(name)) throw new UsageError(`--dataset keeps the whole graph, each statement once: leave out --${name}`);
  return withInterruption('the dataset is as it was', async (signal) => {
    const place = datasetPlace(parsed.value('dataset') as string);
    const log = request.onError === 'quarantine' ? new RejectionLog(`${parsed.value('dataset')}.rejected.ndjson`) : undefined;
    const rejections = new Rejections(log);
    const line = progressLine();
    const outputs = parsed.has('output') ? await openOutputs(request, parsed) : undefined;
    let made: PolledReport;
    try {
      const reject = (rejection: Parameters<Rejections['add']>[0]): void => rejections.add(rejection);
      const hooks = { signal, progress: line.update, reject };
      made = await runOrPoll(place, request, hooks, outputs?.whole, { by: changesBy(parsed) }, parsed.has('whole'));
      await outputs?.commit();
      log?.close();
    } catch (error) {
      await outputs?.abort();
      if (signal.aborted) log?.discard();
      else log?.close();
      throw error;
    } finally {
      line.clear();
      outputs?.close();
    }
    const { report } = made;
    if (report !== undefined) printReport(report, rejections, true, undefined);
    printLine(summaryOf(made));
    if (parsed.has('stats')) printLine(JSON.stringify({ ...(report && statsOf(report)), ...numbersOf(made) }));
    const reasons = report === undefined ? [] : reasonsToFail(report, parsed.values('fail-on'));
    for (const reason of reasons) printError(reason);
    return reasons.length === 0 ? EXIT.done : EXIT.incomplete;
  });
}

/** Whether a triples map gives no statement is known when all records are mapped. */
const changesBy = (parsed: Parsed): ChangesBy | undefined =>
  (parsed.value('changes-by') as ChangesBy | undefined) ?? (parsed.values('fail-on').includes('empty') ? 'output' : undefined);

function summaryOf({ name, version, previousVersion, added, removed, changesBy, reason, rowsRead }: PolledReport): string {
  const way =
    rowsRead !== undefined
      ? `, ${count(rowsRead)} ${rowsRead === 1 ? 'row' : 'rows'} read from the database`
      : changesBy === undefined
        ? ', no input was read'
        : changesBy === 'record'
          ? ', by record'
          : reason === undefined || previousVersion === 0
            ? ''
            : `, by output: ${reason}`;
  if (version > previousVersion)
    return `dataset ${name}: version ${version}, ${count(added)} statements added, ${count(removed)} removed${way}`;
  return `dataset ${name}: nothing has changed since version ${version}${way}`;
}

const numbersOf = ({ name, version, previousVersion, added, removed, statements, changesBy, reason, rowsRead }: PolledReport) => ({
  dataset: name,
  version,
  previousVersion,
  added,
  removed,
  statements,
  ...(changesBy === undefined ? {} : { changesBy }),
  ...(reason === undefined ? {} : { reason }),
  ...(rowsRead === undefined ? {} : { rowsRead }),
});

/** The files of the whole graph: that of `-o`, and those of logical targets. */
async function openOutputs(request: RunRequest, parsed: Parsed) {
  const path = targetOf(parsed);
  const form = formFor(path, parsed.value('format'));
  await refuseOverwritingInputs(path, [...request.mappings, ...request.inputs.map(({ url }) => url)]);
  const prefixes = WITH_PREFIXES.has(form.format) ? await declaredPrefixes(request) : undefined;
  const output = await openOutput(path, form, prefixes);
  const targets = new TargetFiles(request, path);
  const files = new Map<string | undefined, QuadSink>([[undefined, output.sink]]);
  const whole: WholeOutputs = {
    async openTarget(target) {
      const sink = await targets.open(target);
      files.set(target.path, sink);
      return sink;
    },
    of: (target) => files.get(target),
  };
  return {
    whole,
    async commit() {
      await targets.commit();
      await output.sink.commit();
    },
    async abort() {
      await targets.abort();
      await output.sink.abort();
    },
    close: () => output.close(),
  };
}
