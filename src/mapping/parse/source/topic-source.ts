/**
 * Kafka topics as sources: a thing of the Web of Things with a `kafka://` target, or an `rmls:KafkaStream` as RMLStreamer has it; and what
 * `qms:changes` on the logical source says of their messages. `docs/streams.md` describes both.
 */
import { FORMULATIONS, type Formulation, formatOfMediaType, type InputFormat } from '../../../core/input/formats.ts';
import { isTopicPattern } from '../../../core/input/topic-pattern.ts';
import { didYouMean } from '../../../core/nearest.ts';
import type { Graph, Statement } from '../../model/graph.ts';
import type { TopicChanges, TopicRequest } from '../../model/model.ts';
import { localName, shorten } from '../../vocabulary/namespaces.ts';
import { type Context, describeTerm, orList } from '../node.ts';
import { all, full, isDescribedAs, LOGIN_OF_BROKERS, misspelt, one, type WebAccess, wordOf } from './description.ts';

const KAFKA_STREAM = [full('rmls', 'KafkaStream')];
const BROKER = full('rmls', 'broker');
const TOPIC = full('rmls', 'topic');
const GROUP = full('rmls', 'groupId');

export const isKafkaStream = (graph: Graph, id: string): boolean => isDescribedAs(graph, id, KAFKA_STREAM, [BROKER, TOPIC]);

/** The topic of an rmls:KafkaStream. A follower uses its own group. */
export function readKafkaStream(context: Context, id: string, named: Statement): WebAccess | undefined {
  const { graph, report } = context;
  const before = report.errors;
  const [brokers, topic] = [BROKER, TOPIC].map((property) => {
    const statement = one(context, id, property, 'stream');
    if (statement !== undefined) return wordOf(context, statement, 'a text in quotes');
    const short = shorten(property);
    const hint = misspelt(graph, id, [short], 'write [ a rmls:KafkaStream ; rmls:broker "host:9092" ; rmls:topic "…" ]');
    report.error('missing-path', named.origin, `a rmls:KafkaStream without ${short}`, hint);
    return undefined;
  });
  const group = one(context, id, GROUP, 'stream');
  if (group !== undefined)
    report.warning(
      'unused-term',
      group.propertyOrigin,
      'rmls:groupId has no effect: the group of a follower derives from its dataset',
      'remove it',
    );
  if (report.errors > before || brokers === undefined || topic === undefined) return undefined;
  return topicOf(context, `kafka://${brokers}/${topic}`, named, undefined, undefined);
}

const BROKER_FORM = /^(?:\[[0-9A-Fa-f:]+\]|[^:[\]/?#@\s]+):\d{1,5}$/;
/** As brokers take it, or a pattern of such names. */
const TOPIC_FORM = /^[A-Za-z0-9._*-]{1,249}$/;

/** @param url `kafka://host:port,…/topic`. @param type the statement of the media type */
export function topicOf(
  { report }: Context,
  url: string,
  named: Statement,
  mediaType: string | undefined,
  type: Statement | undefined,
): WebAccess | undefined {
  const [, hosts = '', topic = ''] = /^kafka:\/\/([^/]*)\/(.*)$/is.exec(url) ?? [];
  const brokers = hosts.split(',').map((broker) => broker.trim());
  if (hosts.includes('@')) {
    const message = 'the address of the brokers holds a login; mappings hold none, since everyone who can read them would know it';
    report.error('secret', named.origin, message, `remove it; ${LOGIN_OF_BROKERS}`);
    return undefined;
  }
  if (!brokers.every((broker) => BROKER_FORM.test(broker)) || !TOPIC_FORM.test(topic)) {
    const hint = 'write kafka://host:9092/topic; several brokers are separated by commas, and * in a topic stands for any characters';
    report.error('wrong-value', named.origin, `${JSON.stringify(url)} is not the address of a topic`, hint);
    return undefined;
  }
  const content = contentOf(mediaType);
  if (type !== undefined && content === undefined) {
    const message = `messages of the type ${JSON.stringify(mediaType)} are not supported by this version`;
    report.error('not-supported', type.origin, message, 'JSON, Avro with a schema registry, CSV, XML and text/plain are');
    return undefined;
  }
  const request: TopicRequest = {
    kind: 'topic',
    origin: named.origin,
    brokers,
    topic,
    changes: 'append',
    content: content === 'text' ? 'text' : 'document',
  };
  return { url: `kafka://${brokers.join(',')}/${topic}`, compression: 'none', request, mediaType };
}

const AVRO = /(?:[/+.]|^)(?:x-)?avro(?:\+binary|-binary)?$|^avro\//;
const OF_MESSAGES: readonly InputFormat[] = ['json', 'csv', 'tsv', 'xml'];

/** What messages of a media type are. undefined: it is not known. */
function contentOf(mediaType: string | undefined): InputFormat | 'text' | undefined {
  const plain = (mediaType?.split(';', 1)[0] ?? '').trim();
  if (plain === 'text/plain') return 'text';
  if (AVRO.test(plain)) return 'json';
  const format = formatOfMediaType(plain);
  return format !== undefined && OF_MESSAGES.includes(format) ? format : undefined;
}

/** The format of the messages, as their media type says. */
export function formatOfMessages(mediaType: string | undefined): InputFormat | undefined {
  const content = contentOf(mediaType);
  // Its records are the messages, and have no iterator.
  return content === 'text' ? 'csv' : content;
}

const CHANGES: Readonly<Record<string, TopicChanges>> = { Append: 'append', Upsert: 'upsert', Debezium: 'debezium' };
const CHANGES_NAMES = Object.keys(CHANGES).map((name) => `qms:${name}`);

/**
 * The request with what qms:changes on the logical source says.
 *
 * @param source id of the logical source
 * @returns undefined, with diagnostics: it is not valid, or does not fit the format
 */
export function withChanges(
  context: Context,
  source: string,
  request: TopicRequest,
  formulation: Formulation,
  iterator: Statement | undefined,
): TopicRequest | undefined {
  const { report } = context;
  const before = report.errors;
  const statement = one(context, source, full('qms', 'changes'), 'logical source');
  const changes = statement === undefined ? 'append' : changesOf(context, statement);
  const { origin } = request;
  const { name } = FORMULATIONS[formulation];
  if (formulation === 'parquet')
    report.error(
      'contradiction',
      origin,
      'qms:Parquet on a topic: messages are JSON, Avro, CSV, XML or text',
      'write rml:JSONPath, rml:CSV or rml:XPath',
    );
  if (changes === 'debezium' && (formulation === 'xml' || request.content === 'text')) {
    const message = `qms:Debezium with ${request.content === 'text' ? 'text/plain' : `rml:${name}`}: its record is a row`;
    report.error(
      'contradiction',
      statement?.origin ?? origin,
      message,
      'write rml:JSONPath for the members of the row, or rml:CSV for its columns',
    );
  }
  if (changes === 'debezium' && isTopicPattern(request.topic)) {
    const message = `qms:Debezium with ${JSON.stringify(request.topic)}: keys of several tables cannot be distinguished`;
    report.error('contradiction', statement?.origin ?? origin, message, 'name each topic in a logical source');
  }
  if (request.content === 'text' && (formulation !== 'csv' || iterator !== undefined))
    report.error(
      'contradiction',
      iterator?.origin ?? origin,
      'messages of the type text/plain have no records within them',
      'leave out reference formulation and iterator, and refer to qms:value',
    );
  return report.errors > before || changes === undefined ? undefined : { ...request, changes };
}

function changesOf({ report }: Context, { object, origin }: Statement): TopicChanges | undefined {
  const local = object.kind === 'iri' && object.value.startsWith(full('qms', '')) ? object.value.slice(full('qms', '').length) : '';
  const found = Object.hasOwn(CHANGES, local) ? CHANGES[local] : undefined;
  if (found !== undefined) return found;
  const near = object.kind === 'iri' ? didYouMean(shorten(object.value), CHANGES_NAMES, localName) : undefined;
  report.error('wrong-value', origin, `qms:changes takes ${orList(CHANGES_NAMES)}, found ${describeTerm(object)}`, near);
  return undefined;
}

/** Reports qms:changes on a source that is no topic. */
export function refuseChanges({ graph, report }: Context, source: string): void {
  for (const { propertyOrigin } of all(graph, source, full('qms', 'changes')))
    report.error(
      'misplaced-term',
      propertyOrigin,
      'qms:changes is for topics, and the source of this logical source is none',
      'name a topic: rml:source [ a td:Thing ; td:hasForm [ hctl:hasTarget "kafka://host:9092/topic" ] ]',
    );
}
