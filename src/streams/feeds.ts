/** The feeds of changes, by what names them: an address of topics, or the database of the mapping. Their clients are loaded when they are wanted. */
import { Fault } from '../core/fault.ts';
import { matchesTopic } from '../core/input/topic-pattern.ts';
import { assertHost, type Reach } from '../core/reach/reach.ts';
import { redact } from '../core/redact.ts';
import type { DatasetDescription } from '../datasets/manifest.ts';
import type { KafkaSecurity } from '../kafka/client.ts';
import { readOptionsOf } from '../run/prepare/documents/open-scan.ts';
import type { RunRequest } from '../run/request.ts';
import type { DatabaseAddress } from '../sql/database.ts';
import type { DatabaseFeedOptions } from './database/options.ts';
import type { ChangeFeed, FeedPosition } from './events.ts';
import type { FeedSource } from './follow/follower.ts';
import type { FollowedMapping } from './follow/mapping.ts';
import type { KeptRows } from './follow/state/rows.ts';
import type { FollowedTables } from './follow/tables.ts';
import { followedDatabase, tablesOfDatabase, tablesOfTopics } from './follow/tables.ts';
import type { KafkaFeedOptions } from './kafka/feed.ts';
import { BETWEEN, joinedFeed, positionOf, withPosition } from './several.ts';
import { openMessageReader } from './topics/messages.ts';
import { isTopicTable, type TopicReading } from './topics/readings.ts';

/** The topics of `--changes`. */
export interface TopicAddress {
  readonly brokers: readonly string[];
  /** The topic of a table, which stands for `{table}`. */
  readonly pattern: string;
  /** Of the metadata of transactions; undefined: the pattern has too few parts to tell it. */
  readonly transactionTopic: string | undefined;
}

const TABLE = '{table}';

/**
 * `kafka://HOST:PORT,…/PREFIX.SCHEMA.{table}`.
 *
 * @throws Fault config/invalid
 */
export function parseChanges(address: string): TopicAddress {
  const [, hosts, pattern] = /^kafka:\/\/([^/?#@\s]+)\/([^/?#\s]+)$/.exec(address) ?? [];
  const brokers = hosts?.split(',') ?? [];
  const isWrong = pattern === undefined || pattern.split(TABLE).length !== 2 || !/^[A-Za-z0-9._-]*$/.test(pattern.replace(TABLE, ''));
  if (isWrong || brokers.some((broker) => !/^(?:\[[0-9A-Fa-f:]+\]|[^:[\]]+):\d{1,5}$/.test(broker)))
    throw new Fault('config/invalid', `${redact(address)} is not the address of topics`, {
      hint: `Write kafka://HOST:PORT/PREFIX.SCHEMA.${TABLE}: ${TABLE} stands for the name of a table; several brokers are separated by commas`,
    });
  const parts = pattern.split('.');
  return { brokers, pattern, transactionTopic: parts.length < 3 ? undefined : `${parts.slice(0, -2).join('.')}.transaction` };
}

/** How brokers are reached. */
export interface KafkaAccess {
  readonly security: KafkaSecurity | undefined;
  /** Of the schemas of messages in Avro. */
  readonly registryUrl: string | undefined;
  /** Which brokers get the login: a cluster of others is reached without one. undefined: all. */
  readonly trusted?: readonly string[];
}

/**
 * The feed of a mapping: of its tables the topics of Debezium, or else the log of their database; and the topics that it names itself.
 *
 * @param changes where the changes of tables come from; undefined: their database
 */
export function feedOf(changes: TopicAddress | undefined, access: KafkaAccess): FeedSource {
  const database = databaseFeed();
  let parts: readonly Part[] = [];
  return {
    async tables(mapping, request, signal) {
      const ofTables =
        mapping.sources.length === 0
          ? undefined
          : changes === undefined
            ? await database.tables(mapping, request, signal)
            : tablesOfTopics(mapping, request, nameOf(changes));
      parts = partsOf(mapping, request, ofTables, changes);
      const [first] = parts;
      if (access.registryUrl !== undefined && parts.every(({ kafka }) => kafka === undefined))
        throw new Fault('config/invalid', 'A schema registry is given, and the mapping reads no topic', {
          hint: 'Leave out --registry (FOLLOW_REGISTRY), or name the topics of the tables with --changes (FOLLOW_CHANGES)',
        });
      return {
        name: parts.map(({ name }) => name).join(BETWEEN),
        tables: ofTables?.tables ?? new Map(),
        session: (rows, stop) => (ofTables as FollowedTables).session(rows, stop),
        begin(position, rows) {
          const read = new Set(mapping.topics.map(({ table }) => table));
          rows.forget([...rows.tables].filter((table) => isTopicTable(table) && !read.has(table)));
          if (parts.length === 1) return withoutNew(position, first as Part, rows);
          return parts.reduce((all, part) => {
            const own = positionOf(all, part.name);
            return own === undefined ? all : withPosition(all, part.name, withoutNew(own, part, rows));
          }, position);
        },
      };
    },
    async open(tables, dataset, warn) {
      const feeds = new Map<string, ChangeFeed>();
      try {
        for (const part of parts)
          feeds.set(
            part.name,
            part.kafka === undefined ? await database.open(tables, dataset, warn) : await openTopics(part.kafka, access, dataset, warn),
          );
      } catch (error) {
        await Promise.all([...feeds.values()].map((feed) => feed.close()));
        throw error;
      }
      return feeds.size === 1 ? ([...feeds.values()][0] as ChangeFeed) : joinedFeed(feeds);
    },
  };
}

/** One feed of a mapping: of a cluster, or (without `kafka`) of the database. */
interface Part {
  readonly name: string;
  readonly kafka?: TopicsOfCluster;
}

interface TopicsOfCluster extends Pick<KafkaFeedOptions, 'brokers' | 'topics' | 'transactionTopic'> {
  readonly readings: readonly TopicReading[];
  readonly request: RunRequest;
}

/** The database is the first one. */
function partsOf(
  { topics: readings }: FollowedMapping,
  request: RunRequest,
  ofTables: FollowedTables | undefined,
  changes: TopicAddress | undefined,
): readonly Part[] {
  const clusters = new Map<string, TopicReading[]>();
  for (const reading of readings) {
    const key = reading.brokers.join(',');
    clusters.set(key, [...(clusters.get(key) ?? []), reading]);
  }
  const parts: Part[] = [];
  if (ofTables !== undefined && changes === undefined) parts.push({ name: ofTables.name });
  if (ofTables !== undefined && changes !== undefined) {
    const { brokers, pattern, transactionTopic } = changes;
    const key = [...brokers].sort().join(',');
    const own = clusters.get(key) ?? [];
    clusters.delete(key);
    const topics = new Map([...ofTables.tables.keys()].map((table) => [table, pattern.replace(TABLE, () => table)]));
    const kafka = { brokers, topics: new Map([...topics, ...rowTopics(own)]), transactionTopic, readings: own, request };
    parts.push({ name: ofTables.name, kafka });
  }
  for (const [key, own] of clusters) {
    const topics = rowTopics(own);
    const kafka = { brokers: key.split(','), topics, transactionTopic: transactionTopicOf([...topics.values()]), readings: own, request };
    parts.push({ name: `kafka:${key}`, kafka });
  }
  return parts;
}

/** Debezium's topics that the mapping names. */
const rowTopics = (readings: readonly TopicReading[]): ReadonlyMap<string, string> =>
  new Map(readings.filter(({ source }) => source.request.changes === 'debezium').map(({ table, topic }) => [table, topic]));

/** That of the one connector. Transactions of several are not kept whole. */
function transactionTopicOf(topics: readonly string[]): string | undefined {
  const prefixes = new Set(topics.map((topic) => topic.split('.').slice(0, -2).join('.')));
  const [prefix] = prefixes;
  return prefixes.size !== 1 || prefix === undefined || prefix === '' ? undefined : `${prefix}.transaction`;
}

async function openTopics(
  { brokers, topics, transactionTopic, readings, request }: TopicsOfCluster,
  access: KafkaAccess,
  { id }: DatasetDescription,
  warn: (text: string) => void,
): Promise<ChangeFeed> {
  const { openKafkaFeed } = await import('./kafka/feed.ts');
  // The mapping names them.
  if (readings.length > 0 && request.reach !== undefined) for (const broker of brokers) await assertBroker(broker, request.reach);
  const messages = await Promise.all(
    readings
      .filter(({ source }) => source.request.changes !== 'debezium')
      .map((reading) => {
        const { source, dialect } = reading;
        return openMessageReader(reading, readOptionsOf({ dialect }, source, source.formulation, source.path, request));
      }),
  );
  const security = securityFor(brokers, access);
  return openKafkaFeed({
    brokers,
    topics,
    messages,
    transactionTopic,
    groupId: groupOf(id),
    security,
    registryUrl: access.registryUrl,
    warn,
  });
}

/** Of a cluster: without the login where a broker is not trusted. */
export function securityFor(brokers: readonly string[], { security, trusted }: KafkaAccess): KafkaSecurity | undefined {
  const isTrusted = trusted === undefined || brokers.every((broker) => trusted.includes(broker));
  return security === undefined || isTrusted ? security : { ...security, login: undefined };
}

/** The consumer group of a dataset. */
export const groupOf = (id: string): string => `quadmill-${id}`;

/** The brokers of the topics of a feed, by its name. */
export const brokersIn = (feed: string): readonly string[] => (/^kafka:(?:\/\/)?([^/]+)/.exec(feed)?.[1] ?? '').split(',');

/** @throws Fault request/forbidden */
async function assertBroker(broker: string, reach: Reach): Promise<void> {
  const [, host, port] = /^(.*):(\d+)$/.exec(broker) as RegExpExecArray;
  await assertHost(reach, host as string, Number(port));
}

/**
 * A position without the topics of which nothing is kept in the way that the mapping reads them: they are read from their beginning.
 *
 * **Claim.** What is kept of such a topic in other ways becomes what it was. **Proof.** Its messages are made again in their order: an appended one has the
 * same key, the newest one of a key is the last one, and positions identify changes of rows.
 */
function withoutNew(position: FeedPosition, { kafka }: Part, rows: KeptRows): FeedPosition {
  const fresh = kafka?.readings.filter(({ table }) => !rows.hasTable(table)) ?? [];
  const isFresh = (name: string): boolean => fresh.some(({ topic }) => matchesTopic(topic, name.slice(0, name.lastIndexOf('-'))));
  return Object.fromEntries(Object.entries(position).filter(([name]) => !isFresh(name)));
}

const nameOf = ({ brokers, pattern }: TopicAddress): string => `kafka://${brokers.join(',')}/${pattern}`;

/** The replication log of the database that the mapping, or else the run, names. */
export function databaseFeed(): FeedSource {
  let opened: { readonly request: RunRequest; readonly address: DatabaseAddress } | undefined;
  return {
    async tables(mapping, request, signal) {
      opened = { request, address: followedDatabase(mapping, request) };
      return tablesOfDatabase(mapping, request, opened.address, signal);
    },
    async open(tables, dataset, tell) {
      const { request, address } = opened as NonNullable<typeof opened>;
      const options = { ...databaseOptions(address, request, tables, dataset), tell };
      if (address.product === 'postgresql') return (await import('./postgresql/feed.ts')).openPostgresqlFeed(options);
      return (await import('./mysql/feed.ts')).openMysqlFeed(options);
    },
  };
}

/** Of a dataset: the names of what a feed makes on the server derive from its id. */
export const databaseOptions = (
  address: DatabaseAddress,
  { sql, reach }: Pick<RunRequest, 'sql' | 'reach'>,
  { tables }: Pick<FollowedTables, 'tables'>,
  { id }: Pick<DatasetDescription, 'id'>,
): DatabaseFeedOptions => {
  const name = `quadmill_${id.replaceAll('-', '')}`;
  return {
    address,
    tables,
    slot: name,
    publication: name,
    // From 2^31 on: people give small numbers to their servers.
    serverId: 2 ** 31 + (Number.parseInt(id.slice(0, 8), 16) % (2 ** 31 - 1)),
    connectSeconds: sql.connectSeconds,
    ...(reach === undefined ? {} : { reach }),
  };
};
