/** Runs one case in this process and judges it. */

import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writer } from 'n3';
import { TargetFiles } from '../../bin/options/targets.ts';
import { RUN_DEFAULTS } from '../../src/config/run-defaults.ts';
import { withLimit } from '../../src/core/abort.ts';
import { describeFault, Fault } from '../../src/core/fault.ts';
import { fromBytes } from '../../src/core/text.ts';
import type { Language } from '../../src/mapping/convert/convert.ts';
import type { ErrorPolicy } from '../../src/mapping/model/model.ts';
import { readMapping } from '../../src/mapping/parse/read.ts';
import type { DatabaseAccess } from '../../src/run/request.ts';
import { executeRun } from '../../src/run/run.ts';
import { type QuadSink, SERIALIZATIONS } from '../../src/sinks/sink.ts';
import { readDirectMapping } from '../../src/sql/direct-mapping/direct-mapping.ts';
import { openSession } from '../../src/sql/drivers/open.ts';
import { parseJdbcUrl } from '../../src/sql/jdbc/jdbc.ts';
import { openInput } from '../../src/storage/open.ts';
import { MEDIA_TYPE, readRdf } from '../support/read-rdf.ts';
import { difference, differenceOfQuads } from './compare.ts';
import { type CaseDatabase, type CaseDatabases, scriptFor, scriptForTables } from './databases.ts';
import type { Case, ExpectedOutput } from './manifest.ts';
import { type CaseServers, isServed } from './servers.ts';
import { judgeConverted, type Outcome } from './via.ts';

export interface Verdict {
  readonly status: 'passed' | 'failed' | 'skipped';
  /** Of a case that was to fail and did: how it failed. */
  readonly reason: string;
}

const TIME_LIMIT_MS = 30_000;

/** Formats that are not run, by the reason. */
const NOT_RUN: Readonly<Record<string, readonly string[]>> = {
  'the harness starts no such server': ['SQLServer', 'Kafka', 'MQTT'],
};

/** @param via the mapping is converted, and what it gives then is compared with what it gives itself */
export async function runCase(
  test: Case,
  casesDirectory: string,
  databases: CaseDatabases,
  servers: CaseServers,
  via?: Language,
): Promise<Verdict> {
  const folder = join(casesDirectory, test.dir);
  const skip = await reasonToSkip(test, folder);
  if (skip !== undefined) return (await unreadableMapping(test, folder)) ?? skipped(skip);
  const targets = test.expectedOutputs.filter(({ role }) => role === 'target');
  const { format } = test;
  const needsDatabase = format === 'MySQL' || format === 'PostgreSQL';
  const decide = (one: Case, directory: string, database: DatabaseAccess | undefined): Promise<Verdict> =>
    via === undefined
      ? judge(one, folder, directory, database)
      : judgeConverted(one, directory, via, (mapping) => outcomeOf({ ...one, mapping }, directory, database));
  if (targets.length === 0 && !needsDatabase && !isServed(format) && via === undefined) return decide(test, folder, undefined);
  const scratch = await mkdtemp(join(tmpdir(), 'quadmill-case-'));
  try {
    await cp(folder, scratch, { recursive: true });
    for (const { file } of targets) await rm(join(scratch, file), { force: true });
    const mapping = join(scratch, MAPPING);
    if (isServed(format)) {
      const served = await servers.serve(test, folder, await readFile(join(folder, test.mapping as string), 'utf8'));
      if ('skip' in served) return skipped(`${served.skip} (${format})`);
      await writeFile(mapping, served.mapping);
      return await decide({ ...test, mapping: MAPPING }, scratch, undefined);
    }
    if (!needsDatabase) return await decide(test, scratch, undefined);
    const database = await databases.get(format);
    if ('skip' in database) return skipped(`${database.skip} (${format})`);
    const tables = test.inputs.filter((input) => input.endsWith('.csv')).map((input) => join(folder, input));
    const script =
      test.databaseScript !== null
        ? await scriptFor(join(folder, test.databaseScript), format)
        : tables.length > 0
          ? await scriptForTables(tables)
          : undefined;
    const refused = await database.load(test, script);
    if (refused !== undefined) return failed(refused);
    if (test.mapping === null) await writeFile(mapping, await directMapping(database, test.baseIRI));
    else await writeFile(mapping, addressed(await readFile(join(folder, test.mapping), 'utf8'), database));
    return await decide({ ...test, mapping: MAPPING }, scratch, {
      jdbcUrl: database.jdbcUrl,
      user: database.user,
      password: undefined,
    });
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

/** Upstream leaves places for the address, and in one suite for the login. */
const addressed = (mapping: string, { jdbcUrl, user }: CaseDatabase): string =>
  mapping
    .replace(/\$?CONNECTIONDSN/g, jdbcUrl)
    .replaceAll('$USERNAME', user)
    .replaceAll('$PASSWORD', '');

/** The mapping of a case with a server, with the server's address in the place that upstream left for it. */
const MAPPING = 'mapping-of-the-case.ttl';

async function directMapping({ jdbcUrl, user }: CaseDatabase, base: string): Promise<string> {
  const session = await openSession(parseJdbcUrl({ url: jdbcUrl, user }), RUN_DEFAULTS.sql);
  try {
    return await readDirectMapping(session, { base, schemas: [], tables: [] });
  } finally {
    await session.close();
  }
}

/** Of a case that is not run for want of a SQL Server, the mapping is read all the same: it has to be one. */
async function unreadableMapping(test: Case, folder: string): Promise<Verdict | undefined> {
  if (test.format !== 'SQLServer' || test.mapping === null || test.expectsError) return undefined;
  const text = (await readFile(join(folder, test.mapping), 'utf8')).replace(
    /\$?CONNECTIONDSN/g,
    'jdbc:sqlserver://localhost;databaseName=TestDB',
  );
  const { diagnostics } = await readMapping([{ name: test.mapping, text }], { baseIri: test.baseIRI });
  const error = diagnostics.find(({ severity }) => severity === 'error');
  return error === undefined ? undefined : failed(`the mapping is refused: ${error.message}`);
}

const skipped = (reason: string): Verdict => ({ status: 'skipped', reason });

/** The diagnostics of the mapping name what this version does not do. */
async function reasonToSkip(test: Case, folder: string): Promise<string | undefined> {
  const notRun = Object.entries(NOT_RUN).find(([, formats]) => formats.includes(test.format));
  if (notRun !== undefined) return `${notRun[0]} (${test.format})`;
  if (test.mapping === null) return undefined;
  const text = await readFile(join(folder, test.mapping), 'utf8');
  const { diagnostics } = await readMapping([{ name: test.mapping, text }], { baseIri: test.baseIRI });
  const unsupported = diagnostics.find(({ code, severity }) => code === 'not-supported' && severity === 'error');
  if (unsupported !== undefined) return unsupported.message;
  return undefined;
}

async function judge(test: Case, folder: string, workingDirectory: string, database: DatabaseAccess | undefined): Promise<Verdict> {
  const output = await outputOf(test, workingDirectory, database);
  if (output instanceof Fault) {
    if (output.code === 'internal/error')
      return failed(`crashed: ${(output.cause as Error | undefined)?.stack?.split('\n')[0] ?? output.message}`);
    if (output.code === 'run/cancelled') return failed(`took longer than ${TIME_LIMIT_MS / 1000} s`);
    return { status: test.expectsError ? 'passed' : 'failed', reason: inOneLine(`${output.code}: ${describeFault(output)}`) };
  }
  if (test.expectsError) return failed(`an error was expected, ${output.split('\n').length - 1} statements came`);
  for (const expected of test.expectedOutputs) {
    const reason =
      expected.role === 'default'
        ? difference(
            { text: output, mediaType: 'application/n-quads', baseIri: test.baseIRI },
            { text: await readFile(join(folder, expected.file), 'utf8'), mediaType: expected.mediaType, baseIri: test.baseIRI },
          )
        : await targetDifference(expected, folder, workingDirectory, test.baseIRI);
    if (reason !== undefined) return failed(reason);
  }
  return PASSED;
}

/** Why the file of a target does not say what it should; undefined when it does. */
async function targetDifference(expected: ExpectedOutput, folder: string, directory: string, base: string): Promise<string | undefined> {
  const { file, mediaType } = expected;
  const format = SERIALIZATIONS.find((one) => MEDIA_TYPE[one] === mediaType);
  if (format === undefined) return `the harness does not read ${mediaType}`;
  const quads = async (from: string) => readRdf(format, await textOf(from, expected), base);
  try {
    const reason = differenceOfQuads(await quads(join(directory, file)), await quads(join(folder, file)));
    return reason === undefined ? undefined : `target ${file}: ${reason}`;
  } catch (error) {
    return `target ${file}: ${(error as Error).message}`;
  }
}

/** What a run gives, with the targets that the suite names. */
async function outcomeOf(test: Case, directory: string, database: DatabaseAccess | undefined): Promise<Outcome> {
  // The languages have different policies.
  const output = await outputOf(test, directory, database, 'skip');
  if (output instanceof Fault) return output;
  const outputs = [output];
  for (const expected of test.expectedOutputs) {
    const format = SERIALIZATIONS.find((one) => MEDIA_TYPE[one] === expected.mediaType);
    if (expected.role !== 'target' || format === undefined) continue;
    const file = join(directory, expected.file);
    outputs.push(new Writer({ format: 'N-Quads' }).quadsToString(await readRdf(format, await textOf(file, expected), test.baseIRI)));
    // The next run writes its own.
    await rm(file);
  }
  return outputs;
}

/** The text of a file that may be packed, and whose name tells how. */
async function textOf(file: string, { encoding = 'utf-8' }: ExpectedOutput): Promise<string> {
  const { bytes, close } = await openInput(file, { reach: undefined, workingDirectory: '/' });
  try {
    const chunks: Uint8Array[] = [];
    for await (const chunk of bytes) chunks.push(chunk);
    return new TextDecoder(encoding).decode(Buffer.concat(chunks));
  } finally {
    await close();
  }
}

const PASSED: Verdict = { status: 'passed', reason: '' };
const failed = (reason: string): Verdict => ({ status: 'failed', reason: inOneLine(reason) });
const inOneLine = (text: string): string => text.replace(/\s*\n\s*/g, ' | ');

/** The N-Quads that the run wrote, or the fault that ended it. */
async function outputOf(
  test: Case,
  workingDirectory: string,
  database: DatabaseAccess | undefined,
  onError: ErrorPolicy | undefined = test.expectsError ? 'strict' : undefined,
): Promise<string | Fault> {
  let lines = '';
  const sink: QuadSink = {
    write(text) {
      lines += text;
    },
    commit: async () => [],
    abort: async () => undefined,
  };
  const inputs = Object.entries(test.sourceOverrides ?? {}).map(([name, file]) => ({ name, url: join(workingDirectory, file) }));
  const request = {
    ...RUN_DEFAULTS,
    runId: 'conformance',
    mappings: [join(workingDirectory, test.mapping as string)],
    inputs,
    workingDirectory,
    base: test.baseIRI,
    // A suite that wants an error for a reference that no record has asks for what a user would have to ask for.
    onError,
    database,
    spillDirectory: tmpdir(),
  };
  const targets = new TargetFiles(request, '-');
  try {
    const { open: openTarget } = targets;
    await withLimit(TIME_LIMIT_MS, (signal) => Promise.race([executeRun(request, sink, { signal, openTarget }), rejectionOf(signal)]));
    await targets.commit();
    return fromBytes(lines);
  } catch (error) {
    await targets.abort();
    return Fault.of(error);
  }
}

/** For a run that would not look at its signal. */
const rejectionOf = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    signal.addEventListener('abort', () => setTimeout(() => reject(new Fault('run/cancelled', 'The time limit ran out')), 1000).unref(), {
      once: true,
    });
  });
