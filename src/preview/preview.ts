/**
 * What a mapping makes of the first records of its inputs, for the preview of the studio. It is a run of the engine that reads so many
 * records of each iteration (`src/run/execute/preview.ts`), so its statements are those of a run over these records.
 */
import { LinkedAbort } from '../core/abort.ts';
import { Fault, type FaultData } from '../core/fault.ts';
import { fromBytes } from '../core/text.ts';
import type { Diagnostic } from '../mapping/model/model.ts';
import { readMapping } from '../mapping/parse/read.ts';
import type { MapInfo } from '../plan/algebra.ts';
import { DEFAULT_BASE, type InputBinding, type RunRequest, type ScanLimit, type TriplesMapReport } from '../run/request.ts';
import { executeRun } from '../run/run.ts';
import type { QuadSink } from '../sinks/sink.ts';

export interface MappingQuestion {
  /** URL or path that the mapping has or is to have: relative sources stand beside it. Its extension gives the language. */
  readonly name: string;
  readonly text: string;
  readonly inputs: readonly InputBinding[];
  /** Of each iteration. */
  readonly records: number;
}

/** When the answer is due, and the callback that gets the name of each step. */
export type TimeLimit = Pick<ScanLimit, 'until' | 'step'>;

/** Of every question: what comes from the options. */
export type RunAccess = Omit<RunRequest, 'mappings' | 'documents' | 'inputs' | 'firstRecords'>;

export interface PreviewAnswer {
  readonly statements: readonly PreviewStatement[];
  readonly triplesMaps: readonly PreviewMap[];
  /** Over all iterations. */
  readonly records: number;
  /** Inputs of which records were left out. */
  readonly cut: readonly string[];
  /** Inputs that were read only as far as there was time. */
  readonly late: readonly string[];
  /** There are more statements than are given. */
  readonly more: boolean;
  readonly rejected: readonly PreviewRejection[];
  readonly warnings: readonly string[];
  /** Of the mapping. Triples maps with errors, and those that refer to them, were left out. */
  readonly diagnostics: readonly PreviewDiagnostic[];
  /** Why the run ended early; absent: it did not. */
  readonly fault?: FaultData;
}

/** Each statement once. */
export interface PreviewStatement {
  /** N-Quads, without the end of the line. */
  readonly text: string;
  /** What makes it, the first of it. Empty: a join, or a gather map over several records; `findStatement` decides. */
  readonly by: readonly Maker[];
}

export interface Maker {
  /** Index in `triplesMaps`. */
  readonly map: number;
  readonly input?: string;
  /** Position of the record in the input, from 0. */
  readonly record?: number;
}

export interface PreviewMap {
  readonly id: string;
  readonly name: string;
  /** From 1. */
  readonly line: number;
  readonly column: number;
  readonly records: number;
  readonly statements: number;
  readonly rejected: number;
  /** Why it made no statement; absent: it made some. */
  readonly empty?: string;
  /** Records without any statement, the first of them. Absent: joins make statements, which are not of one record. */
  readonly without?: readonly RecordPlace[];
}

export interface RecordPlace {
  readonly input?: string;
  readonly record: number;
}

export interface PreviewRejection {
  readonly triplesMap: string;
  readonly fault: FaultData;
}

export interface PreviewDiagnostic {
  readonly severity: Diagnostic['severity'];
  readonly code: string;
  readonly line: number;
  readonly column: number;
  readonly message: string;
  readonly hint?: string;
}

const MAX_STATEMENTS = 5_000;
const MAX_CHARACTERS = 2 * 2 ** 20;
const MAX_REJECTED = 100;
const MAX_WITHOUT = 100;
const MAX_MAKERS = 3;

/**
 * @param limit when the answer has to be there: inputs share the time that is left
 * @throws Fault — one that is neither of the mapping nor of its inputs
 */
export async function previewMapping(
  question: MappingQuestion,
  access: RunAccess,
  limit: TimeLimit,
  signal: AbortSignal,
): Promise<PreviewAnswer> {
  const document = { name: question.name, text: question.text };
  const { diagnostics, isAnyValid } = await checked(document, access);
  const enough = new AbortController();
  const made = new Collected(() => enough.abort(new Fault('run/cancelled', 'There are enough statements')));
  const answer = { diagnostics, statements: [], triplesMaps: [], records: 0, cut: [], late: [], more: false, rejected: [], warnings: [] };
  if (!isAnyValid) return answer;
  const rejected: PreviewRejection[] = [];
  const late = new Set<string>();
  const over = new LinkedAbort([signal, enough.signal]);
  try {
    const report = await executeRun(
      {
        ...requestOf(question, access),
        distinct: false,
        threads: 1,
        onError: 'skip',
        maxRejected: Number.MAX_SAFE_INTEGER,
      },
      made.sink,
      {
        signal: over.signal,
        limit: { ...limit, onTimeout: (input) => late.add(input) },
        row: (map, lines, input, record) => made.row(map, lines, input, record),
        reject: (rejection) => {
          if (rejected.length < MAX_REJECTED) rejected.push(rejection);
        },
        openTarget: async () => made.sink,
      },
    );
    return {
      ...answer,
      ...made.answer(report.triplesMaps),
      records: report.records,
      cut: report.cut ?? [],
      late: [...late],
      rejected,
      warnings: report.warnings,
    };
  } catch (error) {
    const partial = { ...answer, ...made.answer([]), rejected, late: [...late] };
    if (made.isFull) return { ...partial, more: true };
    if (signal.aborted) throw error;
    return { ...partial, fault: Fault.of(error).toJSON() };
  } finally {
    over.release();
  }
}

/** The run over the first records, of the triples maps without errors. */
export const requestOf = (
  { name, text, inputs, records }: MappingQuestion,
  access: RunAccess,
): RunRequest & { readonly firstRecords: number } => ({
  ...access,
  mappings: [name],
  documents: [{ name, text }],
  inputs,
  firstRecords: records,
  validOnly: true,
});

async function checked(document: { readonly name: string; readonly text: string }, { base, functions }: RunAccess) {
  const opened = functions && (await (await import('../custom-functions/open.ts')).openFunctions(functions));
  try {
    const { mapping, diagnostics } = await readMapping([document], { baseIri: base ?? DEFAULT_BASE, functions: opened });
    return {
      diagnostics: diagnostics.map(({ severity, code, origin: { line, column }, message, hint }): PreviewDiagnostic => {
        return { severity, code, line, column, message, ...(hint === undefined ? {} : { hint }) };
      }),
      isAnyValid: mapping.triplesMaps.length > 0,
    };
  } finally {
    opened?.close();
  }
}

interface SeenMap {
  readonly info: MapInfo;
  /** Records, by input and position, and whether some row of them gives a statement: a view has several rows of one record. */
  readonly records: Map<string, { readonly place: RecordPlace; gives: boolean }>;
  /** Rows that are not of one record. */
  others: number;
  statements: number;
}

/** Statements with their makers. */
class Collected {
  readonly #statements = new Map<string, Maker[]>();
  readonly #maps: SeenMap[] = [];
  readonly #indexes = new Map<string, number>();
  readonly #full: () => void;
  #characters = 0;
  #hasJoins = false;
  isFull = false;

  /** @param full called when there are as many statements as are given */
  constructor(full: () => void) {
    this.#full = full;
  }

  /** Takes what no single record makes. */
  readonly sink: QuadSink = {
    write: (lines) => {
      this.#hasJoins ||= lines !== '';
      for (const line of linesOf([lines])) this.#add(line, undefined);
    },
    commit: async () => [],
    abort: async () => undefined,
  };

  row(info: MapInfo, lines: Iterable<string>, input: string | undefined, record: number | undefined): void {
    const map = this.#indexOf(info);
    const own = this.#maps[map] as SeenMap;
    const place = { ...(input === undefined ? {} : { input }), ...(record === undefined ? {} : { record }) };
    let isEmpty = true;
    // All of it, since the engine makes the lines while they are consumed.
    for (const line of linesOf(lines)) {
      isEmpty = false;
      own.statements++;
      this.#add(line, { map, ...place });
    }
    if (record === undefined) own.others++;
    else {
      const key = `${record} ${input ?? ''}`;
      const known = own.records.get(key);
      if (known === undefined) own.records.set(key, { place: { ...place, record }, gives: !isEmpty });
      else known.gives ||= !isEmpty;
    }
  }

  answer(reports: readonly TriplesMapReport[]): Pick<PreviewAnswer, 'statements' | 'triplesMaps' | 'more'> {
    const triplesMaps = this.#maps.map(({ info, records, others, statements }): PreviewMap => {
      const without = [...records.values()].flatMap(({ place, gives }) => (gives ? [] : [place])).slice(0, MAX_WITHOUT);
      const { line, column } = info.origin;
      const report = reports.find(({ id }) => id === info.id);
      const empty = report?.empty;
      return {
        id: info.id,
        name: info.name,
        line,
        column,
        records: records.size + others,
        statements,
        rejected: report?.rejected ?? 0,
        ...(empty === undefined || statements > 0 ? {} : { empty }),
        ...(this.#hasJoins ? {} : { without }),
      };
    });
    return { statements: [...this.#statements].map(([text, by]) => ({ text: fromBytes(text), by })), triplesMaps, more: this.isFull };
  }

  #indexOf(info: MapInfo): number {
    const known = this.#indexes.get(info.id);
    if (known !== undefined) return known;
    this.#maps.push({ info, records: new Map(), others: 0, statements: 0 });
    this.#indexes.set(info.id, this.#maps.length - 1);
    return this.#maps.length - 1;
  }

  #add(line: string, maker: Maker | undefined): void {
    const known = this.#statements.get(line);
    if (known !== undefined) {
      if (maker !== undefined && known.length < MAX_MAKERS && !known.some((one) => isSameMaker(one, maker))) known.push(maker);
      return;
    }
    if (this.isFull) return;
    this.#statements.set(line, maker === undefined ? [] : [maker]);
    this.#characters += line.length;
    if (this.#statements.size < MAX_STATEMENTS && this.#characters < MAX_CHARACTERS) return;
    this.isFull = true;
    this.#full();
  }
}

const isSameMaker = (a: Maker, b: Maker): boolean => a.map === b.map && a.record === b.record && a.input === b.input;

/** Whole lines, also where a piece ends within one. */
function* linesOf(pieces: Iterable<string>): Iterable<string> {
  let rest = '';
  for (const piece of pieces) {
    const lines = (rest + piece).split('\n');
    rest = lines.pop() as string;
    yield* lines;
  }
  if (rest !== '') yield rest;
}
