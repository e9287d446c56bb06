/** `quadmill follow`: keeps a dataset fresh by the changes of the tables that its mapping reads. */
import { DEFAULTS } from '../../src/config/options/options.ts';
import { RUN_DEFAULTS } from '../../src/config/run-defaults.ts';
import { describeFault } from '../../src/core/fault.ts';
import { CHANGES_BY, type ChangesBy } from '../../src/datasets/manifest.ts';
import type { DatasetReport } from '../../src/datasets/run.ts';
import { DATATYPE_CHECKS } from '../../src/mapping/model/model.ts';
import { RDF_VERSIONS } from '../../src/sinks/sink.ts';
import type { RejectedMessage } from '../../src/streams/events.ts';
import { feedOf, parseChanges } from '../../src/streams/feeds.ts';
import { type EpochReport, type FeedSource, follow as followFeed } from '../../src/streams/follow/follower.ts';
import { type Command, commandOf, numberOf, type Parsed, UsageError } from '../command-line.ts';
import { datasetPlace } from '../datasets/place.ts';
import { EXIT, failed } from '../exit.ts';
import { interruptible } from '../interruption.ts';
import { DATABASE_OPTIONS, databaseOf } from '../options/database.ts';
import { FUNCTION_OPTIONS, functionFilesOf } from '../options/functions.ts';
import { variablesOf } from '../options/variables.ts';
import { RejectionLog } from '../report/rejections.ts';
import { count, printError, printLine } from '../terminal.ts';
import { requestOf } from './run.ts';

const EPOCH_SECONDS = 5;
const EPOCH_RECORDS = 10_000;

const FOLLOW: Command = {
  name: 'follow',
  usage: 'follow MAPPING… --dataset DIR [options]',
  summary:
    'Follows the changes of the tables and topics that MAPPING reads, and keeps their graph as a dataset in DIR, in versions. It reads all rows and messages first, and then what changes, until it is stopped.',
  options: {
    dataset: { value: 'DIR', summary: 'a directory or s3://…; needed. A new one is made' },
    ...DATABASE_OPTIONS,
    changes: {
      value: 'ADDRESS',
      summary:
        "read the changes from topics of Debezium: kafka://HOST:PORT/PREFIX.SCHEMA.{table}, {table} is each table of the mapping; default the database's own replication log. Topics that the mapping names need no option",
    },
    registry: { value: 'URL', summary: 'registry with the schemas of messages in Avro' },
    'until-caught-up': { summary: 'end when everything has been read that was there at the start' },
    'epoch-seconds': { value: 'N', summary: `make a version at most N seconds after a change, default ${EPOCH_SECONDS}` },
    'epoch-records': { value: 'N', summary: `or after N changes, default ${count(EPOCH_RECORDS)}` },
    'on-error': {
      value: 'POLICY',
      choices: ['strict', 'skip', 'quarantine'],
      summary:
        'what happens when a value of a row is invalid, or a message is no change; default strict, but skip for legacy RML. Under quarantine messages go to DIR.rejected.ndjson, and rows to DIR.rejected-rows.ndjson',
    },
    'max-rejected': { value: 'N', summary: 'with skip and quarantine: give up if more than N rows are rejected' },
    'datatype-check': { value: 'MODE', choices: DATATYPE_CHECKS, summary: 'see quadmill run --help' },
    base: { value: 'IRI', summary: 'base of relative IRIs, default http://example.com/base/' },
    rdf: { value: 'VERSION', choices: RDF_VERSIONS, summary: 'how triples about triples are written; default star' },
    'memory-mb': {
      value: 'N',
      summary: `memory of joins and comparisons before they use temporary files, default ${RUN_DEFAULTS.memoryBudgetBytes / 2 ** 20}`,
    },
    ...FUNCTION_OPTIONS,
    'changes-by': {
      value: 'WAY',
      choices: CHANGES_BY,
      summary:
        'how a version finds its changes: record maps the rows that changed, with those that they meet in joins, output maps all rows; default by record where that can be',
    },
    stats: { summary: 'a line of JSON on standard error for each version: changes, statements, lag' },
  },
  notes: `The rows are kept in the state of the dataset. A follower that is killed goes on where it was; one whose state was lost
reads everything again, and makes a version of what differs.

Login and TLS of the brokers are those of the service, as variables: KAFKA_USERNAME, KAFKA_PASSWORD, KAFKA_SASL_MECHANISM,
KAFKA_SSL, KAFKA_SSL_CA, KAFKA_SSL_CERT, KAFKA_SSL_KEY. RETAIN_VERSIONS says how many versions stay.

PostgreSQL keeps a replication slot and a publication for each dataset: quadmill dataset remove DIR drops them.

Exit codes: 0 stopped by SIGTERM or SIGINT, or caught up, 1 it failed, 2 the command line or the mapping is wrong,
130 stopped at once by a second signal.

  quadmill follow shop.ttl --dataset ./shop --jdbc-url jdbc:postgresql://localhost/shop --db-user reader
  quadmill follow shop.ttl --dataset ./shop --changes kafka://localhost:9092/shop.public.{table} --until-caught-up`,
};

export const follow = commandOf(FOLLOW, async (parsed) => {
  if (parsed.positionals.length === 0) throw new UsageError('follow needs at least one mapping');
  const url = parsed.value('dataset');
  if (url === undefined) throw new UsageError('follow needs --dataset DIR');
  const request = { ...requestOf(parsed, parsed.positionals, databaseOf(parsed)), functions: await functionFilesOf(parsed) };
  const options = {
    place: datasetPlace(url),
    request,
    source: await sourceOf(parsed),
    epochSeconds: numberOf(parsed, 'epoch-seconds', 1) ?? EPOCH_SECONDS,
    epochRecords: numberOf(parsed, 'epoch-records', 1) ?? EPOCH_RECORDS,
    untilCaughtUp: parsed.has('until-caught-up'),
    changesBy: parsed.value('changes-by') as ChangesBy | undefined,
    retain: variablesOf('RETAIN_VERSIONS').RETAIN_VERSIONS ?? 0,
  };
  const isKept = request.onError === 'quarantine';
  const messages = isKept ? new RejectionLog(`${url}.rejected.ndjson`, 'append') : undefined;
  let rows: RejectionLog | undefined;
  const interruption = interruptible();
  try {
    await followFeed(options, {
      stop: interruption.signal,
      epoch(report) {
        rows?.close();
        messages?.close();
        if (report.made.version > report.made.previousVersion) printLine(summaryOf(report));
        if (parsed.has('stats')) printLine(JSON.stringify(statsOf(report)));
      },
      rejecting() {
        // What is rejected is so each time: all rows are mapped.
        rows?.close();
        rows = isKept ? new RejectionLog(`${url}.rejected-rows.ndjson`) : undefined;
        return (rejection) => rows?.add(rejection);
      },
      rejected(message) {
        printError(`${message.place}: ${message.reason}; it is left out`);
        messages?.addRow(rowOf(message));
      },
      retry: (fault, waitMs) => printError(`${describeFault(fault)}\n  it is tried again in ${waitMs / 1000} s`),
      warn: printError,
    });
    return EXIT.done;
  } catch (error) {
    return failed(error);
  } finally {
    rows?.close();
    messages?.close();
    interruption.end();
  }
});

/** @throws UsageError; Fault config/invalid */
async function sourceOf(parsed: Parsed): Promise<FeedSource> {
  const changes = parsed.value('changes');
  const address = changes === undefined ? undefined : parseChanges(changes);
  const { SECURITY_OPTIONS, securityOf } = await import('../../queues/messaging/kafka/client.ts');
  const security = securityOf({ ...DEFAULTS, ...variablesOf(...SECURITY_OPTIONS) });
  return feedOf(address, { security, registryUrl: parsed.value('registry') });
}

/** Bytes as base64, so that nothing of them is lost. */
const rowOf = ({ place, reason, key, value }: RejectedMessage): object => ({
  place,
  message: reason,
  ...(key === undefined ? {} : { key: Buffer.from(key).toString('base64') }),
  ...(value === undefined ? {} : { value: Buffer.from(value).toString('base64') }),
});

function summaryOf({ made, changes, lag }: EpochReport): string {
  const { name, version, added, removed, report } = made;
  const rejected = report === undefined || report.rejected === 0 ? '' : `, ${count(report.rejected)} rows rejected`;
  const behind = [
    ...(lag.messages === undefined ? [] : [`${count(lag.messages)} messages`]),
    ...(lag.bytes === undefined ? [] : [`${count(lag.bytes)} bytes`]),
    ...(lag.seconds === undefined ? [] : [`${lag.seconds.toFixed(1)} s`]),
  ];
  return `dataset ${name}: version ${version}, ${count(added)} statements added, ${count(removed)} removed by ${count(changes)} changes${wayOf(made)}${rejected}${behind.length === 0 ? '' : `; behind by ${behind.join(', ')}`}`;
}

/** How the changes were found. Of a first version there is one way. */
const wayOf = ({ changesBy, reason, previousVersion }: DatasetReport): string =>
  changesBy === 'record' ? ', by record' : reason === undefined || previousVersion === 0 ? '' : `, by output: ${reason}`;

const statsOf = ({ made, changes, lag }: EpochReport): object => ({
  dataset: made.name,
  version: made.version,
  previousVersion: made.previousVersion,
  added: made.added,
  removed: made.removed,
  statements: made.statements,
  ...(made.changesBy === undefined ? {} : { changesBy: made.changesBy }),
  ...(made.reason === undefined ? {} : { reason: made.reason }),
  changes,
  rejected: made.report?.rejected ?? 0,
  lag,
});
