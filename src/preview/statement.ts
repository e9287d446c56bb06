/** Which rules of a mapping can make a statement, and which of the first records do. */
import { Fault } from '../core/fault.ts';
import { redact } from '../core/redact.ts';
import { toBytes } from '../core/text.ts';
import { type FoundRecord, findRecords } from '../explain/find-records.ts';
import type { PartMatch } from '../explain/statement.ts';
import { eachStatement } from '../nquads/terms.ts';
import { type RunRequest, STANDARD_INPUT } from '../run/request.ts';
import { type MappingQuestion, type RunAccess, requestOf, type TimeLimit } from './preview.ts';

export interface StatementQuestion extends MappingQuestion {
  /** A line of N-Quads, as a preview gives it. */
  readonly statement: string;
}

/** A statement of a dataset. */
export interface MadeQuestion {
  /** A line of N-Quads, blank nodes with the labels of the dataset. */
  readonly statement: string;
  /** The run that made a version, as its manifest has it. */
  readonly run: Pick<RunRequest, 'mappings' | 'inputs' | 'workingDirectory'> &
    Partial<Pick<RunRequest, 'base' | 'datatypeCheck' | 'rdf' | 'xmlDefaultNamespace' | 'inputOptions' | 'boundOnly' | 'dataset'>>;
  /** The database of the version, without a password; absent: it had none. */
  readonly jdbcUrl?: string | undefined;
}

export interface StatementAnswer {
  /** That can make it, whether a record does or not. */
  readonly rules: readonly RuleView[];
  /** The first that make it. */
  readonly rows: readonly {
    readonly record: RecordView;
    /** Of a join. */
    readonly parent?: RecordView;
  }[];
  readonly count: number;
  /** Others may make it, too: one side of a join has more records than are held, or the blank node of a row does not tell its record. */
  readonly partial: boolean;
  /** Inputs that were read only as far as there was time. */
  readonly late: readonly string[];
}

export interface RuleView {
  /** IRI, or `_:label`. */
  readonly triplesMap: string;
  readonly name: string;
  /** URL or path of the mapping. */
  readonly document: string;
  /** Of the object of the rule, from 1; of the triples map, where that gathers. */
  readonly line: number;
  readonly column: number;
  /** Terms of the rule beside those of the statement. Empty: a collection, which makes it as a part of what it gathers. */
  readonly parts: readonly {
    readonly part: PartMatch['part'];
    readonly term?: string;
    /** Of references that the term of the statement determines. */
    readonly values: PartMatch['values'];
  }[];
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

/** Looks at the first records. @throws Fault request/invalid — not a statement; as `executeRun` */
export const findStatement = (
  question: StatementQuestion,
  access: RunAccess,
  limit: TimeLimit,
  signal: AbortSignal,
): Promise<StatementAnswer> => answerOf(requestOf(question, access), question.statement, limit, signal);

/**
 * Looks at all records for which there is time, of mapping and inputs as they are now.
 *
 * @throws Fault request/invalid — not a statement; standard input; config/invalid — the service has another database; as `executeRun`
 */
export async function findMade(
  { statement, run, jdbcUrl }: MadeQuestion,
  access: RunAccess,
  limit: TimeLimit,
  signal: AbortSignal,
): Promise<StatementAnswer> {
  if (run.inputs.some(({ url }) => url === STANDARD_INPUT))
    throw new Fault('request/invalid', 'The version was made of standard input, which cannot be read again');
  const own = access.database && redact(access.database.jdbcUrl);
  if (jdbcUrl !== undefined && jdbcUrl !== own) {
    throw new Fault('config/invalid', `The version was made of ${jdbcUrl}, and the SQL transformer has ${own ?? 'no database'}`, {
      hint: 'Set JDBC_URL, DB_USER and DB_PASSWORD',
    });
  }
  const answer = await answerOf({ ...access, ...run }, statement, limit, signal);
  return NODE_OF_ROW.test(statement) ? { ...answer, partial: true } : answer;
}

/**
 * The label of a blank node of a row (`nquads/labels.ts`). In a dataset it is made of all that the plan reads of the row. Looking for records reads less, so
 * the labels differ and no record is found.
 */
const NODE_OF_ROW = /_:q[0-9a-f]{32}r/;

async function answerOf(request: RunRequest, statement: string, limit: TimeLimit, signal: AbortSignal): Promise<StatementAnswer> {
  const late = new Set<string>();
  const [found] = await findRecords(request, [statementOf(statement)], {
    signal,
    limit: { ...limit, onTimeout: (input) => late.add(input) },
  });
  const { rules = [], rows = [], count = 0, partial = false } = found ?? {};
  return {
    rules: rules.map(({ map, origin, parts }) => ({
      triplesMap: map.id,
      name: map.name,
      document: redact(origin.document),
      line: origin.line,
      column: origin.column,
      parts: parts.map(({ part, term, values }) => ({ part, ...(term === undefined ? {} : { term }), values })),
    })),
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
