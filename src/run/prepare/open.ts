/** A prepared run: plain data, which all threads have in common, and what each of them opens for itself. */
import { Fault } from '../../core/fault.ts';
import type { OpenedFunctions } from '../../custom-functions/open.ts';
import type { CustomFunctions } from '../../functions/definition.ts';
import { loadModules, type Modules } from '../../functions/library.ts';
import type { LogicalSource } from '../../mapping/model/model.ts';
import type { PhysicalPlan } from '../../plan/physical/nodes.ts';
import type { Plan } from '../../plan/plan.ts';
import type { Databases } from '../databases/databases.ts';
import type { RunRequest } from '../request.ts';
import type { DocumentPlace } from './documents/inputs.ts';
import type { RunLabels } from './labels.ts';
import type { LoadedMapping } from './load.ts';
import type { LoadedTables } from './tables.ts';

/** Plain data that `structuredClone` copies, once its secrets are packed. Objects that it has in several places stay the same ones. */
export interface PreparedData {
  readonly plan: Plan;
  /** The plan, lowered with the keys of documents that are known: none, or those of `findKeys`. */
  readonly physical: PhysicalPlan;
  /** The document of each scan; undefined for a database scan. */
  readonly places: readonly (DocumentPlace | undefined)[];
  /** Those of the mapping: the databases among them are opened. */
  readonly sources: readonly LogicalSource[];
  /** Of the custom functions and databases with which the plan was made. */
  readonly version: string;
  /** Every thread loads them. */
  readonly modules: Modules;
  readonly warnings: readonly string[];
  readonly documents: LoadedMapping['documents'];
  /** In which functions look values up. undefined: there are none. */
  readonly tables: LoadedTables | undefined;
  /** Digest of hash function, mapping, plan, tables and database: processes with equal digests have the same plan over the same database. */
  readonly digest: string;
  readonly labels: RunLabels;
}

export interface PreparedRun extends PreparedData {
  /** undefined: the mapping reads no database. */
  readonly databases: Databases | undefined;
  /** Functions of the run beside the built-in ones, and those that look values up in tables. */
  readonly functions: CustomFunctions | undefined;
  close(): Promise<void>;
}

export const dataOf = ({ databases: _, functions: __, close: ___, ...data }: PreparedRun): PreparedData => data;

/**
 * Opens in a thread what the thread that has prepared a run has open. The caller closes it.
 *
 * The plan rests on what databases have said of keys and types. A database that shares no snapshot may say something else by now.
 *
 * @throws Fault run/lost — it does, or the custom functions are others; those of custom functions and databases
 */
export async function openPrepared(
  data: PreparedData,
  request: RunRequest,
  snapshots: Readonly<Record<string, string>>,
): Promise<PreparedRun> {
  await loadModules(data.modules);
  const opened = new OpenedRun();
  try {
    await opened.openFunctions(request);
    await opened.openDatabases(data.sources, request, snapshots, undefined);
    if (opened.version !== data.version)
      throw new Fault('run/lost', 'The custom functions or the tables of a database have changed since the run began');
    return { ...data, ...(await opened.parts(data.tables)) };
  } catch (error) {
    await opened.close();
    throw error;
  }
}

/** What a thread opens for itself, as far as the mapping needs it. */
export class OpenedRun {
  functions: OpenedFunctions | undefined;
  databases: Databases | undefined;

  async openFunctions({ functions }: RunRequest): Promise<void> {
    if (functions !== undefined) this.functions = await (await import('../../custom-functions/open.ts')).openFunctions(functions);
  }

  async openDatabases(...given: Parameters<typeof Databases.open>): Promise<void> {
    const [sources] = given;
    if (sources.some(({ kind }) => kind === 'sql'))
      this.databases = await (await import('../databases/databases.ts')).Databases.open(...given);
  }

  get version(): string {
    return JSON.stringify([this.functions?.version, this.databases?.version]);
  }

  async parts(tables: LoadedTables | undefined): Promise<Omit<PreparedRun, keyof PreparedData>> {
    const functions = tables === undefined ? this.functions : (await import('./tables.ts')).withTables(this.functions, tables);
    return { databases: this.databases, functions, close: () => this.close() };
  }

  async close(): Promise<void> {
    this.functions?.close();
    await this.databases?.close();
  }
}
