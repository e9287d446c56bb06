/** The first records of a triples map, with what its rules read of them. */
import type { FaultData } from '../core/fault.ts';
import { listRecords } from '../explain/list-records.ts';
import { type MappingQuestion, type RunAccess, requestOf } from './preview.ts';
import { type RecordView, viewOf } from './statement.ts';

export interface RecordsQuestion extends MappingQuestion {
  /** IRI, or `_:label`. */
  readonly triplesMap: string;
}

export interface RecordsAnswer {
  readonly rows: readonly {
    readonly record: RecordView;
    /** That the record makes, without those of joins. */
    readonly statements: number;
    /** Why the record was rejected. */
    readonly fault?: FaultData;
  }[];
  /** There are more rows than are given. */
  readonly more: boolean;
}

/** @throws Fault request/invalid — the mapping has no such triples map; as `executeRun` */
export async function recordsOfMap(question: RecordsQuestion, access: RunAccess, signal: AbortSignal): Promise<RecordsAnswer> {
  const { records, more } = await listRecords(requestOf(question, access), question.triplesMap, { signal });
  return {
    rows: records.map(({ record, statements, fault }) => ({
      record: viewOf(record),
      statements,
      ...(fault === undefined ? {} : { fault }),
    })),
    more,
  };
}
