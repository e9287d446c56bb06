/** The load: inputs, expected results and behaviour of the clients. The oracle does not use the engine. */

import { Random } from '../../support/random.ts';
import { literal, NAMES, TABLE_ROWS, TOWNS, tableStatements } from '../fleet/database.ts';

/** A kind of input. */
export interface InputRow {
  readonly summary: string;
  /** Served by HTTP, so that it cannot be cut into slices. */
  readonly http?: true;
  /** Minimum and maximum number of rows. */
  readonly rows: readonly [number, number];
  /** Code of the fault with which the run must fail. */
  readonly fails?: string;
}

export type InputKind = 'small' | 'slow' | 'large' | 'sliced' | 'table' | 'missing' | 'type' | 'malformed' | 'poison';

export const INPUT_KINDS: Readonly<Record<InputKind, InputRow>> = {
  small: { rows: [1, 200], summary: 'a small file' },
  slow: { http: true, rows: [200, 2_000], summary: 'a file whose server pauses in the middle' },
  large: { http: true, rows: [22_000, 24_000], summary: 'a file whose statements spill' },
  sliced: { rows: [8_000, 12_000], summary: 'a file that is cut into byte ranges; repeated rows lie in several' },
  table: { rows: [0, 0], summary: 'the tables of the database, one of them cut by its key' },
  missing: { rows: [0, 0], fails: 'source/missing', summary: 'a file that is not there' },
  type: { rows: [1, 1], fails: 'source/type', summary: 'a type that is not accepted' },
  malformed: { rows: [1, 50], fails: 'source/malformed', summary: 'a file that ends within quotes' },
  poison: { rows: [0, 0], summary: 'a message that is no request, and so no run' },
};

export type ServiceName = 'semi-structured-transformer' | 'sql-transformer';

/** Prefix of the names of a service's files. */
export const OUTPUT_NAMES: Readonly<Record<ServiceName, string>> = {
  'semi-structured-transformer': 'Semi-Structured-Transformer',
  'sql-transformer': 'SQL-Transformer',
};

export const serviceOf = ({ kind }: PlannedRun): ServiceName => (kind === 'table' ? 'sql-transformer' : 'semi-structured-transformer');

/** How a client asks: waits for the answer; waits for a second and then polls; or only polls. */
export type ClientBehaviour = 'wait' | 'wait-a-second' | 'look';

export interface PlannedRun {
  /** Idempotency key, or key of the message. */
  readonly key: string;
  /** Name of the input, used in its statements. */
  readonly input: string;
  readonly kind: InputKind;
  readonly file: string;
  readonly seed: number;
  /** Whether it is sent as a message. */
  readonly message: boolean;
  /** Milliseconds after the start. */
  readonly atMs: number;
  /** How long the server of a slow input pauses. */
  readonly pauseMs: number;
  readonly manner: ClientBehaviour;
  /** Delay before the same request or message is sent again; undefined: sent once. */
  readonly againMs: number | undefined;
  /** Delay before the client cancels, after it has received the run's id. */
  readonly cancelMs: number | undefined;
}

export interface LoadPlan {
  readonly runs: number;
  readonly overMs: number;
  readonly kinds: Readonly<Partial<Record<InputKind, number>>>;
  readonly pauseMs: readonly [number, number];
  readonly twice: number;
  readonly cancelled: number;
  /** Share of requests sent as messages, and share of those that are poison. */
  readonly messages: number;
  readonly poison: number;
}

/** Without Kafka messages become requests and poison is left out; without a database its runs become small files. All else is unchanged. */
export function planLoad(
  plan: LoadPlan,
  random: Random,
  has: { readonly kafka: boolean; readonly database: boolean },
): readonly PlannedRun[] {
  const runs = Array.from({ length: plan.runs }, (_, i): PlannedRun => {
    const wanted = random.weighted(plan.kinds);
    const key = `chaos-${String(i + 1).padStart(4, '0')}`;
    const cancel = random.chance(plan.cancelled);
    const again = random.chance(plan.twice);
    const sent = random.chance(plan.messages);
    const poison = random.chance(plan.poison) && sent && wanted !== 'table';
    const kind = poison ? 'poison' : wanted === 'table' && !has.database ? 'small' : wanted;
    const message = sent && wanted !== 'table' && has.kafka;
    const againMs = random.between(0, 6_000);
    const cancelMs = random.between(0, 1_500);
    return {
      key,
      input: key,
      kind,
      file: `${key}.${kind === 'type' ? 'pdf' : 'csv'}`,
      seed: random.between(0, 2 ** 31),
      message,
      atMs: Math.round((plan.overMs * i) / plan.runs),
      pauseMs: random.between(...plan.pauseMs),
      manner: random.weighted({ wait: 4, 'wait-a-second': 2, look: 4 }),
      againMs: again ? againMs : undefined,
      cancelMs: cancel && !message ? cancelMs : undefined,
    };
  });
  return has.kafka ? runs : runs.filter(({ kind }) => kind !== 'poison');
}

/** Two triples maps with mostly the same statements, so that duplicates spill. */
export const MAPPING = `@prefix rml: <http://w3id.org/rml/> .
@prefix ex: <http://example.com/> .
ex:People a rml:TriplesMap ;
  rml:logicalSource [ a rml:LogicalSource ; rml:source [ a rml:RelativePathSource ; rml:path "people.csv" ] ; rml:referenceFormulation rml:CSV ] ;
  rml:subjectMap [ rml:template "http://example.com/{file}/{id}" ; rml:class ex:Person ] ;
  rml:predicateObjectMap [ rml:predicate ex:name ; rml:objectMap [ rml:reference "name" ] ] ;
  rml:predicateObjectMap [ rml:predicate ex:town ; rml:objectMap [ rml:template "http://example.com/town/{town}" ] ] .
ex:Towns a rml:TriplesMap ;
  rml:logicalSource [ a rml:LogicalSource ; rml:source [ a rml:RelativePathSource ; rml:path "people.csv" ] ; rml:referenceFormulation rml:CSV ] ;
  rml:subjectMap [ rml:template "http://example.com/{file}/{id}" ] ;
  rml:predicateObjectMap [ rml:predicate ex:name ; rml:objectMap [ rml:reference "name" ] ] ;
  rml:predicateObjectMap [ rml:predicate ex:town ; rml:objectMap [ rml:template "http://example.com/town/{town}" ] ] .
`;

interface Row {
  readonly id: number;
  readonly name: string;
  readonly town: string;
}

/** Some rows are repeated; their statements must not be. */
function rowsOf({ kind, seed }: PlannedRun): readonly Row[] {
  const random = new Random(seed);
  const rows: Row[] = [];
  for (let count = random.between(...INPUT_KINDS[kind].rows); count > 0; count--) {
    const repeated = rows.length > 0 && random.chance(0.1);
    rows.push(repeated ? random.pick(rows) : { id: rows.length, name: `${random.pick(NAMES)} ${rows.length}`, town: random.pick(TOWNS) });
  }
  return rows;
}

const quoted = (text: string): string => (/[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);

/** The bytes of an input; undefined: there is no such file. */
export function contentOf(run: PlannedRun): Buffer | undefined {
  if (run.kind === 'missing' || run.kind === 'table' || run.kind === 'poison') return undefined;
  const lines = rowsOf(run).map(({ id, name, town }) => `${run.input},${id},${quoted(name)},${town}\n`);
  return Buffer.from(`file,id,name,town\n${lines.join('')}${run.kind === 'malformed' ? `${run.input},0,"never closed\n` : ''}`);
}

/** Maximum size of its statements as N-Quads; a failing run leaves none. */
export function outputBytes(run: PlannedRun): number {
  if (run.kind === 'poison' || expectedFailure(run) !== undefined) return 0;
  const rows = run.kind === 'table' ? TABLE_ROWS : new Random(run.seed).between(...INPUT_KINDS[run.kind].rows);
  return rows * ROW_BYTES;
}

/** Size of three statements. */
const ROW_BYTES = 350;

/** The statements that the run must write, each once. */
export function expectedStatements(run: PlannedRun): ReadonlySet<string> {
  if (run.kind === 'table') return tableStatements();
  const statements = new Set<string>();
  for (const { id, name, town } of rowsOf(run)) {
    const subject = `<http://example.com/${run.input}/${id}>`;
    statements.add(`${subject} <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://example.com/Person> .`);
    statements.add(`${subject} <http://example.com/name> ${literal(name)} .`);
    statements.add(`${subject} <http://example.com/town> <http://example.com/town/${town}> .`);
  }
  return statements;
}

/** The code with which the run must fail; undefined: it must complete. */
export const expectedFailure = ({ kind }: PlannedRun): string | undefined => INPUT_KINDS[kind].fails;
