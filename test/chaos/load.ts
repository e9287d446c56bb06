/** The stream of runs: which files there are, what each must give, and how its client behaves. The oracle knows nothing of the engine. */
import { Random } from './random.ts';

/** What an input is like. */
export interface InputRow {
  readonly summary: string;
  /** Served by HTTP, not as a file. */
  readonly http?: true;
  /** How many there are at least and at most. */
  readonly rows: readonly [number, number];
  /** Code of the fault with which the run must fail. */
  readonly fails?: string;
}

export type InputKind = 'small' | 'slow' | 'large' | 'missing' | 'type' | 'malformed';

export const INPUT_KINDS: Readonly<Record<InputKind, InputRow>> = {
  small: { rows: [1, 200], summary: 'a small file' },
  slow: { http: true, rows: [200, 2_000], summary: 'a file whose server pauses in the middle' },
  large: { rows: [22_000, 24_000], summary: 'a file whose statements spill' },
  missing: { rows: [0, 0], fails: 'source/missing', summary: 'a file that is not there' },
  type: { rows: [1, 1], fails: 'source/type', summary: 'a type that is not accepted' },
  malformed: { rows: [1, 50], fails: 'source/malformed', summary: 'a file that ends within quotes' },
};

/** How a client asks: waits for the answer, waits for a second and then looks, or only looks. */
export type Manner = 'wait' | 'wait-a-second' | 'look';

export interface PlannedRun {
  /** Idempotency key, and the name of the input without its extension. */
  readonly key: string;
  readonly kind: InputKind;
  readonly file: string;
  readonly seed: number;
  /** Milliseconds after the start. */
  readonly atMs: number;
  /** How long the server of a slow input pauses. */
  readonly pauseMs: number;
  readonly manner: Manner;
  /** A second client sends the same request so much later; undefined: none does. */
  readonly againMs: number | undefined;
  /** The client cancels so long after it heard the run's id. */
  readonly cancelMs: number | undefined;
}

export interface LoadPlan {
  readonly runs: number;
  readonly overMs: number;
  readonly kinds: Readonly<Partial<Record<InputKind, number>>>;
  readonly pauseMs: readonly [number, number];
  readonly twice: number;
  readonly cancelled: number;
}

export function planLoad(plan: LoadPlan, random: Random): readonly PlannedRun[] {
  return Array.from({ length: plan.runs }, (_, i) => {
    const kind = random.weighted(plan.kinds);
    const key = `chaos-${String(i + 1).padStart(4, '0')}`;
    const cancel = random.chance(plan.cancelled);
    const again = random.chance(plan.twice);
    return {
      key,
      kind,
      file: `${key}.${kind === 'type' ? 'pdf' : 'csv'}`,
      seed: random.between(0, 2 ** 31),
      atMs: Math.round((plan.overMs * i) / plan.runs),
      pauseMs: random.between(...plan.pauseMs),
      manner: random.weighted({ wait: 4, 'wait-a-second': 2, look: 4 }),
      againMs: again ? random.between(0, 6_000) : undefined,
      cancelMs: cancel ? random.between(0, 1_500) : undefined,
    };
  });
}

/** Two triples maps that say much the same, so that there is something to spill. */
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

const NAMES = ['Ann', 'Bob "the Miller"', 'Çelik, Zoë', 'two\nlines', '李雷', 'O’Neil', 'back\\slash'];
const TOWNS = ['Basel', 'Chur', 'Olten', 'Thun'];

/** Some rows come twice: their statements must not. */
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
  if (run.kind === 'missing') return undefined;
  const lines = rowsOf(run).map(({ id, name, town }) => `${run.key},${id},${quoted(name)},${town}\n`);
  return Buffer.from(`file,id,name,town\n${lines.join('')}${run.kind === 'malformed' ? `${run.key},0,"never closed\n` : ''}`);
}

const ESCAPES: Readonly<Record<string, string>> = { '"': '\\"', '\\': '\\\\', '\n': '\\n' };

/** The statements that the run must write, each once. */
export function expectedStatements(run: PlannedRun): ReadonlySet<string> {
  const statements = new Set<string>();
  for (const { id, name, town } of rowsOf(run)) {
    const subject = `<http://example.com/${run.key}/${id}>`;
    statements.add(`${subject} <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://example.com/Person> .`);
    statements.add(`${subject} <http://example.com/name> "${name.replace(/["\\\n]/g, (c) => ESCAPES[c] as string)}" .`);
    statements.add(`${subject} <http://example.com/town> <http://example.com/town/${town}> .`);
  }
  return statements;
}

/** The code with which the run must fail; undefined: it must complete. */
export const expectedFailure = ({ kind }: PlannedRun): string | undefined => INPUT_KINDS[kind].fails;
