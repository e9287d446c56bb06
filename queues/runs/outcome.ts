/** The outcome of a run, with the texts and fields of the specification. Pure: the clock is an argument. */
import { randomUUID } from 'node:crypto';
import { VERSION } from '../../src/config/version.ts';
import { describeFault, Fault, type FaultData } from '../../src/core/fault.ts';
import { redact } from '../../src/core/redact.ts';
import {
  type FailureMessage,
  type Outcome,
  type RunPayload,
  SERVICES,
  type Service,
  type TransformPayload,
  type TransformResult,
  type WritePayload,
  type WriteResult,
} from '../jobs.ts';

type RunIdentity = Pick<RunPayload, 'runId' | 'service' | 'inputs'>;

/** The failure text of each service; `{input}` and `{reason}` are placeholders. */
const FAILURE_TEXT: Readonly<Record<Service, string>> = {
  'semi-structured-transformer': "Record '{input}' could not be processed due to: {reason}.",
  'sql-transformer': 'Record could not be processed due to: {reason}.',
  'graph-writer': "Record '{input}' could not be processed due to: {reason}",
};

/** The input types that a service accepts, in the words of the specification; formats beyond it are not listed. */
const expectedTypes = (service: Service): string => (service === 'graph-writer' ? 'nq' : 'one of XML, JSON, CSV, XLSX, ODS');

export function completedOutcome(payload: Pick<TransformPayload, 'runId' | 'service' | 'inputs'>, result: TransformResult): Outcome {
  const { report, parts, targets, propertyGraph, dataset } = result;
  return {
    state: 'completed',
    report: {
      ...(readsFiles(payload) ? { input: payload.inputs.map((input) => redact(input.url)) } : {}),
      successfulIterations: readsFiles(payload) ? Math.max(1, payload.inputs.length) : result.slices,
      failedIterations: 0,
      outputFileLocations: parts.map((part) => part.url),
      ...(targets == null ? {} : { targetFileLocations: targets.map((target) => target.url) }),
      ...(propertyGraph == null ? {} : { propertyGraphFileLocations: [propertyGraph.nodes.url, propertyGraph.edges.url] }),
      ...dataset,
      mappingFiles: report.mappings.map((mapping) => mapping.url),
      processingTime: result.milliseconds,
      runId: payload.runId,
      records: report.records,
      quads: report.quads,
      rejectedRecords: report.rejected,
      warnings: report.warnings,
      ...(report.joins === undefined ? {} : { joins: report.joins.map(({ id: _, found: __, ...join }) => join) }),
    },
  };
}

/** The graph writer's processing report. */
export function writtenOutcome(payload: WritePayload, { report, rejections, rejected, milliseconds, dataset }: WriteResult): Outcome {
  return {
    state: 'completed',
    report: {
      input: payload.inputs.map((input) => redact(input.url)),
      target: report.target,
      mode: payload.write.mode,
      ...dataset,
      quadsWritten: report.quadsWritten,
      batches: report.batches,
      processingTime: milliseconds,
      runId: payload.runId,
      records: report.statements,
      quads: report.quadsWritten,
      rejectedRecords: report.rejected,
      rejectedStatements: rejected,
      ...(rejections === undefined ? {} : { rejections }),
      warnings: report.warnings,
    },
  };
}

/** The outcome with a link to its provenance. */
export function withProvenance(outcome: Outcome, provenance: string): Outcome {
  return outcome.state === 'completed'
    ? { ...outcome, report: { ...outcome.report, provenance } }
    : { ...outcome, failure: { ...outcome.failure, provenance } };
}

/** Messages of a service without input files omit the fields that name them. */
const readsFiles = ({ service }: Pick<RunPayload, 'service'>): boolean => service !== 'sql-transformer';

export function failedOutcome(subject: RunIdentity, fault: Fault, now: Date): Exclude<Outcome, { readonly state: 'completed' }> {
  return { state: endStateOf(fault.code), failure: failureMessage(subject, fault, now) };
}

/** A run is cancelled if its fault says so. */
const endStateOf = (code: string): 'cancelled' | 'failed' => (code === 'run/cancelled' ? 'cancelled' : 'failed');

/** For a request that failed before a run was created. */
export const requestFailureMessage = (service: Service, fault: Fault): FailureMessage =>
  failureMessage({ runId: `none-${randomUUID()}`, service, inputs: [] }, fault, new Date());

export function failureMessage(subject: RunIdentity, fault: Fault, now: Date): FailureMessage {
  const { name } = SERVICES[subject.service];
  const entity = readsFiles(subject) ? failingInput(subject, fault) : undefined;
  const words: Readonly<Record<string, string>> = { input: entity ?? '', reason: reasonOf(subject.service, fault, entity) };
  return {
    name,
    time: localTime(now),
    type: name,
    error: FAILURE_TEXT[subject.service].replace(/\{(input|reason)\}/g, (_, word: string) => words[word] ?? ''),
    version: VERSION,
    ...(entity === undefined ? {} : { entity }),
    ...(subject.service === 'graph-writer' ? {} : { provenance: '' }),
    runId: subject.runId,
    code: fault.code,
    detail: fault.toJSON(),
  };
}

/** The input named by the fault, as the request gave it without password; else the first input. */
function failingInput({ inputs }: RunIdentity, fault: Fault): string {
  const named = fault.place.input;
  const urls = inputs.map((input) => redact(input.url));
  return (named === undefined ? undefined : urls.find((url) => sameLocation(url, named))) ?? urls[0] ?? named ?? '';
}

function sameLocation(url: string, named: string): boolean {
  const bare = (text: string): string => text.replace(/^file:\/\//, '');
  return bare(url) === bare(named);
}

/** A question at the end of a reason: from a hint, or already part of the message. */
const QUESTION = /^(.*)(?:\.|\n)\s*did you mean (.*\?)\s*$/is;

/** One sentence without its full stop, which the failure text adds; a question is put in parentheses. */
function reasonOf(service: Service, fault: Fault, entity: string | undefined): string {
  const text = descriptionOf(service, fault, entity);
  const [, said, question] = QUESTION.exec(text) ?? [];
  return question === undefined ? text.replace(/\s*\.\s*$/, '') : `${said} (did you mean ${question})`;
}

function descriptionOf(service: Service, fault: Fault, entity: string | undefined): string {
  // The specification's text, without additions.
  if (fault.code === 'database/credentials') return fault.message;
  if (entity === undefined) return describeFault(fault);
  return fault.code === 'source/type' ? typeReason(service, fault, entity) : describeFault(withoutEntity(fault, entity));
}

/** The failure text already names the entity; any other input is kept in the reason. */
function withoutEntity(fault: Fault, entity: string): Fault {
  const { input } = fault.place;
  return input === undefined || !sameLocation(entity, input) ? fault : fault.with({ place: { input: undefined } });
}

/**
 * Names the file extension and lists the expected types. If the type is one of these but the mapping expects another, says that instead.
 */
function typeReason(service: Service, fault: Fault, entity: string): string {
  const { message, hint } = fault;
  const expected = expectedTypes(service);
  if (message.endsWith(expected)) return message;
  if (hint !== undefined) return describeFault(withoutEntity(fault, entity));
  const name = (entity.split(/[?#]/)[0] ?? '').split('/').pop() ?? '';
  const extension = /\.([^.]+?)(\.gz)?$/i.exec(name)?.[1];
  const what = extension === undefined ? 'Input has no file extension' : `Input has the file extension '${extension}'`;
  return `${what}; expected is ${expected}`;
}

/** Local date-time, ISO 8601 with milliseconds, without zone. */
export function localTime(now: Date): string {
  return new Date(now.getTime() - now.getTimezoneOffset() * 60_000).toISOString().slice(0, -1);
}

/** The text stored with a failed slice, or with an attempt: human-readable first, then the fault as JSON in the last line. */
export function encodeFault(fault: Fault): string {
  return `${describeFault(fault)}\n${JSON.stringify(fault)}`;
}

/** Reads the text of `encodeFault`; translates texts of the queue itself. */
export function decodeFault(reason: string | undefined): Fault {
  const data = jsonOf(reason);
  if (data !== undefined) return Fault.from(data as FaultData);
  if (reason !== undefined && /stalled more than|started more than/.test(reason)) return killedFault(undefined);
  return new Fault('run/lost', reason === undefined || reason === '' ? 'The run ended without a reason' : reason);
}

/** The object in the last line; undefined: it is none. */
function jsonOf(reason: string | undefined): object | undefined {
  const data = reason?.slice(reason.lastIndexOf('\n') + 1);
  if (!data?.startsWith('{')) return undefined;
  try {
    return JSON.parse(data) as object;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return undefined;
  }
}

/** The text stored with the job of a run that did not complete: as that of `encodeFault`, with the whole failure in the last line. */
export function encodeOutcome({ failure }: Exclude<Outcome, { readonly state: 'completed' }>): string {
  return `${describeFault(Fault.from(failure.detail))}\n${JSON.stringify(failure)}`;
}

/** Whether the result of a job is an outcome. A job that has not completed has none. */
export const isOutcome = (result: unknown): result is Outcome => typeof result === 'object' && result !== null && 'state' in result;

/** Reads the text of `encodeOutcome`; undefined: it is another text. */
export function decodeOutcome(reason: string | undefined): Outcome | undefined {
  const failure = jsonOf(reason) as FailureMessage | undefined;
  return failure?.detail === undefined ? undefined : { state: endStateOf(failure.code), failure };
}

export function killedFault(starts: number | undefined): Fault {
  const often = starts === undefined ? 'too often' : `${starts} times`;
  return new Fault('run/killed', `The run was started ${often}, and each time the worker process that ran it died`, {
    hint: 'Look at the logs and the memory of the workers; the input may need more than they have',
  });
}

export function cancelledFault(): Fault {
  return new Fault('run/cancelled', 'The run was cancelled');
}
