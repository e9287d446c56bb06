/** What comes before the first record: the mapping read, the databases asked, the plan made, the documents found. */
import { createHash } from 'node:crypto';
import type { Diagnostic, Mapping } from '../mapping/model.ts';
import { type Plan, planMapping } from '../plan/plan.ts';
import { redact } from '../redact.ts';
import { Databases } from './databases.ts';
import { locateInputs } from './inputs.ts';
import { type LoadedMapping, loadMapping } from './load.ts';
import { DEFAULT_BASE, type RunRequest } from './request.ts';

export interface PreparedRun {
  readonly plan: Plan;
  /** The document of each scan; undefined for a database's rows. */
  readonly urls: readonly (string | undefined)[];
  /** undefined: the mapping reads none. */
  readonly databases: Databases | undefined;
  readonly warnings: readonly Diagnostic[];
  readonly documents: LoadedMapping['documents'];
  /** Of mapping, plan and database: two processes that find the same one have planned the same, and read the same database. */
  readonly digest: string;
  close(): Promise<void>;
}

/**
 * Prepares a run; the same in every thread and process. Closed by whoever prepared it.
 *
 * @param snapshots states of databases to read, see `Databases.open`
 */
export async function prepareRun(
  request: RunRequest,
  signal: AbortSignal | undefined,
  snapshots: Readonly<Record<string, string>> = {},
): Promise<PreparedRun> {
  const base = request.base ?? DEFAULT_BASE;
  const { mapping, warnings, documents } = await loadMapping(request.mappings, base, request.workingDirectory, signal);
  const databases = await Databases.open(mapping, request, snapshots, signal);
  try {
    const plan = databases === undefined ? planOf(mapping, base) : planMapping(mapping, base, databases.facts);
    const urls = locateInputs(plan.scans, request.inputs, request.workingDirectory);
    const shape = plan.scans.map(({ iterations }) =>
      iterations.map(({ references, maps }) => [references, maps.map(({ unique }) => unique)]),
    );
    const digest = createHash('sha256')
      .update(JSON.stringify([documents.map(({ sha256 }) => sha256), base, shape, redact(request.database?.jdbcUrl ?? '')]))
      .digest('hex');
    return { plan, urls, databases, warnings, documents, digest, close: async () => databases?.close() };
  } catch (error) {
    await databases?.close();
    throw error;
  }
}

/** Plans of mappings that `loadMapping` remembers, each for one base. A database's facts may change from run to run. */
const plans = new WeakMap<Mapping, Plan>();

function planOf(mapping: Mapping, base: string): Plan {
  const plan = plans.get(mapping) ?? planMapping(mapping, base);
  plans.set(mapping, plan);
  return plan;
}
