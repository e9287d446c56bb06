/** A plan as text for people: what is read, in which order, what each record feeds, and how duplicates and joins are handled. */
import { tablesOf } from '../mapping/model/expressions.ts';
import type { LookUpTable, Mapping, TopicChanges } from '../mapping/model/model.ts';
import { formatOrigin } from '../mapping/model/model.ts';
import type { Check, DatabaseRows, Expression, Project, Scan } from './algebra.ts';
import { type CatalogueMetadata, NO_METADATA } from './catalogue-metadata.ts';
import { collectionText, expressionText, isTerm, spansRows, termText } from './expressions.ts';
import { describePhysical } from './physical/describe.ts';
import { lower } from './physical/lower.ts';
import type { CollectPlan, IterationPlan, ObjectPlan, PipelinePlan, Plan, RulePlan, ScanPlan, StepPlan } from './plan.ts';
import { planMapping } from './planning.ts';

/**
 * The scans of a plan with what their records feed, and the nodes of its physical plan with what they provide, require and keep, and why their
 * records are not divided, not streamed, or not left to a database.
 *
 * @param needsWhole what the records of an iteration need in memory beside one after the other, as a sentence without its subject
 */
export function explainPlan(
  mapping: Mapping,
  base = 'http://example.com/base/',
  catalogue: CatalogueMetadata = NO_METADATA,
  needsWhole: (scan: ScanPlan, iteration: IterationPlan) => string | undefined = () => undefined,
): string {
  const plan = planMapping(mapping, base, catalogue);
  const lines = [...new Set(tablesOf(mapping).map(describeTable))];
  for (const [number, scan] of plan.scans.entries()) {
    const { source } = scan;
    lines.push(`scan ${number + 1}: ${describeSource(source, scan.dialect)}, read once`);
    for (const iteration of scan.iterations) {
      lines.push(`  each ${iteration.iterator ?? 'record'} gives ${iteration.references.join(', ') || 'nothing but its presence'}`);
      for (const pipeline of iteration.pipelines) lines.push(...describePipeline(pipeline, plan));
    }
  }
  if (plan.scans.length === 0) lines.push('nothing to do: the mapping has no triples map');
  const wholes = new Map(plan.scans.flatMap((scan) => scan.iterations.map((one) => [one.scan, needsWhole(scan, one)] as const)));
  lines.push(
    ...describePhysical(
      lower(plan, true),
      plan,
      ({ operator }) => nameOfSource(operator.source),
      ({ operator }) => wholes.get(operator),
    ),
  );
  return `${lines.join('\n')}\n`;
}

const describeTable = ({ file, from, to }: LookUpTable): string =>
  `table of look-ups: ${describeSource(file, 'legacy')}, column ${from} → ${to}, read before all scans`;

function describePipeline({ steps, maps, buildSides, checks }: PipelinePlan, plan: Plan): readonly string[] {
  const lines = steps.map((step) => `    ${describeStep(step, plan)}`);
  for (const join of buildSides) lines.push(`    fills ${describeJoin(plan, join)}`);
  for (const check of checks) lines.push(`    checks ${describeCheck(plan.checks[check] as Check)}`);
  for (const { map, subject, unique, rules, collects } of maps) {
    const writes = rules.length + collects.length > 0;
    lines.push(`    ${map.name} (${formatOrigin(map.origin)}): ${writes ? `subject ${termText(subject)}` : 'no direct statements'}`);
    if (unique !== undefined) lines.push('      no two records make the same statement: a key says so');
    for (const rule of rules) lines.push(`      ${describeRule(rule, plan)}`);
    for (const collect of collects) lines.push(`      ${describeCollect(collect, plan)}`);
  }
  return lines;
}

function describeCheck({ kind, name, view, origin, fields, target }: Check): string {
  const of = fields.map((field) => field.name).join(' and ');
  const found = target === undefined ? '' : ` ${target.fields.join(' and ')} of ${target.view}`;
  return `${of} of ${view}: ${kind}${found}, as ${name} promises (${formatOrigin(origin)})`;
}

function describeStep(step: StepPlan, plan: Plan): string {
  switch (step.kind) {
    case 'unnest': {
      const { item, items } = step.operator;
      const of =
        items.of === 'values'
          ? expressionText(items.expression)
          : `${items.iterator ?? 'the records'} of ${items.within.name || 'the record'}`;
      return `unnest ${of} → ${item.name}`;
    }
    case 'extend':
      return `extend ${step.operator.columns
        .map(({ column, value }) => {
          const text = isTerm(value) ? termText(value) : expressionText(value);
          return text === column.name ? text : `${text} → ${column.name}`;
        })
        .join(', ')}`;
    case 'number':
      return `number rows → ${step.operator.column.name}`;
    case 'join': {
      const { type, on, right } = step.operator;
      const columns = right.columns.map(({ column }) => column.name).join(', ');
      return `${type} join with ${describeJoin(plan, step.join)}${byKeys(on.map(({ left }) => left))}${columns === '' ? '' : ` → ${columns}`}`;
    }
  }
}

/** Of a topic, which quadmill follow reads. */
const WHAT_MESSAGES_ARE: Readonly<Record<TopicChanges, string>> = {
  append: 'topic, each message stays',
  upsert: 'topic, the newest message of each key',
  debezium: 'topic of Debezium, rows',
};

function describeSource(source: Scan['source'], dialect: string): string {
  if (source.kind === 'file') {
    const csv = Object.entries(source.csv ?? {}).map(([name, value]) => `, ${name} ${JSON.stringify(value)}`);
    const { request } = source;
    const read =
      request?.kind === 'select'
        ? `SPARQL results as ${request.results} of ${request.query.trim().replace(/\s+/g, ' ')}`
        : request?.kind === 'topic'
          ? `${WHAT_MESSAGES_ARE[request.changes]}, ${request.content === 'text' ? 'text' : source.formulation}`
          : `${source.formulation}${request?.paging === undefined ? '' : `, pages by ${request.paging.kind}`}`;
    return `${nameOfSource(source)} (${read}, ${dialect} dialect${csv.join('')})`;
  }
  return `${describeDatabaseRows(source)} (SQL)`;
}

const nameOfSource = (source: Scan['source']): string =>
  source.kind === 'file' ? `${source.path}${source.sheet === undefined ? '' : `#${source.sheet}`}` : describeDatabaseRows(source);

/** On one line, even if the query has several. */
export function describeDatabaseRows(source: DatabaseRows): string {
  if (source.kind === 'sql-pairs') {
    const conditions = source.conditions.map(({ child, parent }) => `${child} = ${parent}`);
    return `${describeDatabaseRows(source.child)} joined by the database with ${describeDatabaseRows(source.parent)} on ${conditions.join(' and ')}`;
  }
  const { content } = source;
  return content.kind === 'table' ? `table ${content.name}` : `query ${content.sql.replace(/\s+/g, ' ')}`;
}

function describePlace(graph: RulePlan['graph'], output: number, { targets }: Plan): string {
  const target = targets[output - 1];
  return `${graph === undefined ? '' : ` in graph ${termText(graph)}`}${target === undefined ? '' : ` → ${target.path}`}`;
}

function describeCollect({ collection, places, overlapping, joins }: CollectPlan, plan: Plan): string {
  const found = joins.map(
    ({ operator, join, deferred }) =>
      `, ${deferred ? 'paired at the end with' : 'looked up in'} ${describeJoin(plan, join)}${byKeys(operator.on.map(({ left }) => left))}`,
  );
  const named = places.map(({ graph, output }) => describePlace(graph, output, plan));
  const spans = spansRows(collection) ? 'rows append to one collection for each head' : 'one collection for each row';
  return `${collectionText(collection)}${found.join('')}${named.join('')}  [${spans}${overlapping ? '; may repeat a statement of another rule' : ''}]`;
}

function describeRule(rule: RulePlan, plan: Plan): string {
  const distinct = rule.distinct === 'subject' ? 'repeats only with its subject' : 'may repeat a statement of another rule';
  return `${termText(rule.predicate)} ${describeObject(rule.object, plan)}${describePlace(rule.graph, rule.output, plan)}  [${distinct}]`;
}

function describeObject(object: ObjectPlan, plan: Plan): string {
  switch (object.kind) {
    case 'term':
      return termText(object.term);
    case 'join':
      return `${object.deferred ? 'paired at the end with' : 'looked up in'} ${describeJoin(plan, object.join)}${byKeys(object.keys)}`;
  }
}

/** No keys: every record of one side joins every record of the other. */
const byKeys = (keys: readonly Expression[]): string =>
  keys.length === 0 ? ', all of them for each record' : ` by ${keys.map(expressionText).join(' and ')}`;

function describeJoin(plan: Plan, index: number): string {
  const { map, keys, columns } = plan.joins[index] as Project;
  const what = columns[0]?.value.kind === 'quoted' ? 'triples' : 'subjects';
  const of = map === undefined ? 'rows' : `${what} of ${map.name}`;
  return `join ${index + 1} (${of}${keys.length === 0 ? '' : byKeys(keys.map(({ value }) => value))})`;
}
