/** The first records of a triples map, with what its rules read of them. */
import type { FaultData } from '../core/fault.ts';
import { listRecords } from '../explain/list-records.ts';
import { type MappingQuestion, type RunAccess, requestOf, type TimeLimit } from './preview.ts';
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
  /** Inputs that were read only as far as there was time. */
  readonly late: readonly string[];
}

/** @throws Fault request/invalid — the mapping has no such triples map; as `executeRun` */
export async function recordsOfMap(
  question: RecordsQuestion,
  access: RunAccess,
  limit: TimeLimit,
  signal: AbortSignal,
): Promise<RecordsAnswer> {
  const late = new Set<string>();
  const { records, more } = await listRecords(requestOf(question, access), question.triplesMap, {
    signal,
    limit: { ...limit, onTimeout: (input) => late.add(input) },
  });
  return {
    rows: records.map(({ record, statements, fault }) => ({
      record: viewOf(record),
      statements,
      ...(fault === undefined ? {} : { fault }),
    })),
    more,
    late: [...late],
  };
}
