/** `quadmill explain --statement`: the rules that can make statements, and the records that do. */

import { relative, sep } from 'node:path';
import { describeFault, Fault } from '../../src/core/fault.ts';
import { fromBytes, toBytes } from '../../src/core/text.ts';
import type { FoundPlace, FoundRecord, FoundRow, FoundRows } from '../../src/explain/find-records.ts';
import { candidatesFor, canMake, describeCandidates, gathering } from '../../src/explain/statement.ts';
import { readStatements } from '../../src/nquads/read.ts';
import type { Statement } from '../../src/nquads/statement.ts';
import { eachStatement, termsOfQuoted } from '../../src/nquads/terms.ts';
import { Builder } from '../../src/plan/build/operators.ts';
import { buildRules } from '../../src/plan/build/rules.ts';
import { ViewBuilder } from '../../src/plan/build/views.ts';
import { describeDatabaseRows } from '../../src/plan/explain.ts';
import { loadMapping } from '../../src/run/prepare/load.ts';
import { type Parsed, UsageError } from '../command-line.ts';
import { EXIT } from '../exit.ts';
import { interruptible } from '../interruption.ts';
import { databaseOf } from '../options/database.ts';
import { functionFilesOf } from '../options/functions.ts';
import { webAccess } from '../options/inputs.ts';
import { Rejections } from '../report/rejections.ts';
import { count, printData, printLine } from '../terminal.ts';
import { requestOf } from './run.ts';

/** Prints the explanations of statements; resolves to the exit code. @throws UsageError — a text is no statement */
export async function explainStatements(texts: readonly string[], base: string, parsed: Parsed): Promise<number> {
  const statements = await parseStatements(texts);
  const { mapping } = await loadMapping(
    parsed.positionals,
    { baseIri: base },
    { workingDirectory: process.cwd(), reach: undefined, s3: webAccess().s3 },
  );
  const builder = new Builder();
  const maps = buildRules(mapping, base, builder, new ViewBuilder(mapping.triplesMaps, builder));
  const candidates = statements.map((statement) => candidatesFor(statement, maps, termsOfQuoted));
  const gatherers = statements.map((statement) => gathering(statement, maps));
  const able = candidates.map((all, i) => all.some(canMake) || (gatherers[i] ?? []).length > 0);
  const found = parsed.has('records') && able.includes(true) ? await findAll(statements, parsed) : undefined;
  const blocks = statements.map((statement, i) =>
    [
      lineOf(statement),
      ...describeCandidates(statement, candidates[i] ?? [], gatherers[i] ?? []),
      ...(found === undefined || !able[i] ? [] : describeRows(found[i] as FoundRows)),
    ].join('\n'),
  );
  printData(`${blocks.join('\n\n')}\n`);
  const isMade = (i: number): boolean => able[i] === true && (found === undefined || (found[i] as FoundRows).count > 0);
  return statements.every((_, i) => isMade(i)) ? EXIT.done : EXIT.failed;
}

async function parseStatements(texts: readonly string[]): Promise<readonly Statement[]> {
  const lines = texts.map((text) => (/\.\s*$/.test(text) ? text : `${text} .`));
  if (lines.some((line) => line.includes('<<'))) return quotingStatements(lines);
  const bytes = async function* (): AsyncGenerator<Uint8Array> {
    yield Buffer.from(`${lines.join('\n')}\n`);
  };
  const statements: Statement[] = [];
  try {
    for await (const block of readStatements(bytes(), { input: '--statement', skolem: undefined })) {
      const [rejected] = block.rejected;
      if (rejected !== undefined) throw Fault.from(rejected.fault);
      statements.push(...block.statements);
    }
  } catch (error) {
    throw new UsageError(`--statement is no statement of N-Quads: ${describeFault(Fault.of(error))}`);
  }
  if (statements.length < texts.length) throw new UsageError('--statement is empty, expected is a statement of N-Quads');
  return statements;
}

/** Statements with quoted triples, which must be written as a run writes them. */
function quotingStatements(lines: readonly string[]): readonly Statement[] {
  const statements: Statement[] = [];
  try {
    for (const line of lines) {
      eachStatement(`${toBytes(line.trim())}\n`, (subject, predicate, object, graph) => {
        statements.push({ subject, predicate, object, graph, line: 0 });
      });
    }
  } catch (error) {
    throw new UsageError(`--statement is no statement: ${describeFault(Fault.of(error))}`);
  }
  return statements;
}

const lineOf = ({ subject, predicate, object, graph }: Statement): string =>
  fromBytes([subject, predicate, object, ...(graph === '' ? [] : [graph]), '.'].join(' '));

async function findAll(statements: readonly Statement[], parsed: Parsed): Promise<readonly FoundRows[]> {
  const { findRecords } = await import('../../src/explain/find-records.ts');
  const rejections = new Rejections(undefined);
  let rejected = 0;
  const interruption = interruptible();
  try {
    return await findRecords(
      { ...requestOf(parsed, parsed.positionals, databaseOf(parsed)), functions: await functionFilesOf(parsed) },
      statements,
      {
        signal: interruption.signal,
        reject: (rejection) => {
          rejected++;
          rejections.add(rejection);
        },
      },
    );
  } finally {
    interruption.end();
    const summary = rejections.summary(rejected);
    if (summary !== undefined) printLine(summary);
  }
}

function describeRows({ rows, count: all, partial }: FoundRows): readonly string[] {
  if (all === 0) return ['  no record makes it'];
  const more = all > rows.length ? [`    … and ${count(all - rows.length)} more`] : [];
  const note = partial ? ['    one side of a join has more records than are looked at: there may be others'] : [];
  return [`  ${count(all)} ${all === 1 ? 'record makes' : 'records make'} it`, ...rows.flatMap(describeRow), ...more, ...note];
}

const describeRow = ({ record, parent }: FoundRow): readonly string[] => [
  `    ${describeRecord(record)}`,
  ...(parent === undefined ? [] : [`      with ${describeRecord(parent)}`]),
];

function describeRecord({ places, values }: FoundRecord): string {
  const where = places.filter(({ record }) => record !== undefined).map(placeText);
  const read = values.flatMap(({ name, values: texts }) =>
    texts.length === 0 ? [] : [`${name} = ${texts.map((text) => JSON.stringify(text)).join(' and ')}`],
  );
  return `${where.join('; ')}${read.length === 0 ? '' : `: ${read.join(', ')}`}`;
}

/** A file within the working directory has no directory in front. */
const nameOf = (input: string): string => (input.startsWith(`${process.cwd()}${sep}`) ? relative(process.cwd(), input) : input);

function placeText({ input, scan: { source }, record, items }: FoundPlace): string {
  const name = source.kind === 'file' ? nameOf(input ?? source.path) : describeDatabaseRows(source);
  return [name, `${source.kind === 'file' ? 'record' : 'row'} ${record}`, ...items.map(({ name: item, index }) => `${item} ${index}`)].join(
    ', ',
  );
}
