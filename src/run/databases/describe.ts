/** Asks a database what the table or query of a source consists of. */
import { Fault } from '../../core/fault.ts';
import { didYouMean } from '../../core/nearest.ts';
import { formatOrigin, type SqlSource } from '../../mapping/model/model.ts';
import { readTable, readTables } from '../../sql/catalogue/catalogue.ts';
import { parseTableName } from '../../sql/catalogue/identifiers.ts';
import type { SqlSession } from '../../sql/database.ts';
import { allOf, type Relation } from '../../sql/select.ts';
import { inMapping } from './faults.ts';

/** Tables that a message lists at most. */
const SHOWN_TABLES = 30;

/**
 * Reads the columns of the source and, for a table, its keys.
 *
 * @throws Fault mapping/reference — the database has no such table or view; those of `SqlSession.describe`
 */
export async function describeSource(source: SqlSource, session: SqlSession): Promise<Relation> {
  const { content } = source;
  try {
    if (content.kind === 'query') {
      const columns = await session.describe(content.sql);
      const naming = source.references === 'identifiers' ? 'either' : source.references;
      return { session, label: 'The query', query: content.sql, naming, columns, table: undefined };
    }
    const parts = parseTableName(content.name, session.product);
    const table = await readTable(session, parts);
    if (table === undefined) throw await missingTable(content.name, session);
    const columns = await session.describe(allOf(table, session.product));
    return { session, label: `The ${table.kind} ${table.name}`, query: undefined, naming: source.references, columns, table };
  } catch (error) {
    throw inMapping(error, formatOrigin(content.origin));
  }
}

async function missingTable(name: string, session: SqlSession): Promise<Fault> {
  const names = (await readTables(session)).map((table) => table.name);
  return new Fault('mapping/reference', `The database has no table or view ${name}`, {
    place: { input: session.address.name, expression: name },
    hint:
      didYouMean(name.replace(/["`]/g, ''), names) ??
      (names.length === 0 ? 'It has no tables that this user may see' : `It has ${names.slice(0, SHOWN_TABLES).join(', ')}`),
  });
}
