/** `quadmill direct-mapping`: writes the W3C Direct Mapping of a database as a graph, or the R2RML document for it. */

import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Fault } from '../../src/core/fault.ts';
import { type DatabaseAccess, DEFAULT_BASE } from '../../src/run/request.ts';
import { type DirectMappingRequest, readDirectMapping } from '../../src/sql/direct-mapping/direct-mapping.ts';
import { openSession } from '../../src/sql/drivers/open.ts';
import { parseJdbcUrl } from '../../src/sql/jdbc/jdbc.ts';
import { makeTemporaryDirectory } from '../../src/storage/local/directory.ts';
import { type Command, commandOf, type Parsed, UsageError } from '../command-line.ts';
import { EXIT } from '../exit.ts';
import { withInterruption } from '../interruption.ts';
import { databaseOf, LOGIN_OPTIONS, sqlLimits } from '../options/database.ts';
import { formFor, refuseOtherEnding, STANDARD_OUTPUT, targetOf, whatIsLeft } from '../options/output.ts';
import { executeRequest, RUN, requestOf } from './run.ts';

const { output, format, base, 'on-error': onError, 'max-rejected': maxRejected, 'memory-mb': memory, stats } = RUN.options;

const DIRECT_MAPPING: Command = {
  name: 'direct-mapping',
  usage: 'direct-mapping JDBC_URL [options]',
  summary: `Maps the tables of a database to RDF by their names, keys and references alone (W3C Direct Mapping).
Default of JDBC_URL is the variable of that name.`,
  options: {
    ...LOGIN_OPTIONS,
    schema: {
      value: 'NAME',
      multiple: true,
      summary: "map this schema (MySQL: database), default the session's own; IRIs of the second and later ones begin with their name",
    },
    table: { value: 'NAME', multiple: true, summary: 'map this table or view, with or without its schema, default all tables' },
    r2rml: { summary: 'write the mapping as an R2RML document instead of the graph' },
    ...{ output, format, base, 'on-error': onError, 'max-rejected': maxRejected, 'memory-mb': memory, stats },
  } as Command['options'],
  notes: `A password within JDBC_URL can be read by everybody on this machine: better use DB_PASSWORD or --db-password-file.

  DB_PASSWORD=… quadmill direct-mapping jdbc:postgresql://localhost/shop --db-user reader -o shop.nq
  quadmill direct-mapping jdbc:mariadb://localhost/shop --db-user reader --db-password-file secret --r2rml -o shop.ttl`,
};

export const directMapping = commandOf(DIRECT_MAPPING, async (parsed) => {
  if (parsed.positionals.length > 1) throw new UsageError(`direct-mapping takes one database, not ${parsed.positionals.length}`);
  const database = databaseOf(parsed, parsed.positionals[0] ?? process.env.JDBC_URL);
  if (database === undefined) throw new UsageError('direct-mapping needs a JDBC URL, as in jdbc:postgresql://localhost/shop');
  const request = requestOf(parsed, [], database);
  // Checked early, while a usage error can still be reported.
  if (!parsed.has('r2rml')) formFor(targetOf(parsed), parsed.value('format'));
  else refuseOtherEnding(targetOf(parsed), 'Turtle');
  const wanted = { base: request.base ?? DEFAULT_BASE, schemas: parsed.values('schema'), tables: parsed.values('table') };
  return withInterruption(whatIsLeft(targetOf(parsed)), async (signal) => {
    const document = await documentOf(database, wanted, signal);
    if (parsed.has('r2rml')) return writeDocument(document, parsed);
    const directory = makeTemporaryDirectory('quadmill-direct-mapping-');
    try {
      const mapping = join(directory, 'direct-mapping.ttl');
      await writeFile(mapping, document);
      return await executeRequest({ ...request, mappings: [mapping] }, parsed, signal, false);
    } finally {
      await rm(directory, { recursive: true, force: true });
    }
  });
});

/** The R2RML document of a database. */
export async function documentOf(access: DatabaseAccess, wanted: DirectMappingRequest, signal: AbortSignal): Promise<string> {
  const address = parseJdbcUrl({ url: access.jdbcUrl, user: access.user, password: access.password });
  const session = await openSession(address, { signal, ...sqlLimits() });
  try {
    return await readDirectMapping(session, wanted);
  } finally {
    await session.close();
  }
}

async function writeDocument(document: string, parsed: Parsed): Promise<number> {
  const target = targetOf(parsed);
  if (target === STANDARD_OUTPUT) {
    process.stdout.write(document);
    return EXIT.done;
  }
  try {
    await writeFile(target, document);
  } catch (error) {
    throw new Fault('sink/failed', `${target} cannot be written: ${(error as Error).message}`, { cause: error });
  }
  return EXIT.done;
}
