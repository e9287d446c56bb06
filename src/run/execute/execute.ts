/** Executes the scans of a plan, one after the other: pushes each record to what it feeds, then ends what has waited. */
import { boundOf, recordsFault } from '../../core/limits.ts';
import type { Check } from '../../plan/algebra.ts';
import type { ScanPlan } from '../../plan/plan.ts';
import type { Batch, OpenedScan } from '../../sources/source.ts';
import type { SpillSpace } from '../../spill/space.ts';
import type { Labels } from '../../terms/evaluate.ts';
import { addKept, type OutputText } from '../compile/output.ts';
import type { MapProgram } from '../compile/program.ts';
import type { LineSpill, RuleWriter, SubjectSpill } from '../distinct/spill.ts';
import type { PairingMemory } from '../join/join.ts';
import { joinReports, mergeJoins } from '../join/reports.ts';
import { checkKeys } from '../nodes/check/row-check.ts';
import type { Numbering } from '../nodes/gather/numbering.ts';
import type { Pipeline } from '../nodes/pipeline.ts';
import type { ReifiedLines } from '../nodes/reify.ts';
import { pairWarnings, warningsOf } from '../report.ts';
import type { JoinReport, RunReport } from '../request.ts';
import { type Consumers, compileConsumers, joinsOf, programsOf, type RunContext } from './consumers.ts';
import type { StatementSink } from './outputs.ts';
import { before } from './preview.ts';
import { openTextFormats } from './text-formats.ts';
import { unmatchedReferences } from './unmatched.ts';

/** Records that are mapped before a check whether something must be written. */
const DUE_RECORDS = 64;

/** The scans of a run, opened by `executeScans`. */
export interface ScanRun extends RunContext {
  /** By output. */
  readonly numberings: readonly Numbering[];
  /** Where data goes that does not fit in memory. */
  readonly space: SpillSpace;
  readonly subjects: SubjectSpill;
  /** By number of a rule: of those in `subjects`. */
  readonly writers: readonly RuleWriter[];
  readonly lines: LineSpill;
  /** undefined: no rule is reified. */
  readonly reified: ReifiedLines | undefined;
  readonly sink: StatementSink;
}

export class Execution {
  readonly warnings: string[] = [];
  /** Inputs of which records were left out. */
  readonly cut = new Set<string>();
  /** For a slice of a document: warnings that other slices may contradict; undefined: there was no record. */
  unmatched: RunReport['unmatched'];

  readonly #run: ScanRun;
  /** Pipelines with rows that wait for the build side of a join. */
  readonly #unfinished: Pipeline[] = [];
  /** What the records of each scan feed. */
  readonly #scanned: (readonly Consumers[])[] = [];
  #bytesBefore = 0;
  #rowsInPart = 0;

  constructor(run: ScanRun) {
    this.#run = run;
  }

  get programs(): readonly MapProgram[] {
    return this.#scanned.flat().flatMap(programsOf);
  }

  /** All joins; of inputs of which records were left out, none. */
  get joins(): readonly JoinReport[] {
    return this.cut.size > 0 ? [] : mergeJoins(this.#scanned.flatMap((consumers) => joinReports(consumers.flatMap(joinsOf))));
  }

  /** Reads the records of a scan once, for all of its triples maps and joins, and closes it. */
  async scan(plan: ScanPlan, labels: Labels, opened: OpenedScan): Promise<void> {
    const { scan, name } = opened;
    const { request, writer, first, hooks } = this.#run;
    const { slice: share } = request;
    const part = `${share === undefined ? '' : `s${share.index}`}${plan.document === undefined ? '' : `d${plan.document}`}`;
    writer.input = name;
    try {
      const texts = await openTextFormats(plan, name, request);
      const document = { ...opened, labels, part, texts, document: plan.document };
      const consumers = plan.iterations.map((iteration, index) => compileConsumers(iteration, index, document, this.#run));
      const number = this.#scanned.push(consumers);
      for (const program of consumers.flatMap(programsOf)) program.scan = number;
      const wanted = plan.iterations.map((iteration) => first.read(iteration));
      const open = new Set(wanted.keys());
      for await (const batch of opened.batches?.() ?? scan.batches(hooks.signal ?? new AbortController().signal)) {
        const consumer = consumers[batch.iteration];
        if (consumer === undefined) continue;
        const end = wanted[batch.iteration] as number;
        const part = before(end, batch);
        if (part.records.length > 0) await (plan.source.kind === 'file' ? this.#map(part, consumer) : this.#mapRows(part, consumer));
        writer.bytesRead = this.#bytesBefore + batch.bytes;
        await writer.yieldToEventLoop();
        const seen = batch.first + batch.records.length;
        if (seen > first.count) this.cut.add(name);
        // One record more than is wanted tells whether there are more.
        if (seen > end && open.delete(batch.iteration) && open.size === 0) break;
      }
      for (const { records, pipelines } of consumers) {
        for (const { program } of records) program?.finish();
        for (const pipeline of pipelines) {
          if (pipeline.hold()) this.#unfinished.push(pipeline);
          else pipeline.finish();
        }
      }
      this.#bytesBefore = writer.bytesRead;
      this.#reportUnmatched(plan, opened, consumers);
    } finally {
      await opened.close();
    }
  }

  /** Ends the pipelines with rows that wait, each when its build sides are complete. Views refer to each other in no circle, so one always can. */
  async #endPipelines(memory: PairingMemory): Promise<void> {
    while (this.#unfinished.length > 0) {
      const at = this.#unfinished.findIndex(({ canEnd }) => canEnd);
      const [pipeline] = this.#unfinished.splice(at, 1);
      if (at < 0 || pipeline === undefined) throw new Error('joins of views wait for each other');
      await this.#run.writer.takeLast(pipeline.end(memory));
    }
  }

  /** Makes the deferred joins, then processes the spilled data. */
  async finish(): Promise<void> {
    const { plan, state, space, numberings, subjects, writers, lines, reified, writer } = this.#run;
    const { budget, outputs } = state;
    writer.input = undefined;
    await this.#endPipelines({ budget, space });
    for (const [index, keys] of state.keys.entries()) if (keys !== undefined) await checkKeys(plan.checks[index] as Check, keys);
    this.warnings.push(...pairWarnings(plan, this.programs));
    for (const ending of state.endings) await writer.takeLast(ending.end({ budget, space }));
    for (const [number, numbering] of numberings.entries()) {
      for await (const made of numbering.finish()) {
        for (const line of made) (outputs[number] as OutputText).addLine(line);
        writer.cut();
        await writer.yieldToEventLoop();
      }
    }
    state.overlapping.drop();
    // Subjects first: what they leave undecided is added to the lines.
    for await (const made of subjects.drain(budget, lines, writers)) await writer.take(made);
    for await (const batch of lines.drain(budget)) await this.#addKept(batch);
    for await (const batch of reified?.drain() ?? []) await this.#addKept(batch);
    await writer.flush();
    writer.reportProgress();
  }

  async #addKept(batch: readonly string[]): Promise<void> {
    const { state, writer } = this.#run;
    for (const lines of batch) {
      addKept(state.outputs, lines);
      writer.cut();
    }
    await writer.yieldToEventLoop();
  }

  async #map(
    { records, first, lineOf, identityOf, page, took }: Batch,
    { reading, records: consumers, pipelines }: Consumers,
  ): Promise<void> {
    const { request, writer } = this.#run;
    const { limits } = request;
    writer.records += records.length;
    if (writer.records > boundOf(limits.records)) throw recordsFault(limits.records, { input: reading.input });
    Object.assign(reading, { records, first, lineOf, identityOf, page });
    for (const operator of [...consumers, ...pipelines]) {
      for (let i = 0; i < records.length; i++) {
        reading.position = first + i;
        took?.(i);
        const made = operator.push(records[i], first + i);
        if (made !== undefined) await writer.take(made);
        writer.cut();
        if (i % DUE_RECORDS === DUE_RECORDS - 1 && writer.isDue) await writer.yieldToEventLoop();
      }
    }
    Object.assign(reading, { records: [], position: undefined });
  }

  /** For database rows: `rowsPerPart` of them per part of the output. */
  async #mapRows(batch: Batch, consumers: Consumers): Promise<void> {
    const { request, writer, sink } = this.#run;
    const { rowsPerPart } = request;
    if (rowsPerPart === undefined) return this.#map(batch, consumers);
    for (let from = 0; from < batch.records.length; ) {
      if (this.#rowsInPart >= rowsPerPart) {
        await writer.flush();
        await sink.rollOver?.();
        this.#rowsInPart = 0;
      }
      const records = batch.records.slice(from, from + rowsPerPart - this.#rowsInPart);
      await this.#map({ ...batch, records, first: batch.first + from }, consumers);
      this.#rowsInPart += records.length;
      from += records.length;
    }
  }

  /** For a slice, another one may have what this one has not. */
  #reportUnmatched(plan: ScanPlan, { scan, name: input, recordsFrom }: OpenedScan, consumers: readonly Consumers[]): void {
    const { request, plan: whole, first } = this.#run;
    const isCut = this.cut.has(input);
    const iterations = consumers.map((of) => ({
      programs: programsOf(of),
      unmatched: of.pipelines.flatMap((pipeline) => pipeline.unmatched),
    }));
    const { hasRecords, faults } = unmatchedReferences(plan, scan, iterations, input, isCut ? first.count : undefined);
    if (recordsFrom === undefined) this.warnings.push(...warningsOf(faults, isCut ? undefined : request.onError));
    else if (hasRecords) {
      const before = this.unmatched?.faults ?? [];
      this.unmatched = { scan: whole.scans.indexOf(plan), faults: [...before, ...faults.map((fault) => fault.toJSON())] };
    }
    this.warnings.push(...(scan.warnings?.() ?? []));
  }
}
