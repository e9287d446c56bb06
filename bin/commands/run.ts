/** `quadmill run`: one run in this process. */
import { randomBytes } from 'node:crypto';
import { availableParallelism, tmpdir } from 'node:os';
import { RUN_DEFAULTS } from '../../src/config/run-defaults.ts';
import { Fault } from '../../src/core/fault.ts';
import { findNotInIri } from '../../src/core/text.ts';
import { CHANGES_BY } from '../../src/datasets/manifest.ts';
import { DATATYPE_CHECKS } from '../../src/mapping/model/model.ts';
import {
  type DatabaseAccess,
  type DatatypeCheck,
  type ErrorPolicy,
  type RunReport,
  type RunRequest,
  STANDARD_INPUT,
  XML_DEFAULT_NAMESPACES,
  type XmlDefaultNamespace,
} from '../../src/run/request.ts';
import { executeRun } from '../../src/run/run.ts';
import { GRAPH_HEADERS, RDF_VERSIONS, type RdfVersion, SERIALIZATIONS } from '../../src/sinks/sink.ts';
import { formatByExtension } from '../../src/storage/input-format.ts';
import { runMemoryBytes } from '../../src/storage/local/memory.ts';
import { type Command, commandOf, numberOf, type Parsed, UsageError } from '../command-line.ts';
import { EXIT } from '../exit.ts';
import { withInterruption } from '../interruption.ts';
import { DATABASE_OPTIONS, databaseOf, sqlLimits } from '../options/database.ts';
import { FUNCTION_OPTIONS, functionFilesOf } from '../options/functions.ts';
import { INPUT_OPTIONS, inputOptionsOf, inputsOf, webAccess } from '../options/inputs.ts';
import { formFor, openOutput, refuseOverwritingInputs, targetOf, whatIsLeft } from '../options/output.ts';
import { PLACE_OPTIONS } from '../options/places.ts';
import { declaredPrefixes } from '../options/prefixes.ts';
import { graphHeaderOf, writeGraphFiles } from '../options/property-graph.ts';
import { TargetFiles, WITH_PREFIXES } from '../options/targets.ts';
import { variablesOf } from '../options/variables.ts';
import { FAIL_ON_VALUES, reasonsToFail } from '../report/fail-on.ts';
import { RejectionLog, Rejections } from '../report/rejections.ts';
import { printReport } from '../report/report.ts';
import { statsOf } from '../report/stats.ts';
import { printError, printLine, progressLine } from '../terminal.ts';

const MB = 2 ** 20;

export const RUN: Command = {
  name: 'run',
  usage: 'run MAPPING… [options]',
  summary: 'Maps files and databases to RDF. MAPPING is the path or URL of a mapping in Turtle; several make one mapping.',
  options: {
    ...INPUT_OPTIONS,
    output: {
      short: 'o',
      value: 'FILE',
      summary:
        'write to FILE, which appears when it is complete, compressed if it ends with .gz or .zip; - is standard output, the default',
    },
    format: {
      short: 'f',
      value: 'FORMAT',
      choices: SERIALIZATIONS,
      summary: 'default by the ending of FILE (.nq, .nt, .ttl, .trig, .jsonld, .n3, .rdf, .rj); nquads if it has none',
    },
    'property-graph': {
      value: 'HEADER',
      choices: GRAPH_HEADERS,
      summary: 'also write the nodes and edges of the property graph as CSV, beside FILE: graph.nodes.csv, graph.edges.csv',
    },
    ...DATABASE_OPTIONS,
    engine: {
      value: 'ENGINE',
      choices: ['spark'],
      summary:
        'have Apache Spark map: it writes a directory of N-Quads, which --output names as Spark does (s3a://…, hdfs://…, file:///…), and takes what quadmill compile --for spark takes',
    },
    connect: {
      value: 'ADDRESS',
      summary: 'with --engine: the server of Spark Connect, sc://HOST:PORT/;NAME=VALUE;…; default: the variable SPARK_REMOTE',
    },
    source: { ...PLACE_OPTIONS.source, summary: `with --engine: ${PLACE_OPTIONS.source.summary}` },
    base: { value: 'IRI', summary: 'base of relative IRIs, default http://example.com/base/' },
    'on-error': {
      value: 'POLICY',
      choices: ['strict', 'skip', 'quarantine'],
      summary:
        'what happens when a value of a record is invalid; default strict, but skip for legacy RML, which leaves out an invalid object with its statement alone. If strict is set, a reference that no record of JSON or XML has also ends the run',
    },
    'fail-on': {
      value: 'KIND',
      choices: FAIL_ON_VALUES,
      multiple: true,
      summary:
        'end with exit code 3 if a triples map gave no statement or a join found no partner for any row (empty), or a record was rejected, or lost a statement (rejected); default none. The output is written all the same',
    },
    'datatype-check': {
      value: 'MODE',
      choices: DATATYPE_CHECKS,
      summary:
        'a literal whose text is no value of its datatype is an invalid value (error), is written and counted in a warning (warn), or is written (off); default error, but warn for legacy RML',
    },
    'max-rejected': { value: 'N', summary: 'with skip and quarantine: give up after more than N rejected records' },
    rdf: {
      value: 'VERSION',
      choices: RDF_VERSIONS,
      summary: 'how triples about triples are written: quoted as in RDF-star, or as triple terms and reifiers of RDF 1.2; default star',
    },
    dataset: {
      value: 'DIR',
      summary:
        'keep the graph as a dataset in DIR (a directory, or s3:// of object storage): each run makes a version of what has changed; see quadmill dataset --help',
    },
    'changes-by': {
      value: 'WAY',
      choices: CHANGES_BY,
      summary:
        'how --dataset finds what has changed: map everything and compare the graphs (output), or map the records of files that came and went (record); default record where that can be, which explain --dataset says',
    },
    whole: {
      summary:
        'with --dataset: read all rows of the tables whose changes the mapping describes (qms:changedSince), so that rows which were deleted without a trace go',
    },
    'no-distinct': { summary: 'do not remove duplicates: how often a statement is written also depends on memory' },
    threads: {
      value: 'N',
      summary: 'threads that map large inputs together; 1 keeps the order of the input; default: the cores, at most 4',
    },
    'memory-mb': {
      value: 'N',
      summary: 'memory of de-duplication and joins before they use temporary files; default: a sixteenth of the memory, 128 to 1024',
    },
    'max-record-mb': { value: 'N', summary: `the largest record that is read, default ${RUN_DEFAULTS.maxRecordBytes / MB}` },
    'xml-default-namespace': {
      value: 'NAMESPACE',
      choices: XML_DEFAULT_NAMESPACES,
      summary: "what a name without prefix means in XPath: no namespace, or the default namespace of the document's root; default none",
    },
    ...FUNCTION_OPTIONS,
    limit: {
      value: 'N',
      summary: 'a preview: read only the first N records of each source (and up to 10,000 as parents of joins), and stop there',
    },
    watch: { summary: 'run again whenever the mapping or a local input changes, and print which statements did' },
    'max-seconds': { value: 'N', summary: 'give up after N seconds' },
    stats: { summary: 'a line of JSON on standard error at the end: records, quads, seconds, memory' },
  },
  notes: `Rejected records go to FILE.rejected.ndjson under quarantine (rejected.ndjson when writing to standard output).
What does not fit in memory goes to TMPDIR/quadmill-…, which is removed at the end; only a run that is killed leaves it.

Options of the service hold for a run too, where the command line does not say otherwise, as variables:
BASE_IRI, ON_ERROR, DATATYPE_CHECK, MAX_REJECTED, RDF_VERSION, DISTINCT, MEMORY_BUDGET_MB, MAX_RECORD_BYTES,
XML_DEFAULT_NAMESPACE, MAX_RUN_SECONDS, and those of databases, servers and object storage: docs/options.md.

Exit codes: 0 done, 1 the run failed, 2 the command line or the mapping is wrong, 3 done, but --fail-on applies, 130 interrupted.

  quadmill run mapping.ttl -o graph.nq
  quadmill run mapping.ttl --limit 20 --watch
  quadmill run mapping.ttl --dataset ./people
  quadmill run mapping.ttl --engine spark --connect sc://spark.example.com:15002 -o s3a://lake/graph
  quadmill run mapping.ttl -i export.txt --delimiter ';' --encoding windows-1252
  curl -s https://example.com/people.json.gz | quadmill run mapping.ttl -i -
  quadmill run mapping.ttl --input people.csv=https://example.com/people-2026.csv.gz --format turtle
  DB_PASSWORD=… quadmill run r2rml.ttl --jdbc-url jdbc:postgresql://localhost/shop --db-user reader`,
};

export const run = commandOf(RUN, async (parsed) => {
  checkMappings(parsed.positionals);
  if (parsed.has('engine'))
    return (await import('./mappings/submit.ts')).submit(parsed, Object.keys(RUN.options), baseOf(parsed.value('base')));
  for (const name of ['connect', 'source'])
    if (parsed.has(name)) throw new UsageError(`--${name} is for a run on another engine: add --engine spark`);
  if (parsed.has('watch')) return startWatching(parsed);
  const request = { ...requestOf(parsed, parsed.positionals, databaseOf(parsed)), functions: await functionFilesOf(parsed) };
  // Checked early, while a usage error can still be reported.
  graphHeaderOf(parsed, targetOf(parsed), formFor(targetOf(parsed), parsed.value('format')).format);
  if (parsed.has('changes-by') && !parsed.has('dataset'))
    throw new UsageError('--changes-by says how a dataset finds its changes: add --dataset');
  if (parsed.has('whole') && !parsed.has('dataset')) throw new UsageError('--whole says what a dataset reads: add --dataset');
  if (parsed.has('dataset')) return (await import('../datasets/run.ts')).runIntoDataset(request, parsed);
  return withInterruption(whatIsLeft(targetOf(parsed)), async (signal) => {
    await refuseOverwritingInputs(targetOf(parsed), [...request.mappings, ...request.inputs.map(({ url }) => url)]);
    return executeRequest(request, parsed, signal);
  });
});

/** Options of what a run writes: with --watch it writes changes alone. */
const OUTPUT_OPTIONS = ['output', 'format', 'property-graph', 'stats', 'dataset'] as const;

/** @throws UsageError */
async function startWatching(parsed: Parsed): Promise<number> {
  const given = OUTPUT_OPTIONS.find((name) => parsed.has(name));
  if (given !== undefined) throw new UsageError(`--watch writes no file, only what changes, in N-Quads: leave out --${given}`);
  if (parsed.has('fail-on')) throw new UsageError('--watch goes on after each run: leave out --fail-on');
  const request = { ...requestOf(parsed, parsed.positionals, databaseOf(parsed)), functions: await functionFilesOf(parsed) };
  if (request.onError === 'quarantine') throw new UsageError('--watch writes no file, also of rejected records: use --on-error skip');
  if (request.inputs.some(({ url }) => url === STANDARD_INPUT))
    throw new UsageError('--watch reads inputs again, and standard input can be read once');
  const { watch } = await import('../watch/watch.ts');
  return watch(request);
}

/** @throws UsageError — no mapping, or a file that is an input by its name */
function checkMappings(mappings: readonly string[]): void {
  const [first] = mappings;
  if (first === undefined) throw new UsageError('run needs at least one mapping');
  const input = mappings.find((url) => formatByExtension(url) !== undefined);
  if (input === undefined) return;
  const mapping = mappings.find((url) => url !== input) ?? 'mapping.ttl';
  throw new UsageError(`${input} is an input by its name, but is given as a mapping: write quadmill run ${mapping} --input ${input}`);
}

/**
 * Executes a request with the output, format and statistics of the command line.
 *
 * @param explainEmpty whether to print why a triples map produced nothing, for the author of the mapping
 */
export async function executeRequest(request: RunRequest, parsed: Parsed, signal: AbortSignal, explainEmpty = true): Promise<number> {
  const target = targetOf(parsed);
  const form = formFor(target, parsed.value('format'));
  const graphHeader = graphHeaderOf(parsed, target, form.format);
  const prefixes = WITH_PREFIXES.has(form.format) ? await declaredPrefixes(request) : undefined;
  const output = await openOutput(target, form, prefixes);
  const targets = new TargetFiles(request, target);
  const log = request.onError === 'quarantine' ? new RejectionLog(output.rejectedPath) : undefined;
  const rejections = new Rejections(log);
  const line = progressLine();
  let report: RunReport;
  try {
    const reject = (rejection: Parameters<Rejections['add']>[0]): void => rejections.add(rejection);
    const hooks = { signal, progress: line.update, reject, openTarget: targets.open };
    report = await executeRun(request, output.sink, hooks);
    if (signal.aborted) throw new Fault('run/cancelled', 'The run was cancelled');
    const inTargets = await targets.commit();
    const parts = await output.sink.commit();
    report = { ...report, bytesWritten: parts.reduce((sum, { bytes }) => sum + bytes, inTargets) };
    log?.close();
  } catch (error) {
    line.clear();
    await targets.abort();
    await output.sink.abort();
    if (signal.aborted) log?.discard();
    else log?.close();
    throw error;
  } finally {
    output.close();
  }
  const warnings = graphHeader === undefined ? [] : await writeGraphFiles(graphHeader, target, request, signal);
  line.clear();
  printReport({ ...report, warnings: [...report.warnings, ...warnings] }, rejections, explainEmpty, request.firstRecords);
  if (parsed.has('stats')) printLine(JSON.stringify(statsOf(report)));
  const reasons = reasonsToFail(report, parsed.values('fail-on'));
  for (const reason of reasons) printError(reason);
  return reasons.length === 0 ? EXIT.done : EXIT.incomplete;
}

/** Threads that a run has without being told. */
const MOST_THREADS = 4;

/** Options of the service that a run of the command line has too. They hold where the command line does not say otherwise. */
const VARIABLES = [
  'BASE_IRI',
  'ON_ERROR',
  'DATATYPE_CHECK',
  'MAX_REJECTED',
  'RDF_VERSION',
  'DISTINCT',
  'MEMORY_BUDGET_MB',
  'MAX_RECORD_BYTES',
  'XML_DEFAULT_NAMESPACE',
  'MAX_RUN_SECONDS',
] as const;

/** @throws UsageError — an invalid value of an option of `RUN`; Fault config/invalid — of a variable */
export function requestOf(parsed: Parsed, mappings: readonly string[], database: DatabaseAccess | undefined): RunRequest {
  const inputs = inputsOf(parsed);
  const variables = variablesOf(...VARIABLES);
  const bytes = (megabytes: number | undefined): number | undefined => megabytes && megabytes * MB;
  const { ON_ERROR = 'auto', DATATYPE_CHECK = 'auto' } = variables;
  return {
    ...RUN_DEFAULTS,
    sql: sqlLimits(),
    web: webAccess(),
    runId: randomBytes(6).toString('hex'),
    mappings,
    inputs,
    inputOptions: inputOptionsOf(parsed),
    workingDirectory: process.cwd(),
    base: baseOf(parsed.value('base')) ?? variables.BASE_IRI,
    onError: (parsed.value('on-error') as ErrorPolicy | undefined) ?? (ON_ERROR === 'auto' ? undefined : ON_ERROR),
    datatypeCheck:
      (parsed.value('datatype-check') as DatatypeCheck | undefined) ?? (DATATYPE_CHECK === 'auto' ? undefined : DATATYPE_CHECK),
    maxRejected: numberOf(parsed, 'max-rejected', 0) ?? variables.MAX_REJECTED ?? RUN_DEFAULTS.maxRejected,
    distinct: !parsed.has('no-distinct') && (variables.DISTINCT ?? RUN_DEFAULTS.distinct),
    rdf: (parsed.value('rdf') as RdfVersion | undefined) ?? variables.RDF_VERSION ?? RUN_DEFAULTS.rdf,
    // Only this thread can read standard input.
    threads: inputs.some(({ url }) => url === STANDARD_INPUT)
      ? 1
      : (numberOf(parsed, 'threads', 1) ?? Math.min(MOST_THREADS, availableParallelism())),
    memoryBudgetBytes: bytes(numberOf(parsed, 'memory-mb', 1) ?? variables.MEMORY_BUDGET_MB) ?? runMemoryBytes(),
    xmlDefaultNamespace:
      (parsed.value('xml-default-namespace') as XmlDefaultNamespace | undefined) ??
      variables.XML_DEFAULT_NAMESPACE ??
      RUN_DEFAULTS.xmlDefaultNamespace,
    maxRecordBytes: bytes(numberOf(parsed, 'max-record-mb', 1)) ?? variables.MAX_RECORD_BYTES ?? RUN_DEFAULTS.maxRecordBytes,
    limits: { ...RUN_DEFAULTS.limits, seconds: numberOf(parsed, 'max-seconds', 1) ?? variables.MAX_RUN_SECONDS ?? 0 },
    database,
    firstRecords: numberOf(parsed, 'limit', 1),
    spillDirectory: tmpdir(),
  };
}

function baseOf(base: string | undefined): string | undefined {
  if (base !== undefined && (!URL.canParse(base) || findNotInIri(base) >= 0))
    throw new UsageError(`--base is '${base}', expected is an absolute IRI`);
  return base;
}
