/** Recorded messages of Debezium (`../shared/streams`), and the tables that they came from. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isObject, parseJson, printJson } from '../../../../src/streams/debezium/json.ts';
import type { KafkaMessage } from '../../../../src/streams/debezium/message.ts';
import { PROJECT_ROOT } from '../../../support/project-root.ts';

/** Another recording: `DEBEZIUM_STREAMS`. */
const STREAMS = process.env.DEBEZIUM_STREAMS ?? join(PROJECT_ROOT, '../shared/streams');

/** undefined: they are here. */
export const missingStreams = existsSync(STREAMS) ? undefined : 'there is no folder ../shared/streams with recorded messages';

export const TABLES = ['customers', 'products', 'orders', 'order_lines', 'stores', 'types', 'audit'] as const;

export const scenarios = (database: string): readonly string[] =>
  missingStreams === undefined && existsSync(join(STREAMS, database))
    ? readdirSync(join(STREAMS, database))
        .filter((name) => /^\d/.test(name))
        .sort()
    : [];

/** The messages of a scenario by topic, in order; none where it was not recorded. */
export function messagesOf(folder: string, prefix: string): ReadonlyMap<string, readonly KafkaMessage[]> {
  const directory = join(STREAMS, folder);
  if (!existsSync(directory)) return new Map();
  const files = readdirSync(directory).filter((name) => name.startsWith(`${prefix}.`) && name.endsWith('.jsonl'));
  return new Map(files.map((name) => [name.slice(0, -'.jsonl'.length), readMessages(join(directory, name))]));
}

function readMessages(path: string): readonly KafkaMessage[] {
  const isAvro = path.includes('/avro/');
  return readFileSync(path, 'utf8')
    .trim()
    .split('\n')
    .map((line) => {
      const message = parseJson(line);
      if (!isObject(message)) throw new Error(`${path}: no object`);
      const bytes = (value: unknown): Buffer | null =>
        value === null ? null : isAvro ? Buffer.from(value as string, 'base64') : Buffer.from(printJson(value as never));
      const headers = isObject(message.headers) ? Object.entries(message.headers) : [];
      return {
        topic: message.topic as string,
        partition: Number(printJson(message.partition)),
        offset: printJson(message.offset),
        timestamp: Number(printJson(message.timestamp)),
        key: bytes(message.key),
        value: bytes(message.value),
        headers: Object.fromEntries(headers.map(([name, value]) => [name, Buffer.from(printJson(value))])),
      };
    });
}

/** What was done to a database, also in scenarios that are not recorded. */
const WORKLOADS = join(PROJECT_ROOT, '../shared/servers/debezium/workloads');

/** The scenarios of a database and those of which there is a script. */
export const workloads = (recording: string): readonly string[] => [...new Set([...scenarios(recording), ...scriptsOf(recording)])].sort();

const scriptsOf = (recording: string): readonly string[] =>
  existsSync(join(WORKLOADS, recording))
    ? readdirSync(join(WORKLOADS, recording)).flatMap((name) => (/^(?!00)(\d.*)\.sql$/.exec(name)?.[1] ?? []) as string)
    : [];

/** The script of a scenario, or the `schema.sql` of a recording; empty: there is none. */
export function scriptOf(recording: string, name: string): string {
  const recorded = join(STREAMS, recording, name);
  const paths = [recorded, join(WORKLOADS, recording, `${name.replace(/\/workload\.sql$/, '')}.sql`)];
  const path = paths.find((one) => existsSync(one));
  return path === undefined ? '' : readFileSync(path, 'utf8');
}

/** The statements of a script, without comments. */
export const statementsOf = (script: string): readonly string[] =>
  (script.match(/(?:'(?:[^']|'')*'|--[^\n]*|[^;'-]|-(?!-))+/g) ?? [])
    .map((statement) => statement.replace(/('(?:[^']|'')*')|--[^\n]*/g, '$1').trim())
    .filter((statement) => statement !== '');

export const avroSchemaText = (id: string): string => readFileSync(join(STREAMS, `avro/schemas/${id}.json`), 'utf8');

export type CsvRow = Readonly<Record<string, string | null>>;

/** The rows of a table after a scenario; undefined: there is no such table. */
export function tableAfter(folder: string, table: string, when: 'before' | 'after' = 'after'): readonly CsvRow[] | undefined {
  const path = join(STREAMS, folder, when, `${table}.csv`);
  return existsSync(path) ? readCsv(readFileSync(path, 'utf8')) : undefined;
}

/** `""` is an empty text, an empty cell without quotes is NULL. */
function readCsv(text: string): readonly CsvRow[] {
  const rows: (string | null)[][] = [];
  let row: (string | null)[] = [];
  for (const [, quoted, bare, end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^,\n]*))(,|\n|$)/g)) {
    row.push(quoted === undefined ? bare || null : quoted.replaceAll('""', '"'));
    if (end === ',') continue;
    if (row.length > 1 || row[0] !== null) rows.push(row);
    row = [];
  }
  const [head = [], ...body] = rows;
  return body.map((cells) => Object.fromEntries(head.map((name, i) => [name as string, cells[i] ?? null])));
}
