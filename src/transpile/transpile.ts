/**
 * Mapping → SQL of another engine, for data that lies in a lake or outgrows a machine. The plan decides what is joined and which lines can repeat; the SQL
 * gives the lines of a run with the error policy `strict`, byte for byte, in no particular order.
 */
import type { FileSource, LogicalTarget, Mapping, Origin } from '../mapping/model/model.ts';
import type { Column, Operator } from '../plan/algebra.ts';
import type { MapPlan, Plan } from '../plan/plan.ts';
import { planMapping } from '../plan/planning.ts';
import type { Dialect, DialectName } from './dialects/dialect.ts';
import { duckdb } from './dialects/duckdb.ts';
import { spark } from './dialects/spark.ts';
import { Definitions } from './functions/definitions.ts';
import { type Binding, checkSource, Records } from './records.ts';
import { type Refusal, Refusals } from './refusals.ts';
import { type Making, RowsMaker } from './rows.ts';
import { addQueries, type Context, type Queries, queryOf } from './statements.ts';

export interface TranspileOptions {
  readonly base: string;
  /** What labels of blank nodes begin with: `Labels.values` of a run over the same documents. */
  readonly labels: string;
  /** Where the documents of a source are; undefined: nothing is known of it, which `reason` explains. */
  readonly bind: (source: FileSource) => Binding;
}

export interface Transpiled {
  readonly dialect: Dialect;
  /** Why it cannot be done; then there are no statements. */
  readonly refusals: readonly Refusal[];
  /** In their order: settings, functions, checks and views. */
  readonly preparation: readonly string[];
  /** Those of them that read a source. */
  readonly reads: ReadonlyMap<string, Reads>;
  /** Gives the column `line`: statements of N-Quads, each once. */
  readonly query: string;
  /** The same for each logical target. */
  readonly targets: readonly TargetQuery[];
}

/** What a statement reads. */
export interface Reads {
  readonly origin: Origin;
  readonly binding: Binding;
}

export interface TargetQuery {
  /** The last part of its path, as a part of a file name; different for each. */
  readonly name: string;
  readonly query: string;
}

const BY_NAME: Readonly<Record<DialectName, Dialect>> = { spark, duckdb };

/** Pure, and throws nothing: what cannot be written is refused. */
export function transpile(mapping: Mapping, to: DialectName, { base, labels, bind }: TranspileOptions): Transpiled {
  const dialect = BY_NAME[to];
  const refusals = new Refusals();
  const plan = planMapping(mapping, base);
  refuseMapping(mapping, plan, refusals);
  const all = new Map<Column, Records>();
  const maps: [MapPlan, Operator][] = [];
  for (const { source, iterations } of plan.scans) {
    if (source.kind !== 'file') {
      refusals.add(
        source.origin,
        source.kind === 'sql'
          ? 'a table or query of a database: bind a table of the engine in the place of a CSV file'
          : 'rows that a database joins',
      );
      continue;
    }
    const binding = bind(source);
    checkSource(source, binding, refusals);
    for (const { scan, pipelines } of iterations) {
      const records = new Records(scan, source, binding, all.size + 1, dialect, refusals);
      for (const record of scan.records) all.set(record, records);
      for (const { steps, maps: fed } of pipelines) for (const map of fed) maps.push([map, steps.at(-1)?.operator ?? scan]);
    }
  }
  const definitions = new Definitions();
  const making: Making = { dialect, refusals, labels, definitions, recordsOf: (record) => all.get(record) };
  const maker = new RowsMaker(making);
  const context: Context = { ...making, plan, rowsOf: (operator) => maker.rowsOf(operator) };
  const outputs: readonly Queries[] = Array.from({ length: 1 + plan.targets.length }, () => ({ distinct: [], overlapping: [] }));
  for (const [map, operator] of maps) {
    const rows = maker.rowsOf(operator);
    if (rows !== undefined) addQueries(map, rows, context, outputs);
  }
  if (refusals.all.length > 0) return { dialect, refusals: refusals.all, preparation: [], reads: new Map(), query: '', targets: [] };
  const items = maker.statements;
  const reads = new Map([...new Set(all.values())].flatMap((records) => records.statements.map((one) => [one, records] as const)));
  const [query = '', ...targets] = outputs.map(queryOf);
  const names = namesOf(plan.targets);
  return {
    dialect,
    refusals: [],
    preparation: [...dialect.preamble, ...definitions.statements(dialect), ...reads.keys(), ...items],
    reads,
    query,
    targets: targets.map((one, at) => ({ name: names[at] as string, query: one })),
  };
}

function refuseMapping({ triplesMaps }: Mapping, { targets, checks }: Plan, refusals: Refusals): void {
  for (const { dialect, origin } of triplesMaps)
    if (dialect === 'legacy')
      refusals.add(
        origin,
        "legacy RML, which skips invalid records and knows empty cells without quotes: quadmill convert --to rml writes today's RML",
      );
  for (const target of targets) refuseTarget(target, refusals);
  for (const { origin, name } of checks) refusals.add(origin, `the annotation ${name}: it counts rows of a view`);
}

function refuseTarget({ origin, path, serialization, encoding, compression }: LogicalTarget, refusals: Refusals): void {
  const refuse = (reason: string): void => refusals.add(origin, `the logical target ${JSON.stringify(path)} ${reason}`);
  if (serialization !== 'nquads') refuse(`in another format than N-Quads: ${serialization}`);
  if (encoding !== 'utf-8') refuse(`in ${encoding.toUpperCase()}`);
  if (compression !== 'none') refuse(`with the compression ${compression}`);
}

/** Parts of file names: the last parts of the paths, with a number where one has come before. */
function namesOf(targets: readonly LogicalTarget[]): readonly string[] {
  const names: string[] = [];
  for (const { path } of targets) {
    const name = (/[^/\\]*$/.exec(path)?.[0] ?? '').replaceAll(/[^A-Za-z0-9._-]/g, '_');
    let free = name;
    for (let number = 2; names.includes(free); number++) free = `${number}-${name}`;
    names.push(free);
  }
  return names;
}
