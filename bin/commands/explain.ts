/** `quadmill explain`: shows how a mapping would be executed, without reading any input. */
import { describeFault, Fault } from '../../src/core/fault.ts';
import type { Mapping } from '../../src/mapping/model/model.ts';
import { explainPlan } from '../../src/plan/explain.ts';
import { Databases } from '../../src/run/databases/databases.ts';
import { loadMapping } from '../../src/run/prepare/load.ts';
import { type DatabaseAccess, DEFAULT_BASE } from '../../src/run/request.ts';
import { type Command, commandOf, UsageError } from '../command-line.ts';
import { EXIT } from '../exit.ts';
import { DATABASE_OPTIONS, databaseOf, sqlLimits } from '../options/database.ts';
import { printData, printLine } from '../terminal.ts';

const EXPLAIN: Command = {
  name: 'explain',
  usage: 'explain MAPPING… [options]',
  summary:
    'Shows which inputs a mapping reads, what each record feeds, and how joins and duplicates are handled. No input is read; a database is asked for its keys and types.',
  options: {
    ...DATABASE_OPTIONS,
    base: { value: 'IRI', summary: `base of relative IRIs, default ${DEFAULT_BASE}` },
  },
};

export const explain = commandOf(EXPLAIN, async (parsed) => {
  if (parsed.positionals.length === 0) throw new UsageError('explain needs a mapping');
  const base = parsed.value('base') ?? DEFAULT_BASE;
  const { mapping } = await loadMapping(parsed.positionals, { baseIri: base }, process.cwd());
  const databases = await openDatabases(mapping, databaseOf(parsed));
  printData(explainPlan(mapping, base, databases?.metadata));
  await databases?.close();
  return EXIT.done;
});

/** Without its database a mapping can still be explained, except for what depends on keys and types. */
async function openDatabases(mapping: Mapping, database: DatabaseAccess | undefined): Promise<Databases | undefined> {
  try {
    return await Databases.open(mapping, { database, sql: sqlLimits() }, {}, undefined);
  } catch (error) {
    printLine(`explained without the database, which decides about keys and joins: ${describeFault(Fault.of(error))}`);
    return undefined;
  }
}
