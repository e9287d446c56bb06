/** `quadmill explain`: how a mapping would be executed, and which of its rules and records make a statement. */
import { describeFault, Fault } from '../../src/core/fault.ts';
import { allSourcesOf, type LogicalSource } from '../../src/mapping/model/model.ts';
import { explainPlan } from '../../src/plan/explain.ts';
import { planMapping } from '../../src/plan/planning.ts';
import { Databases } from '../../src/run/databases/databases.ts';
import { openWholes } from '../../src/run/prepare/documents/whole.ts';
import { loadMapping } from '../../src/run/prepare/load.ts';
import { type DatabaseAccess, DEFAULT_BASE } from '../../src/run/request.ts';
import { type Command, commandOf, UsageError } from '../command-line.ts';
import { EXIT } from '../exit.ts';
import { DATABASE_OPTIONS, databaseOf, sqlLimits } from '../options/database.ts';
import { FUNCTION_OPTIONS, openedFunctionsOf } from '../options/functions.ts';
import { INPUT_OPTIONS, webAccess } from '../options/inputs.ts';
import { printData, printLine } from '../terminal.ts';
import { RUN, requestOf } from './run.ts';

const { 'memory-mb': memory, 'max-record-mb': record, 'xml-default-namespace': namespace } = RUN.options;

const EXPLAIN: Command = {
  name: 'explain',
  usage: 'explain MAPPING… [options]',
  summary:
    'Shows which inputs a mapping reads, what each record feeds, and how joins and duplicates are handled. No input is read; a database is asked for its keys and types. With --statement: which rules can make a statement, and with --records which records do.',
  options: {
    statement: { value: 'NQUAD', multiple: true, summary: 'a statement as N-Quads, such as \'<http://e/1> <http://e/name> "Ada" .\'' },
    records: { summary: 'read the inputs of the rules that can make the statements, and show the records that do' },
    dataset: { summary: 'say how a run with --dataset finds changes: by record or by output, and why not by record' },
    ...INPUT_OPTIONS,
    ...DATABASE_OPTIONS,
    ...FUNCTION_OPTIONS,
    base: { value: 'IRI', summary: `base of relative IRIs, default ${DEFAULT_BASE}` },
    'memory-mb': memory as Command['options'][string],
    'max-record-mb': record as Command['options'][string],
    'xml-default-namespace': namespace as Command['options'][string],
  },
  notes:
    'Exit codes: 0 done, 1 nothing makes one of the statements or an input cannot be read, 2 the command line or the mapping is wrong.',
};

export const explain = commandOf(EXPLAIN, async (parsed) => {
  if (parsed.positionals.length === 0) throw new UsageError('explain needs a mapping');
  const base = parsed.value('base') ?? DEFAULT_BASE;
  const texts = parsed.values('statement');
  if (texts.length > 0) return (await import('./explain-statement.ts')).explainStatements(texts, base, parsed);
  if (parsed.has('records')) throw new UsageError('--records shows the records of a statement: add --statement');
  const { mapping } = await loadMapping(
    parsed.positionals,
    { baseIri: base, functions: await openedFunctionsOf(parsed) },
    { workingDirectory: process.cwd(), reach: undefined, s3: webAccess().s3 },
  );
  const databases = await openDatabases(allSourcesOf(mapping), databaseOf(parsed));
  const request = requestOf(parsed, parsed.positionals, undefined);
  printData(explainPlan(mapping, base, databases?.metadata, await openWholes(request)));
  if (parsed.has('dataset')) {
    const { explainChanges } = await import('../../src/datasets/records/explain.ts');
    printData(explainChanges(planMapping(mapping, base, databases?.metadata), request));
  }
  await databases?.close();
  return EXIT.done;
});

/** Without its database a mapping can still be explained, except for what depends on keys and types. */
async function openDatabases(sources: readonly LogicalSource[], database: DatabaseAccess | undefined): Promise<Databases | undefined> {
  try {
    return await Databases.open(sources, { database, sql: sqlLimits(), workingDirectory: process.cwd(), reach: undefined }, {}, undefined);
  } catch (error) {
    printLine(`explained without the database, which decides about keys and joins: ${describeFault(Fault.of(error))}`);
    return undefined;
  }
}
