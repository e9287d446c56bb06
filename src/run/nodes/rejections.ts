/** Rows with invalid terms: left out and counted, or the end of the run. */
import { Fault } from '../../core/fault.ts';
import { policyOf } from '../../mapping/model/model.ts';
import type { Batch, OpenedScan, Scan } from '../../sources/source.ts';
import type { MapProgram } from '../compile/program.ts';
import { rejectedTooMany } from '../report.ts';
import type { RunHooks, RunRequest } from '../request.ts';

/** What is read of an iteration of a scan at the moment. Rows that have waited for a join have no position. */
export interface Reading extends Pick<Scan, 'cellOf'>, Pick<OpenedScan, 'recordsFrom'> {
  readonly input: string;
  /** The batch that is mapped. */
  records: readonly unknown[];
  first: number;
  lineOf: Batch['lineOf'];
  identityOf: Batch['identityOf'];
  page: Batch['page'];
  /** Of the record that is mapped. */
  position: number | undefined;
}

/** What a row was for. */
interface Reader {
  readonly program: MapProgram | undefined;
  readonly checks: readonly unknown[];
  readonly isReportedElsewhere: boolean;
}

export class Rejections {
  rejected = 0;
  readonly #request: RunRequest;
  readonly #hooks: RunHooks;
  /** Records of which statements were left out. */
  #losses = 0;

  constructor(request: RunRequest, hooks: RunHooks) {
    this.#request = request;
    this.#hooks = hooks;
  }

  /** @throws Fault the fault of the row under the strict policy; record/limit */
  reject(error: unknown, { program, checks, isReportedElsewhere }: Reader, reading: Reading, areRecords: boolean): void {
    const { onError } = this.#request;
    program?.flaws.discard();
    if (!(error instanceof Fault) || error.code !== 'record/term') throw error;
    if (isReportedElsewhere) return;
    const fault = placed(error, program, reading, areRecords);
    // Where a record may be rejected, the triples map that reads the field rejects it: there is nothing to check.
    if (checks.length > 0 && policyOf('rml', onError) !== 'strict') return;
    // A field of a view is of no triples map.
    if (program === undefined || policyOf(program.triplesMap.dialect, onError) === 'strict') throw fault;
    program.rejected++;
    this.rejected++;
    this.#hooks.reject?.({ triplesMap: program.triplesMap.id, fault: fault.toJSON() });
    this.#checkBound(fault);
  }

  /** Counts what is wrong in a row that is not rejected. @throws Fault record/limit */
  settle(program: MapProgram, reading: Reading, areRecords: boolean): void {
    const lost = program.flaws.settle((fault) => placed(fault, program, reading, areRecords));
    if (lost === undefined) return;
    this.#losses++;
    this.#hooks.loss?.();
    this.#checkBound(lost);
  }

  #checkBound(last: Fault): void {
    const { maxRejected } = this.#request;
    if (this.rejected + this.#losses > maxRejected) throw rejectedTooMany(maxRejected, this.#losses > 0, last);
  }
}

/** The fault with the place of the current record. @param areRecords whether the row is the record, which may know its cells */
function placed(fault: Fault, program: MapProgram | undefined, reading: Reading, areRecords: boolean): Fault {
  const { input, position: record, recordsFrom, records, first, page } = reading;
  const { expression } = fault.place;
  const mapping = expression === undefined ? undefined : program?.originOf(expression);
  if (record === undefined) return fault.with({ place: { recordsFrom, mapping, ...fault.place } });
  const cell = areRecords && expression !== undefined ? reading.cellOf?.(records[record - first], expression) : undefined;
  const inPage = page === undefined || record < page.first ? { record } : { page: page.number, record: record - page.first };
  return fault.with({ place: { input, cell, line: reading.lineOf?.(record - first), recordsFrom, ...inPage, mapping, ...fault.place } });
}
