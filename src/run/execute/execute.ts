/** Executes the scans of a plan, one after the other: batches of records through programs into the sink. */
import { Fault, type FaultPlace } from '../../core/fault.ts';
import { boundOf, checkCounts, recordsFault } from '../../core/limits.ts';
import { policyOf } from '../../mapping/model/model.ts';
import type { Check } from '../../plan/algebra.ts';
import type { Plan, ScanPlan } from '../../plan/plan.ts';
import type { Batch, OpenedScan, Scan } from '../../sources/source.ts';
import type { SpillSpace } from '../../spill/space.ts';
import type { Labels } from '../../terms/evaluate.ts';
import { addKept, type OutputText } from '../compile/output.ts';
import type { Made, MapProgram } from '../compile/program.ts';
import type { LineSpill, SubjectSpill } from '../distinct/spill.ts';

import type { PairingMemory } from '../join/join.ts';
import { joinReports, mergeJoins } from '../join/reports.ts';
import { type CheckState, checkKeys } from '../nodes/check/row-check.ts';
import type { Numbering } from '../nodes/gather/numbering.ts';
import type { ReifiedLines } from '../nodes/reify.ts';
import { pairWarnings, rejectedTooMany, warningsOf } from '../report.ts';
import type { JoinReport, RunHooks, RunReport, RunRequest } from '../request.ts';
import {
  addToBuildSides,
  type Consumer,
  type Consumers,
  compileConsumers,
  isReportedElsewhere,
  joinsOf,
  type PipelineRun,
  programsOf,
} from './consumers.ts';
import type { StatementSink } from './outputs.ts';
import type { Pipeline } from './pipeline.ts';
import { before, type FirstRecords } from './preview.ts';
import type { JoinStep } from './steps.ts';
import { openTextFormats } from './text-formats.ts';
import { unmatchedReferences } from './unmatched.ts';

/** Text goes to the sink in pieces of about this size: small enough for V8 to flatten in the young generation. */
const PIECE_CHARACTERS = 1 << 15;
/** Interval at which the loop yields to the event loop: timers, aborts and messages would starve otherwise. */
const TURN_MS = 25;
const PROGRESS_MS = 100;
/** Number of pieces, pairs and records that are made before a check whether something must be written. */
const PIECES = 4;
const BATCH_PAIRS = 4096;
const DUE_RECORDS = 64;

/** Where the run keeps data that does not fit in memory. */
export interface Spill {
  readonly space: SpillSpace;
  readonly lines: LineSpill;
  readonly subjects: SubjectSpill;
}

/** Where a row comes from, for faults; undefined after joins that were made at the end. */
interface RowPlace {
  readonly input: string | undefined;
  readonly record: number | undefined;
}

/** Very many statements or entries of one row, made while this is consumed: before the next row. */
interface LongPieces {
  readonly consumer: Consumer;
  readonly pieces: Iterable<''>;
}

/** Text for an output, by its number. */
interface Piece {
  readonly output: number;
  readonly text: string;
}

export class Execution {
  records = 0;
  rejected = 0;
  bytesRead = 0;
  readonly programs: MapProgram[] = [];
  readonly warnings: string[] = [];
  /** Inputs of which records were left out. */
  readonly cut = new Set<string>();
  /** For a slice of a document: warnings that other slices may contradict; undefined: there was no record. */
  unmatched: RunReport['unmatched'];

  readonly #request: RunRequest;
  readonly #plan: Plan;
  readonly #state: CheckState;
  /** By output. */
  readonly #numberings: readonly Numbering[];
  readonly #spill: Spill;
  /** undefined: no rule is reified. */
  readonly #reified: ReifiedLines | undefined;
  readonly #sink: StatementSink;
  readonly #hooks: RunHooks;
  readonly #signal: AbortSignal;
  readonly #maxRecords: number;
  readonly #first: FirstRecords;
  /** Records of each iteration that triples maps have. */
  readonly #firstRecords: number;
  readonly #limitsStatements: boolean;
  readonly #startedAt: number;
  /** Pipelines with rows that wait for the right side of a join. */
  readonly #unfinished: PipelineRun[] = [];
  /** What the records of each scan feed. */
  readonly #joined: (readonly Consumers[])[] = [];
  /** Number of scans that were begun. */
  #scans = 0;
  /** The current input. */
  #input: string | undefined;
  #recordsFrom: number | undefined;
  /** The page that is being read, if the document has pages. */
  #page: Batch['page'];
  /** The batch that is mapped. */
  #read: Batch | undefined;
  /** Text for the sink. */
  #pieces: Piece[] = [];
  #turnAt = 0;
  /** Of the scan that is being read. */
  #cellOf: ((record: unknown, reference: string) => string | undefined) | undefined;
  /** Records of which statements were left out. */
  #losses = 0;
  #progressAt = 0;
  #bytesBefore = 0;
  #rowsInPart = 0;

  constructor(
    request: RunRequest,
    plan: Plan,
    first: FirstRecords,
    state: CheckState,
    numberings: readonly Numbering[],
    spill: Spill,
    reified: ReifiedLines | undefined,
    sink: StatementSink,
    hooks: RunHooks,
  ) {
    this.#request = request;
    this.#plan = plan;
    this.#state = state;
    this.#numberings = numberings;
    this.#spill = spill;
    this.#reified = reified;
    this.#sink = sink;
    this.#hooks = hooks;
    this.#signal = hooks.signal ?? new AbortController().signal;
    this.#maxRecords = boundOf(request.limits.records);
    this.#first = first;
    this.#firstRecords = first.count;
    this.#limitsStatements = request.limits.statements > 0;
    this.#startedAt = request.startedAt ?? Date.now();
  }

  get quads(): number {
    return this.#state.outputs.reduce((sum, { statements }) => sum + statements, 0);
  }

  /** All joins; of inputs of which records were left out, none. */
  get joins(): readonly JoinReport[] {
    return this.cut.size > 0 ? [] : mergeJoins(this.#joined.flatMap((consumers) => joinReports(consumers.flatMap(joinsOf))));
  }

  /** Reads the records of a scan once, for all of its triples maps and joins, and closes it. */
  async scan(plan: ScanPlan, labels: Labels, { scan, batches, name, typed, recordsFrom, close }: OpenedScan): Promise<void> {
    const { slice: share } = this.#request;
    const part = `${share === undefined ? '' : `s${share.index}`}${plan.document === undefined ? '' : `d${plan.document}`}`;
    this.#input = name;
    this.#scans++;
    this.#cellOf = scan.cellOf?.bind(scan);
    this.#recordsFrom = recordsFrom;
    try {
      const texts = await openTextFormats(plan, name, this.#request);
      const opened = { name, scan, typed, labels, part, texts, document: plan.document };
      const context = { request: this.#request, plan: this.#plan, first: this.#first, state: this.#state, startedAt: this.#startedAt };
      const consumers = plan.iterations.map((iteration, index) => compileConsumers(iteration, index, opened, context));
      for (const program of consumers.flatMap(programsOf)) {
        program.scan = this.#scans;
        this.programs.push(program);
      }
      this.#joined.push(consumers);
      const wanted = plan.iterations.map((iteration) => this.#first.read(iteration));
      const open = new Set(wanted.keys());
      for await (const batch of batches?.() ?? scan.batches(this.#signal)) {
        const consumer = consumers[batch.iteration];
        if (consumer === undefined) continue;
        this.#page = batch.page;
        const map = (part: Batch): Promise<void> => this.#map(part, consumer, name);
        const end = wanted[batch.iteration] as number;
        const part = before(end, batch);
        if (part.records.length > 0) await (plan.source.kind === 'file' ? map(part) : this.#mapRows(part, map));
        this.bytesRead = this.#bytesBefore + batch.bytes;
        await this.#yieldToEventLoop();
        const seen = batch.first + batch.records.length;
        if (seen > this.#firstRecords) this.cut.add(name);
        // One record more than is wanted tells whether there are more.
        if (seen > end && open.delete(batch.iteration) && open.size === 0) break;
      }
      for (const { records, pipelines } of consumers) {
        for (const { program } of records) program?.finish();
        for (const run of pipelines) this.#end(run);
      }
      this.#bytesBefore = this.bytesRead;
      this.#reportUnmatched(plan, scan, consumers, name);
    } finally {
      this.#page = undefined;
      await close();
    }
  }

  /** After the last record: the rows of a pipeline are complete, or some of them wait for the right side of a join. */
  #end(run: PipelineRun): void {
    if (run.pipeline.waiting !== undefined) {
      this.#unfinished.push(run);
      for (const { index } of run.pipeline.buildSides) index.unfinished++;
    } else for (const { program } of run.consumers) program?.finish();
  }

  /** Makes the joins of rows that wait, each when its right side is complete. Views refer to each other in no circle, so one always is. */
  async #joinRows(): Promise<void> {
    while (this.#unfinished.length > 0) {
      const at = this.#unfinished.findIndex(({ pipeline }) => pipeline.waiting?.probe.build.unfinished === 0);
      const [run] = this.#unfinished.splice(at, 1);
      if (at < 0 || run === undefined) throw new Error('joins of views wait for each other');
      const { pipeline, consumers } = run;
      for await (const row of pipeline.resume(pipeline.waiting as JoinStep, this.#memory)) {
        await this.#mapRow(row, pipeline, consumers, { input: undefined, record: undefined });
        if (this.#due) await this.#yieldToEventLoop();
      }
      await this.#yieldToEventLoop();
      for (const { index } of pipeline.buildSides) index.unfinished--;
      this.#end(run);
    }
  }

  get #memory(): PairingMemory {
    return { budget: this.#state.budget, space: this.#spill.space };
  }

  /** Makes the deferred joins, then processes the spilled data. */
  async finish(): Promise<void> {
    this.#input = undefined;
    await this.#joinRows();
    for (const [index, keys] of this.#state.keys.entries())
      if (keys !== undefined) await checkKeys(this.#plan.checks[index] as Check, keys);
    this.warnings.push(...pairWarnings(this.#plan, this.programs));
    await this.#endings();
    this.#state.overlapping.drop();
    const { subjects, lines } = this.#spill;
    // Subjects first: what they leave undecided is added to the lines.
    for (const spill of [subjects, lines]) {
      for await (const batch of spill.drain(this.#state.budget, lines)) await this.#addKept(batch);
    }
    for await (const batch of this.#reified?.drain() ?? []) await this.#addKept(batch);
    this.#cut(0);
    await this.#write();
    this.#progress(true);
  }

  async #addKept(batch: readonly string[]): Promise<void> {
    for (const lines of batch) {
      addKept(this.#state.outputs, lines);
      this.#cut();
    }
    await this.#yieldToEventLoop();
  }

  /** States what is known only when all scans are read. */
  async #endings(): Promise<void> {
    let made = 0;
    for (const ending of this.#state.endings) {
      for await (const _ of ending.end(this.#memory)) {
        this.#cut();
        if (this.#due || ++made % BATCH_PAIRS === 0) await this.#yieldToEventLoop();
      }
      await this.#yieldToEventLoop();
    }
    for (const [number, numbering] of this.#numberings.entries()) {
      for await (const lines of numbering.finish()) {
        for (const line of lines) (this.#state.outputs[number] as OutputText).addLine(line);
        this.#cut();
        await this.#yieldToEventLoop();
      }
    }
  }

  async #map(read: Batch, consumers: Consumers, input: string): Promise<void> {
    this.#read = read;
    try {
      await this.#mapBatch(read, consumers, input);
    } finally {
      this.#read = undefined;
    }
  }

  async #mapBatch(
    { records, first, identityOf }: Batch,
    { batch, records: consumers, pipelines }: Consumers,
    input: string,
  ): Promise<void> {
    batch.records = records;
    batch.first = first;
    batch.identityOf = identityOf;
    this.records += records.length;
    if (this.records > this.#maxRecords) throw recordsFault(this.#request.limits.records, { input });
    const observe = this.#hooks.row;
    for (const consumer of consumers) {
      const { program, buildSides, checks } = consumer;
      for (let i = 0; i < records.length; i++) {
        const record = records[i];
        try {
          const entries = buildSides.length > 0 ? addToBuildSides(buildSides, record, first + i) : undefined;
          if (entries !== undefined) for (const pieces of entries) await this.#takeTime(pieces);
          // Records beyond the first ones are parents of joins alone.
          if (first + i >= this.#firstRecords) continue;
          for (const check of checks) check.see(record, first + i);
          const made = program?.map(record, first + i);
          if (program?.flaws.areOpen) this.#settle(program, { input, record: first + i }, record);
          if (observe !== undefined) this.#show(observe, program, made, input, first + i);
          else if (made !== undefined) await this.#takeTime(made);
        } catch (error) {
          this.#reject(consumer, error, { input, record: first + i }, record);
        }
        this.#cut();
        if (i % DUE_RECORDS === DUE_RECORDS - 1 && this.#due) await this.#yieldToEventLoop();
      }
    }
    for (const run of pipelines) await this.#mapThrough(run, records, first, input);
  }

  /** The rows that a pipeline makes of records. */
  async #mapThrough({ pipeline, consumers, pairs }: PipelineRun, records: readonly unknown[], first: number, input: string): Promise<void> {
    for (let i = 0; i < records.length; i++) {
      const place = { input, record: first + i };
      const isFirst = first + i < this.#firstRecords;
      if (!isFirst && !pairs) break;
      try {
        for (const row of pipeline.rows(records[i], first + i)) {
          const long = this.#mapRow(row, pipeline, consumers, place, isFirst);
          if (long !== undefined) await long;
          if (this.#due) await this.#yieldToEventLoop();
        }
      } catch (error) {
        this.#reject(consumers.find((consumer) => !isReportedElsewhere(consumer)) ?? (consumers[0] as Consumer), error, place);
      }
      if (i % DUE_RECORDS === DUE_RECORDS - 1 && this.#due) await this.#yieldToEventLoop();
    }
  }

  /** Gives a promise only where the row has very many lines or entries: to await each row costs more than to map it. */
  #mapRow(row: unknown, pipeline: Pipeline, consumers: readonly Consumer[], place: RowPlace, isFirst = true): Promise<void> | undefined {
    const position = pipeline.serial;
    let long: LongPieces[] | undefined;
    for (const consumer of consumers) {
      const { program, buildSides, checks } = consumer;
      try {
        const entries = buildSides.length > 0 ? addToBuildSides(buildSides, row, position) : undefined;
        if (entries !== undefined) for (const pieces of entries) (long ??= []).push({ consumer, pieces });
        if (!isFirst) continue;
        for (const check of checks) check.see(row, position);
        const made = program?.map(row, position);
        if (program?.flaws.areOpen) this.#settle(program, place);
        const observe = this.#hooks.row;
        if (observe !== undefined) this.#show(observe, program, made, place.input, place.record);
        else if (made === undefined) this.#cut();
        else (long ??= []).push({ consumer, pieces: made });
      } catch (error) {
        this.#reject(consumer, error, place);
      }
    }
    return long === undefined ? undefined : this.#takeTimeFor(long, place);
  }

  async #takeTimeFor(long: readonly LongPieces[], place: RowPlace): Promise<void> {
    for (const { consumer, pieces } of long) {
      try {
        await this.#takeTime(pieces);
      } catch (error) {
        this.#reject(consumer, error, place);
      }
    }
  }

  /** The statements of a record with very many of them, or entries of a build side. */
  async #takeTime(pieces: Iterable<''>): Promise<void> {
    for (const _ of pieces) {
      this.#cut();
      if (this.#due) await this.#yieldToEventLoop();
    }
  }

  /** Whether something should be written before more is made. */
  get #due(): boolean {
    return this.#pieces.length >= PIECES || this.#spill.space.due;
  }

  /** The line of a record of the batch that is mapped. */
  #lineOf(record: number | undefined): FaultPlace {
    const { first = 0, records = [], lineOf } = this.#read ?? {};
    const index = (record ?? -1) - first;
    const line = index < 0 || index >= records.length ? undefined : lineOf?.(index);
    return line === undefined ? {} : { line };
  }

  /** Where a record is in its page. */
  #pageOf(record: number | undefined): FaultPlace {
    const page = this.#page;
    return page === undefined || record === undefined || record < page.first ? {} : { page: page.number, record: record - page.first };
  }

  /** @throws Fault the fault of the record under the strict policy; record/limit */
  #reject(consumer: Consumer, error: unknown, place: RowPlace, read?: unknown): void {
    const { program } = consumer;
    program?.flaws.discard();
    if (!(error instanceof Fault) || error.code !== 'record/term') throw error;
    if (isReportedElsewhere(consumer)) return;
    const fault = this.#placed(error, program, place, read);
    // Where a record may be rejected, the triples map that reads the field rejects it: there is nothing to check.
    if (consumer.checks.length > 0 && policyOf('rml', this.#request.onError) !== 'strict') return;
    // A field of a view is of no triples map.
    if (program === undefined || policyOf(program.triplesMap.dialect, this.#request.onError) === 'strict') throw fault;
    program.rejected++;
    this.rejected++;
    this.#hooks.reject?.({ triplesMap: program.triplesMap.id, fault: fault.toJSON() });
    this.#checkRejected(fault);
  }

  /** Counts what is wrong in a record that is not rejected. @throws Fault record/limit */
  #settle(program: MapProgram, place: RowPlace, read?: unknown): void {
    const lost = program.flaws.settle((fault) => this.#placed(fault, program, place, read));
    if (lost === undefined) return;
    this.#losses++;
    this.#hooks.loss?.();
    this.#checkRejected(lost);
  }

  #placed(fault: Fault, program: MapProgram | undefined, { input, record }: RowPlace, read: unknown): Fault {
    const { expression } = fault.place;
    const mapping = expression === undefined ? undefined : program?.originOf(expression);
    const cell = read === undefined || expression === undefined ? undefined : this.#cellOf?.(read, expression);
    const at = { record, ...this.#lineOf(record), recordsFrom: this.#recordsFrom, ...this.#pageOf(record) };
    return fault.with({ place: { input, cell, ...at, mapping, ...fault.place } });
  }

  #checkRejected(last: Fault): void {
    const { maxRejected } = this.#request;
    if (this.rejected + this.#losses > maxRejected) throw rejectedTooMany(maxRejected, this.#losses > 0, last);
  }

  /** For database rows: `rowsPerPart` of them per part of the output. */
  async #mapRows(batch: Batch, map: (batch: Batch) => Promise<void>): Promise<void> {
    const { rowsPerPart } = this.#request;
    if (rowsPerPart === undefined) return map(batch);
    for (let from = 0; from < batch.records.length; ) {
      if (this.#rowsInPart >= rowsPerPart) {
        this.#cut(0);
        await this.#write();
        await this.#sink.rollOver?.();
        this.#rowsInPart = 0;
      }
      const records = batch.records.slice(from, from + rowsPerPart - this.#rowsInPart);
      await map({ ...batch, records, first: batch.first + from });
      this.#rowsInPart += records.length;
      from += records.length;
    }
  }

  /** For a slice, another one may have what this one has not. */
  #reportUnmatched(plan: ScanPlan, scan: Scan, consumers: readonly Consumers[], input: string): void {
    const isCut = this.cut.has(input);
    const iterations = consumers.map((of) => ({
      programs: programsOf(of),
      unmatched: of.pipelines.flatMap(({ pipeline }) => pipeline.unmatched),
    }));
    const { hasRecords, faults } = unmatchedReferences(plan, scan, iterations, input, isCut ? this.#firstRecords : undefined);
    if (this.#recordsFrom === undefined) this.warnings.push(...warningsOf(faults, isCut ? undefined : this.#request.onError));
    else if (hasRecords) {
      const before = this.unmatched?.faults ?? [];
      this.unmatched = { scan: this.#plan.scans.indexOf(plan), faults: [...before, ...faults.map((fault) => fault.toJSON())] };
    }
    this.warnings.push(...(scan.warnings?.() ?? []));
  }

  async #yieldToEventLoop(): Promise<void> {
    if (this.#limitsStatements) {
      const place = this.#input === undefined ? {} : { input: this.#input };
      checkCounts(this.#request.limits, { records: 0, quads: this.quads }, place);
    }
    if (this.#pieces.length > 0) await this.#write();
    await this.#spill.space.flush();
    const now = performance.now();
    if (now - this.#turnAt < TURN_MS) return;
    this.#turnAt = now;
    this.#progress(false);
    await new Promise((resolve) => setImmediate(resolve));
    if (this.#signal.aborted) throw new Fault('run/cancelled', 'The run was cancelled');
  }

  /** Takes the text of each output that has so many characters. A format may hold more than that. */
  #cut(characters = PIECE_CHARACTERS): void {
    const { outputs } = this.#state;
    for (let i = 0; i < outputs.length; i++) {
      const output = outputs[i] as OutputText;
      if (output.text.length < characters) continue;
      const text = output.take();
      if (text !== '') this.#pieces.push({ output: i, text });
    }
  }

  /** What the outputs take of a row goes to the observer. */
  #show(
    observe: NonNullable<RunHooks['row']>,
    program: MapProgram | undefined,
    made: Made,
    input: string | undefined,
    record: number | undefined,
  ): void {
    if (program === undefined) return;
    const { outputs } = this.#state;
    observe(program.triplesMap, made === undefined ? takeAll(outputs) : takeEach(outputs, made), input, record);
  }

  async #write(): Promise<void> {
    const pieces = this.#pieces;
    this.#pieces = [];
    for (const { output, text } of pieces) {
      const written = this.#sink.write(text, output);
      if (written !== undefined) await written;
    }
  }

  #progress(now: boolean): void {
    if (this.#hooks.progress === undefined) return;
    const at = performance.now();
    if (!now && at - this.#progressAt < PROGRESS_MS) return;
    this.#progressAt = at;
    this.#hooks.progress({ records: this.records, quads: this.quads, bytesRead: this.bytesRead });
  }
}

const takeAll = (outputs: readonly OutputText[]): readonly string[] => outputs.map((output) => output.take());

function* takeEach(outputs: readonly OutputText[], made: Iterable<''>): Generator<string> {
  for (const _ of made) yield* takeAll(outputs);
  yield* takeAll(outputs);
}
