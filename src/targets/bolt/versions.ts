/** Versions of datasets in a property graph: their changes, and the positions of datasets. */
import type { Fault } from '../../core/fault.ts';
import type { Statement } from '../../nquads/statement.ts';
import type { Names, PropertyGraphOptions } from '../../property-graph/names.ts';
import { type DatasetKey, type DatasetPosition, NO_POSITION, type VersionTarget } from '../target.ts';
import { changeInto } from './change.ts';
import type { BoltConnection, Work } from './connect.ts';
import { positions } from './cypher.ts';
import { elementReader } from './read.ts';
import { changeShared, sharedStatements } from './shared.ts';

/**
 * @param options what the names depend on
 * @param refusal why a statement is refused; undefined: it is not
 */
export function versionsOver(
  connection: BoltConnection,
  names: Names,
  options: PropertyGraphOptions,
  refusal: (statement: Statement) => Fault | undefined,
): VersionTarget {
  const isTaken = (statement: Statement): boolean => refusal(statement) === undefined;
  const prefixes = Object.entries(options.prefixes).map(([prefix, namespace]) => `${prefix}=${namespace}`);
  const suffix = `, KEEP_LANGUAGE ${options.keepLanguage}, PROPERTY_GRAPH_PREFIXES ${prefixes.sort().join(' ') || 'none'}`;
  return {
    takesKept: true,
    async positions(signal) {
      const { records } = await connection.transaction((work) => work.run(positions.all), signal);
      return records.map((record) => {
        const { version, form, ...others } = record.toObject() as unknown as Stored;
        return { ...others, version: Number(version), form: form.endsWith(suffix) ? form.slice(0, -suffix.length) : form };
      });
    },
    async change(batch, position, { id, name }, signal) {
      for (const statement of batch.added) {
        const refused = refusal(statement);
        if (refused !== undefined) throw refused;
      }
      // What was refused is not in the store.
      const taken = batch.within === undefined ? { ...batch, removed: batch.removed.filter(isTaken) } : batch;
      await connection.transaction(async (work) => {
        if (batch.from !== undefined && !(await isAt(work, id, batch.from))) return;
        if (batch.isShared) await changeShared(work, taken, id, names);
        else await changeInto(work, taken, names);
        if (position === undefined) return;
        const { version, complete, form } = position;
        const stored: Stored = { id, name, version: BigInt(version), complete, form: form + suffix };
        await work.run(positions.store, { position: stored });
      }, signal);
    },
    elements: elementReader(connection, names, refusal),
    shared: sharedStatements(connection),
  };
}

/**
 * Whether the server has the position: a change of a writer that has lost its dataset to another one is without effect, as in SPARQL stores.
 */
async function isAt(work: Work, id: string, from: DatasetPosition | typeof NO_POSITION): Promise<boolean> {
  // Batches of a graph that is loaded run side by side.
  const { records } = await work.run(positions.of(from !== NO_POSITION && from.complete), { id });
  const found = records.map((record) => record.toObject() as unknown as Pick<Stored, 'version' | 'complete'>);
  if (from === NO_POSITION) return found.length === 0;
  return found.some(({ version, complete }) => Number(version) === from.version && complete === from.complete);
}

/** The properties of the node of a dataset. The names of properties depend on options, so they are part of `form`. */
interface Stored extends DatasetKey, Omit<DatasetPosition, 'version'> {
  readonly version: bigint;
}
