/** Prepares a run: parses the mapping, asks the databases for metadata, makes the plan, finds the documents. */

import { createHash } from 'node:crypto';
import { Fault } from '../../core/fault.ts';
import { HASH_VERSION } from '../../core/hash.ts';
import { redact } from '../../core/redact.ts';
import { formatDiagnostic } from '../../mapping/model/diagnostics.ts';
import { tablesOf } from '../../mapping/model/expressions.ts';
import { allSourcesOf, type LogicalSource, type Mapping } from '../../mapping/model/model.ts';
import { type CatalogueMetadata, NO_METADATA } from '../../plan/catalogue-metadata.ts';
import { lower } from '../../plan/physical/lower.ts';
import type { PhysicalPlan } from '../../plan/physical/nodes.ts';
import { forDocuments, mapsOf, type Plan, type ScanPlan } from '../../plan/plan.ts';
import { planMapping } from '../../plan/planning.ts';
import type { Databases } from '../databases/databases.ts';
import { DEFAULT_BASE, type RunHooks, type RunRequest, type ScanLimit } from '../request.ts';
import { bindSources, locateInputs } from './documents/inputs.ts';
import { labelsOf } from './labels.ts';
import { type LoadedMapping, loadDocuments, loadMapping } from './load.ts';
import { OpenedRun, type PreparedRun } from './open.ts';
import { leftOutText, selectBound } from './selection.ts';

/** Makes another plan than that of a run, over sources of the mapping. */
export type Planner = (mapping: Mapping, base: string, metadata: CatalogueMetadata) => Plan;

/**
 * Prepares a run, with the same result in every process. The caller closes it.
 *
 * @param snapshots database snapshots to read, see `Databases.open`
 * @param planner undefined: the plan of a run
 * @param step called with what comes next and may take long
 * @param onLocated, opening see `RunHooks`
 * @throws Fault mapping/invalid — the mapping reads a topic, and nothing opens topics
 */
export async function prepareRun(
  request: RunRequest,
  signal: AbortSignal | undefined,
  snapshots: Readonly<Record<string, string>> = {},
  planner?: Planner,
  step?: ScanLimit['step'],
  onLocated?: RunHooks['located'],
  opening: Pick<RunHooks, 'openSession' | 'openTopic'> = {},
): Promise<PreparedRun> {
  const base = request.base ?? DEFAULT_BASE;
  const opened = new OpenedRun();
  try {
    if (request.functions !== undefined) step?.('loading the custom functions');
    await opened.openFunctions(request);
    const read = { baseIri: base, separate: request.boundOnly === true, functions: opened.functions };
    const loaded = await (request.documents === undefined
      ? loadMapping(request.mappings, read, {
          workingDirectory: request.workingDirectory,
          reach: request.reach,
          s3: request.web.s3,
          ...(signal === undefined ? {} : { signal }),
        })
      : loadDocuments(request.documents, read, request.validOnly));
    const { mapping, warnings, documents } = selected(loaded, request);
    const ofMapping = allSourcesOf(mapping);
    if (opening.openTopic === undefined) refuseTopics(ofMapping);
    await opened.openDatabases(ofMapping, request, snapshots, signal, step, opening.openSession);
    const { databases, version } = opened;
    const whole = planBy(planner, mapping, base, databases, request);
    const scanned = whole.scans.map(sourceOf);
    // The inputs of a request are for all sources of the mapping, also for those that another plan does not read.
    const others = planner === undefined ? [] : ofMapping;
    const sources = [...scanned, ...others.filter((source) => !scanned.includes(source))];
    const allLocated = locateInputs(sources, request);
    const located = allLocated.slice(0, scanned.length);
    const { plan, positions } = forDocuments(
      whole,
      located.map((places) => places?.length ?? 1),
    );
    const places = positions.map((position, at) => located[position]?.[at - positions.indexOf(position)]);
    const lookedUp = tablesOf(mapping);
    const loader = lookedUp.length === 0 ? undefined : await import('./tables.ts');
    const wanted = loader?.locateTables(lookedUp, request) ?? [];
    // All documents are known before the first one is opened.
    await onLocated?.([...places, ...wanted].flatMap((place) => place?.url ?? []));
    const tables = await loader?.loadTables(wanted, request, signal, step);
    const parts = await opened.parts(tables);
    const shape = plan.scans.map(({ iterations }) =>
      iterations.map((iteration) => [iteration.references, mapsOf(iteration).map(({ unique }) => unique)]),
    );
    const digest = createHash('sha256')
      .update(
        JSON.stringify([
          HASH_VERSION,
          documents.map(({ sha256 }) => sha256),
          base,
          shape,
          redact(request.database?.jdbcUrl ?? ''),
          parts.functions?.version,
        ]),
      )
      .digest('hex');
    return {
      ...parts,
      plan,
      physical: loweredOf(plan, request.distinct),
      places,
      sources: ofMapping,
      version,
      modules: loaded.modules,
      warnings: [...warnings, ...(databases?.warnings ?? []), ...(tables?.warnings ?? [])],
      documents,
      tables,
      digest,
      labels: labelsOf(
        documents,
        plan.scans.map((scan, position) => ({ ...scan, source: sourceOf(scan), place: places[position] })),
        sources.flatMap((source, i) => (allLocated[i] ?? [undefined]).map((place) => ({ source, place }))),
        request,
      ),
    };
  } catch (error) {
    await opened.close();
    throw error;
  }
}

/** A run ends, and the messages of a topic do not. */
function refuseTopics(sources: readonly LogicalSource[]): void {
  const topics = new Set(sources.flatMap((source) => (source.kind === 'file' && source.request?.kind === 'topic' ? source.request : [])));
  if (topics.size === 0) return;
  const lines = [...topics].map(({ topic, origin }) =>
    formatDiagnostic({
      severity: 'error',
      code: 'not-supported',
      origin,
      message: `the topic ${topic} is read by quadmill follow, and by no run`,
      hint: 'quadmill follow MAPPING --dataset DIR keeps a dataset of its messages; --until-caught-up ends when all are read',
    }),
  );
  throw new Fault('mapping/invalid', lines.join('\n'));
}

function planBy(planner: Planner | undefined, mapping: Mapping, base: string, databases: Databases | undefined, request: RunRequest): Plan {
  if (planner !== undefined) return planner(mapping, base, databases?.metadata ?? NO_METADATA);
  if (databases === undefined) return planOf(mapping, base, request);
  return planMapping(mapping, base, databases.metadata, request, request.rdf === '1.2');
}

/** Both sides of a join are of one database. */
const sourceOf = ({ source }: ScanPlan): LogicalSource => (source.kind === 'sql-pairs' ? source.child : source);

interface SelectedMapping extends Pick<LoadedMapping, 'mapping' | 'documents'> {
  readonly warnings: readonly string[];
}

/** With `boundOnly`: the mapping without triples maps and documents that are unrelated to the inputs. */
function selected({ mapping, warnings, documents }: LoadedMapping, { boundOnly, inputs }: RunRequest): SelectedMapping {
  if (boundOnly !== true) return { mapping, warnings: warnings.map(formatDiagnostic), documents };
  const bound = bindSources(allSourcesOf(mapping), inputs, true);
  const { mapping: wanted, leftOut } = selectBound(mapping, new Set(bound.keys()));
  const text = leftOutText(leftOut);
  if (text === undefined) return { mapping, warnings: warnings.map(formatDiagnostic), documents };
  const kept = new Set(wanted.triplesMaps.map(({ origin }) => origin.document));
  const idle = new Set(leftOut.map(({ origin }) => origin.document).filter((document) => !kept.has(document)));
  return {
    mapping: sameSelection(mapping, wanted),
    warnings: [...warnings.filter(({ origin }) => !idle.has(origin.document)).map(formatDiagnostic), text],
    documents: documents.filter(({ url }) => !idle.has(url)),
  };
}

/** Returns the same object for the same part of a cached mapping, so that its plan is made once. */
function sameSelection(mapping: Mapping, wanted: Mapping): Mapping {
  const known = selections.get(mapping) ?? new Map<string, Mapping>();
  selections.set(mapping, known);
  const key = JSON.stringify(wanted.triplesMaps.map(({ id }) => id));
  const found = known.get(key) ?? wanted;
  known.set(key, found);
  if (known.size > SELECTIONS) known.delete(known.keys().next().value as string);
  return found;
}

const selections = new WeakMap<Mapping, Map<string, Mapping>>();
const SELECTIONS = 64;

/**
 * Cache of plans for mappings in the cache of `loadMapping`, each for one base, by policies and version of RDF. Catalogue metadata may
 * change from run to run, so plans over databases are not cached.
 */
const plans = new WeakMap<Mapping, Map<string, Plan>>();

function planOf(mapping: Mapping, base: string, { onError, datatypeCheck, rdf }: RunRequest): Plan {
  const known = plans.get(mapping) ?? new Map<string, Plan>();
  plans.set(mapping, known);
  const key = `${onError ?? 'default'} ${datatypeCheck ?? 'default'} ${rdf}`;
  const plan = known.get(key) ?? planMapping(mapping, base, NO_METADATA, { onError, datatypeCheck }, rdf === '1.2');
  known.set(key, plan);
  return plan;
}

/** Of cached plans, the nodes are made once. */
const lowered = { distinct: new WeakMap<Plan, PhysicalPlan>(), all: new WeakMap<Plan, PhysicalPlan>() };

function loweredOf(plan: Plan, distinct: boolean): PhysicalPlan {
  const known = lowered[distinct ? 'distinct' : 'all'];
  const physical = known.get(plan) ?? lower(plan, distinct);
  known.set(plan, physical);
  return physical;
}
