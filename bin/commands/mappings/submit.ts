/** `quadmill run --engine spark`: the plan of a mapping on a server of Spark Connect, which writes its output. */
import type { OptionName } from '../../../src/config/options/options.ts';
import { Fault } from '../../../src/core/fault.ts';
import { formatOrigin } from '../../../src/mapping/model/model.ts';
import { DEFAULT_BASE } from '../../../src/run/request.ts';
import { parseSparkAddress, type SparkAddress } from '../../../src/spark/address.ts';
import { type SparkProgress, SparkSession } from '../../../src/spark/session.ts';
import { throwRefusals } from '../../../src/transpile/refusals.ts';
import type { Transpiled } from '../../../src/transpile/transpile.ts';
import { type Parsed, UsageError } from '../../command-line.ts';
import { EXIT } from '../../exit.ts';
import { withInterruption } from '../../interruption.ts';
import { placesOf } from '../../options/places.ts';
import { variablesOf } from '../../options/variables.ts';
import { count, printFault, printLine, rewrittenLine } from '../../terminal.ts';
import { transpileFiles } from './compile.ts';

/** Options of `run` that a job on another engine takes. */
const TAKEN: ReadonlySet<string> = new Set(['engine', 'connect', 'source', 'output', 'base', 'format', 'on-error', 'datatype-check']);

/** Options and variables of each run, and their only values here: a job maps in one way. */
const VALUES: readonly (readonly [option: string | undefined, variable: OptionName | undefined, only: readonly string[]])[] = [
  ['format', undefined, ['nquads']],
  ['on-error', 'ON_ERROR', ['strict', 'auto']],
  ['datatype-check', 'DATATYPE_CHECK', ['error', 'auto']],
  [undefined, 'DISTINCT', ['true']],
  [undefined, 'MAX_RUN_SECONDS', ['0']],
];

/**
 * @param options the names of the options of `run`
 * @param base of `--base`
 * @throws UsageError; Fault config/invalid, mapping/syntax, mapping/invalid — before anything is sent
 */
export async function submit(parsed: Parsed, options: readonly string[], base: string | undefined): Promise<number> {
  checkOptions(parsed, options);
  const address = addressOf(parsed);
  const output = outputOf(parsed);
  const job = await transpileFiles(parsed.positionals, 'spark', placesOf(parsed), base ?? variablesOf('BASE_IRI').BASE_IRI ?? DEFAULT_BASE);
  throwRefusals(job.refusals, job.dialect.title);
  const outputs = [
    { query: job.query, directory: output },
    ...job.targets.map(({ name, query }) => ({ query, directory: `${output}-${name}` })),
  ];
  for (const { directory } of outputs) refuseOverwriting(directory, job);
  return withInterruption(`${output} is complete only if it has _SUCCESS`, async (signal) => {
    const session = await SparkSession.open(address, signal);
    const line = rewrittenLine(
      ({ completed, tasks, bytesRead }: SparkProgress) =>
        `${count(completed)} of ${count(tasks)} tasks, ${count(Math.round(bytesRead / 1e6))} MB read`,
    );
    try {
      for (const statement of job.preparation) {
        const origin = job.reads.get(statement)?.origin;
        await session.run(statement, origin === undefined ? {} : { mapping: formatOrigin(origin) });
      }
      for (const { query, directory } of outputs) {
        const lines = await session.write(query, directory, line.update);
        line.clear();
        printLine(`${count(lines)} statements are in ${directory}`);
      }
      return EXIT.done;
    } catch (error) {
      line.clear();
      // An interruption is reported in another way.
      if (signal.aborted && Fault.of(error).code === 'engine/unreachable') printFault(Fault.of(error));
      throw error;
    } finally {
      await session.close();
    }
  });
}

/** @throws UsageError; Fault config/invalid — of a variable */
function checkOptions(parsed: Parsed, options: readonly string[]): void {
  const other = options.find((name) => parsed.has(name) && !TAKEN.has(name));
  if (other !== undefined) throw new UsageError(`--${other} has no effect on another engine: leave it out, or --engine`);
  const variables = variablesOf(...VALUES.flatMap(([, variable]) => variable ?? []));
  for (const [option, variable, only] of VALUES) {
    const [name, value] =
      option !== undefined && parsed.has(option)
        ? [`--${option}`, parsed.value(option)]
        : [variable as OptionName, variable && String(variables[variable] ?? only[0])];
    if (value !== undefined && !only.includes(value))
      throw new UsageError(`${name} is ${value}, and a run on another engine takes ${only.join(' or ')} alone`);
  }
}

/** @throws UsageError; Fault config/invalid */
function addressOf(parsed: Parsed): SparkAddress {
  // Arguments of a process are seen by other users, and the address may have a token.
  const text = parsed.value('connect') ?? process.env.SPARK_REMOTE;
  if (text === undefined) throw new UsageError('--engine spark needs --connect sc://HOST:PORT, or the variable SPARK_REMOTE');
  return parseSparkAddress(text);
}

/** The directory, without a slash at its end. @throws UsageError */
function outputOf(parsed: Parsed): string {
  const output = parsed.value('output') ?? '-';
  if (!/^[a-z][a-z0-9+.-]+:\/+[^/]/i.test(output))
    throw new UsageError(`--output is '${output}', expected is a directory that Spark reaches: s3a://…, hdfs://…, file:///…`);
  return output.replace(/\/+$/, '');
}

/** Spark replaces the whole directory. @throws Fault request/invalid */
function refuseOverwriting(directory: string, { reads }: Transpiled): void {
  for (const { origin, binding } of reads.values()) {
    if (binding.kind !== 'file' || !`${plainPlace(binding.path)}/`.startsWith(`${plainPlace(directory)}/`)) continue;
    throw new Fault('request/invalid', `The output ${directory} would replace ${binding.path}, which the run reads`, {
      place: { mapping: formatOrigin(origin) },
      hint: 'Give it another name, or another directory',
    });
  }
}

/** The same for places that are written in different ways. */
const plainPlace = (place: string): string =>
  place
    .replace(/^file:\/*(?=\/)/i, '')
    .replace(/^s3[an]?:/i, 's3:')
    .replace(/\/+$/, '');
