/** Which rules of a mapping can make a statement, and which of the first records do. */
import { Fault } from '../core/fault.ts';
import { toBytes } from '../core/text.ts';
import { type FoundRecord, findRecords } from '../explain/find-records.ts';
import { eachStatement } from '../nquads/terms.ts';
import { type MappingQuestion, type RunAccess, requestOf, type TimeLimit } from './preview.ts';

export interface StatementQuestion extends MappingQuestion {
  /** A line of N-Quads, as a preview gives it. */
  readonly statement: string;
}

export interface StatementAnswer {
  /** The first that make it. */
  readonly rows: readonly {
    readonly record: RecordView;
    /** Of a join. */
    readonly parent?: RecordView;
  }[];
  readonly count: number;
  /** Others may make it, too: one side of a join has more records than are held. */
  readonly partial: boolean;
  /** Inputs that were read only as far as there was time. */
  readonly late: readonly string[];
}

export interface RecordView {
  /** IRI, or `_:label`. */
  readonly triplesMap: string;
  /** From 1. */
  readonly line: number;
  readonly column: number;
  readonly places: readonly PlaceView[];
  /** What the rule reads of it. */
  readonly values: readonly { readonly name: string; readonly values: readonly string[] }[];
}

export interface PlaceView {
  readonly input?: string;
  /** From 0. */
  readonly record?: number;
  /** Positions of the items within the record, from 0, from the outside to the inside. */
  readonly items: readonly { readonly name: string; readonly index: number }[];
}

/** @throws Fault request/invalid — not a statement; as `executeRun` */
export async function findStatement(
  question: StatementQuestion,
  access: RunAccess,
  limit: TimeLimit,
  signal: AbortSignal,
): Promise<StatementAnswer> {
  const late = new Set<string>();
  const [found] = await findRecords(requestOf(question, access), [statementOf(question.statement)], {
    signal,
    limit: { ...limit, onTimeout: (input) => late.add(input) },
  });
  const { rows = [], count = 0, partial = false } = found ?? {};
  return {
    rows: rows.map(({ record, parent }) => ({ record: viewOf(record), ...(parent === undefined ? {} : { parent: viewOf(parent) }) })),
    count,
    partial,
    late: [...late],
  };
}

function statementOf(text: string) {
  const found: { subject: string; predicate: string; object: string; graph: string }[] = [];
  try {
    eachStatement(`${toBytes(text.trim())}\n`, (subject, predicate, object, graph) => found.push({ subject, predicate, object, graph }));
  } catch (error) {
    throw new Fault('request/invalid', `This is no statement of N-Quads: ${Fault.of(error).message}`, { cause: error });
  }
  const [statement] = found;
  if (statement === undefined || found.length > 1) throw new Fault('request/invalid', 'One statement of N-Quads is expected');
  return statement;
}

export const viewOf = ({ map, places, values }: FoundRecord): RecordView => ({
  triplesMap: map.id,
  line: map.origin.line,
  column: map.origin.column,
  places: places.map(({ input, record, items }) => ({
    ...(input === undefined ? {} : { input }),
    ...(record === undefined ? {} : { record }),
    items,
  })),
  values: values.map(({ name, values: all }) => ({ name, values: all })),
});
