/** Options of provenance. */
import { BROKER, TOPIC } from './patterns.ts';
import { noList, none, type OptionRow } from './row.ts';

export const PROVENANCE_OPTIONS = {
  RECORD_PROVO: {
    path: 'provenance.recordProvo',
    type: 'boolean',
    default: false,
    live: true,
    summary: 'Record the provenance of each run of a transformer (PROV-O), in a file of N-Quads.',
  },
  PROV_OUTPUT_DIR_URL: {
    path: 'provenance.outputDirUrl',
    type: 'url',
    default: none,
    live: true,
    place: 'write',
    summary: 'Directory of provenance files. Absent: beside the output.',
  },
  SWITCHED_OFF_ACTIVITIES: {
    path: 'provenance.switchedOffActivities',
    type: 'list',
    default: noList,
    live: true,
    pattern: { test: /^(main|execution|message)$/, says: '`main`, `execution` or `message`' },
    summary: 'Activities that are left out of the provenance: main, execution, message.',
  },
  PROV_KAFKA_BROKERS: {
    path: 'provenance.kafka.kafkaBrokers',
    type: 'list',
    default: noList,
    live: true,
    place: 'trusted',
    pattern: BROKER,
    summary:
      'Brokers of the topic PROV_KAFKA_TOPIC_NAME_DLQ, where KAFKA_BROKERS has brokers: with the same login and TLS. Empty: KAFKA_BROKERS.',
  },
  PROV_KAFKA_TOPIC_NAME_DLQ: {
    path: 'provenance.kafka.topicNameDLQ',
    type: 'string',
    default: 'prov_dead_letter_queue',
    live: true,
    pattern: TOPIC,
    summary: 'Topic of messages about provenance that could not be recorded; the run is not failed by that.',
  },
} as const satisfies Readonly<Record<string, OptionRow>>;
