/** Options of followers: datasets that are kept fresh by the changes of tables. */
import { none, type OptionRow } from './row.ts';

export const FOLLOW_OPTIONS = {
  FOLLOW: {
    path: 'follow.on',
    type: 'boolean',
    default: false,
    live: true,
    scope: 'transformer',
    summary:
      'Whether the SQL transformer follows the changes of the tables and topics that its master mapping reads, and keeps their graph as the dataset of DATASET. One worker of a fleet follows.',
  },
  FOLLOW_CHANGES: {
    path: 'follow.changes',
    type: 'string',
    default: none,
    live: true,
    place: 'trusted',
    scope: 'transformer',
    pattern: {
      test: /^kafka:\/\/[^/?#@\s]+\/[\w.-]*\{table\}[\w.-]*$/,
      says: 'the address of topics, `kafka://HOST:PORT/PREFIX.SCHEMA.{table}`',
    },
    summary:
      'Topics of Debezium with the changes, `kafka://HOST:PORT/PREFIX.SCHEMA.{table}`; `{table}` is each table of the mapping. Login and TLS are those of KAFKA_BROKERS. Absent: the replication log of the database of JDBC_URL.',
  },
  FOLLOW_REGISTRY: {
    path: 'follow.registry',
    type: 'url',
    default: none,
    live: true,
    place: 'trusted',
    scope: 'transformer',
    summary: 'Registry with the schemas of messages in Avro, of the topics of FOLLOW_CHANGES, and of those that the mapping names.',
  },
  EPOCH_SECONDS: {
    path: 'follow.epochSeconds',
    type: 'integer',
    default: 5,
    minimum: 1,
    maximum: 86_400,
    live: true,
    scope: 'transformer',
    summary: 'A follower makes a version at most so long after a change.',
  },
  EPOCH_RECORDS: {
    path: 'follow.epochRecords',
    type: 'integer',
    default: 10_000,
    minimum: 1,
    live: true,
    scope: 'transformer',
    summary: 'Or after so many changes.',
  },
  FOLLOW_MAX_BEHIND: {
    path: 'follow.maxBehind',
    type: 'integer',
    default: 20,
    minimum: 0,
    live: true,
    scope: 'transformer',
    summary:
      'A follower waits while the target of the graph writer lacks more versions of its dataset than this; 0: it never waits. It does not wait for a target that has had no version of it, or while no process of the fleet takes runs of the graph writer.',
  },
} as const satisfies Readonly<Record<string, OptionRow>>;
