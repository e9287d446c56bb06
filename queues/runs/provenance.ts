/**
 * The provenance of a run as PROV-O, in N-Quads: one named graph for each run. Pure: the clock and what was found out about files are
 * arguments. @see decisions §7
 *
 * The run, its executions (slices) and its messages are activities; the service is the agent, the mapping its plan. An input is an entity of
 * the run, with the digest of what was read, and a specialization of the entity at its URL, which changes in the course of time.
 */
import { pathToFileURL } from 'node:url';
import { VERSION } from '../../src/config/version.ts';
import { splitSheet } from '../../src/core/input/formats.ts';
import { redact } from '../../src/core/redact.ts';
import { escapeLiteral, fromBytes, iriToUri, toBytes } from '../../src/core/text.ts';
import type { PartFile } from '../../src/sinks/sink.ts';
import { locate } from '../../src/storage/url.ts';
import { type Outcome, SERVICES, type TransformPayload, type TransformResult } from '../jobs.ts';

export const ACTIVITIES = ['main', 'execution', 'message'] as const;
export type RecordedActivity = (typeof ACTIVITIES)[number];

/** What is known of an input beside its URL. */
export interface InputFacts {
  readonly bytes: number;
  /** Hexadecimal. */
  readonly sha256: string;
}

export interface ProvenanceSubject {
  readonly run: TransformPayload;
  readonly activities: ReadonlySet<RecordedActivity>;
  readonly outcome: Outcome;
  /** Of a completed run. */
  readonly result: TransformResult | undefined;
  /** By position of the input; undefined: nothing could be found out. */
  readonly inputs: readonly (InputFacts | undefined)[];
  /** Unix time in milliseconds. */
  readonly now: number;
  readonly workingDirectory: string;
}

const NAMES = {
  prov: 'http://www.w3.org/ns/prov#',
  rdf: 'http://www.w3.org/1999/02/22-rdf-syntax-ns#',
  rdfs: 'http://www.w3.org/2000/01/rdf-schema#',
  xsd: 'http://www.w3.org/2001/XMLSchema#',
  dct: 'http://purl.org/dc/terms/',
  dcat: 'http://www.w3.org/ns/dcat#',
  schema: 'https://schema.org/',
  qm: 'http://w3id.org/quadmill/provenance#',
} as const;

type Name = `${keyof typeof NAMES}:${string}`;

const named = (name: Name): string => {
  const at = name.indexOf(':');
  return `<${NAMES[name.slice(0, at) as keyof typeof NAMES]}${name.slice(at + 1)}>`;
};
const literal = (text: string): string => `"${fromBytes(escapeLiteral(toBytes(text)))}"`;
const typed = (text: string | number, type: Name): string => `${literal(String(text))}^^${named(type)}`;
const count = (value: number): string => typed(value, 'xsd:integer');
const time = (milliseconds: number): string => typed(new Date(milliseconds).toISOString(), 'xsd:dateTime');
const iri = (text: string): string => `<${fromBytes(iriToUri(toBytes(text)))}>`;

/** The IRI of the graph, for those who look for it in a store. */
export const provenanceGraph = (runId: string): string => `urn:quadmill:run:${runId}:provenance`;

/** The text of the provenance file. */
export function provenanceOf(subject: ProvenanceSubject): string {
  const { run, activities, outcome, result, now } = subject;
  const { runId } = run;
  const graph = iri(provenanceGraph(runId));
  const lines: string[] = [];
  const state = (about: string, ...pairs: readonly (readonly [Name, string])[]): void => {
    for (const [predicate, object] of pairs) lines.push(`${about} ${named(predicate)} ${object} ${graph} .\n`);
  };
  const a = (type: Name): [Name, string] => ['rdf:type', named(type)];

  const startedAt = result?.startedAt ?? Date.parse(run.submittedAt);
  const endedAt = result === undefined ? Math.max(now, startedAt) : startedAt + result.milliseconds;
  const service = SERVICES[run.service].name;
  const agent = iri(`urn:quadmill:service:${service}:${VERSION}`);
  state(agent, a('prov:SoftwareAgent'), a('prov:Agent'), ['rdfs:label', literal(service)], ['schema:softwareVersion', literal(VERSION)]);
  state(graph, a('prov:Bundle'), a('prov:Entity'), ['prov:generatedAtTime', time(Math.max(now, endedAt))]);

  const inputs = run.inputs.map(({ url, name }, i) => {
    const place = iri(placeOf(url, subject.workingDirectory));
    const input = iri(`urn:quadmill:run:${runId}:input:${i + 1}`);
    const facts = subject.inputs[i];
    state(place, a('prov:Entity'));
    state(input, a('prov:Entity'), ['prov:specializationOf', place], ['prov:atLocation', place]);
    if (name !== undefined) state(input, ['rdfs:label', literal(redact(name))]);
    if (facts !== undefined) state(input, ['schema:sha256', literal(facts.sha256)], ['dcat:byteSize', nonNegative(facts.bytes)]);
    return input;
  });
  const documents = result?.report.mappings ?? run.mappings.map((url) => ({ url, sha256: undefined }));
  const mappings = documents.map(({ url, sha256 }, i) => {
    const place = iri(placeOf(url, subject.workingDirectory));
    const mapping = iri(`urn:quadmill:run:${runId}:mapping:${i + 1}`);
    state(place, a('prov:Entity'));
    state(mapping, a('prov:Entity'), a('prov:Plan'), ['prov:specializationOf', place], ['prov:atLocation', place]);
    if (sha256 !== undefined) state(mapping, ['schema:sha256', literal(sha256)]);
    return mapping;
  });

  const main = iri(`urn:quadmill:run:${runId}`);
  /** An activity of the service that reads the inputs by the mappings. */
  const activity = (about: string, from: number, to: number): void => {
    state(about, a('prov:Activity'), ['prov:startedAtTime', time(from)], ['prov:endedAtTime', time(to)], ['prov:wasAssociatedWith', agent]);
    for (const used of [...inputs, ...mappings]) state(about, ['prov:used', used]);
    for (const [i, mapping] of mappings.entries()) {
      const association = iri(`${about.slice(1, -1)}:association:${i + 1}`);
      state(about, ['prov:qualifiedAssociation', association]);
      state(association, a('prov:Association'), ['prov:agent', agent], ['prov:hadPlan', mapping]);
    }
  };
  const counts = (about: string, { records, quads, rejected }: { records: number; quads: number; rejected: number }): void =>
    state(about, ['qm:records', count(records)], ['qm:statements', count(quads)], ['qm:rejectedRecords', count(rejected)]);

  /** Activities that outputs are related to, and how. */
  const producers: [Name, string][] = [];
  if (activities.has('main')) {
    activity(main, startedAt, endedAt);
    state(main, ['dct:identifier', literal(runId)], ['qm:state', literal(outcome.state)]);
    if (result !== undefined) counts(main, result.report);
    if (outcome.state !== 'completed') {
      state(main, ['qm:fault', literal(outcome.failure.code)], ['rdfs:comment', literal(outcome.failure.error)]);
    }
    producers.push(['prov:wasGeneratedBy', main]);
  }
  if (activities.has('execution')) {
    const executions =
      result === undefined ? [] : (result.executions ?? [{ startedAt, milliseconds: result.milliseconds, ...countsOf(result) }]);
    for (const [i, one] of executions.entries()) {
      const execution = iri(`urn:quadmill:run:${runId}:execution:${i + 1}`);
      activity(execution, one.startedAt, Math.min(one.startedAt + one.milliseconds, endedAt));
      counts(execution, one);
      if (activities.has('main')) state(execution, ['dct:isPartOf', main]);
      // Files of several slices are published after the last one has ended, and so generated by none of them.
      else producers.push([executions.length === 1 ? 'prov:wasGeneratedBy' : 'prov:wasInfluencedBy', execution]);
    }
  }

  const outputs = filesOf(result).map(({ url, bytes, sha256 }) => {
    const output = iri(url);
    state(output, a('prov:Entity'), ['prov:generatedAtTime', time(endedAt)], ['prov:wasAttributedTo', agent]);
    state(output, ['schema:sha256', literal(sha256)], ['dcat:byteSize', nonNegative(bytes)]);
    state(output, ...producers);
    for (const input of inputs) state(output, ['prov:wasDerivedFrom', input]);
    return output;
  });

  if (activities.has('message')) messages();
  return lines.join('');

  function messages(): void {
    const { source } = run;
    if (source !== undefined) {
      const message = iri(`urn:quadmill:message:${source.topic}:${source.partition}:${source.offset}`);
      const consuming = iri(`urn:quadmill:run:${runId}:message:consumed`);
      const at = time(Math.min(Date.parse(run.submittedAt), startedAt));
      state(message, a('prov:Entity'), ['rdfs:label', literal(`${source.topic}, partition ${source.partition}, offset ${source.offset}`)]);
      state(consuming, a('prov:Activity'), ['prov:startedAtTime', at], ['prov:endedAtTime', at]);
      state(consuming, ['prov:wasAssociatedWith', agent], ['prov:used', message]);
      if (activities.has('main')) state(main, ['prov:wasInformedBy', consuming]);
    }
    const producing = iri(`urn:quadmill:run:${runId}:message:produced`);
    const produced = iri(`urn:quadmill:run:${runId}:message`);
    const at = time(Math.max(now, endedAt));
    state(producing, a('prov:Activity'), ['prov:startedAtTime', at], ['prov:endedAtTime', at], ['prov:wasAssociatedWith', agent]);
    for (const output of outputs) state(producing, ['prov:used', output]);
    if (activities.has('main')) state(producing, ['prov:wasInformedBy', main]);
    state(produced, a('prov:Entity'), ['prov:wasGeneratedBy', producing], ['prov:generatedAtTime', at]);
    state(produced, ['rdfs:label', literal(outcome.state === 'completed' ? 'success message' : 'failure message')]);
  }
}

const nonNegative = (value: number): string => typed(value, 'xsd:nonNegativeInteger');

const countsOf = ({ report: { records, quads, rejected } }: TransformResult) => ({ records, quads, rejected });

/** Everything that a run publishes but its manifest, which names the run. */
const filesOf = (result: TransformResult | undefined): readonly PartFile[] => [
  ...(result?.parts ?? []),
  ...(result?.targets ?? []),
  ...(result?.propertyGraph ? [result.propertyGraph.nodes, result.propertyGraph.edges] : []),
];

/** The absolute URL of an input or a mapping, without passwords. */
function placeOf(url: string, workingDirectory: string): string {
  try {
    const location = locate(splitSheet(url).path, workingDirectory);
    if (location.kind === 's3') return encodeURI(`s3://${location.bucket}/${location.key}`).replace(/[#?]/g, encodeURIComponent);
    return redact(location.kind === 'file' ? pathToFileURL(location.path).href : location.url.href);
  } catch {
    // The run has failed for it; it is named as it was given.
    return `urn:quadmill:input:${encodeURIComponent(redact(url))}`;
  }
}
