/** JSON schemas of requests and answers, by the names that routes use. */

import { FOLLOWER_PHASES } from '../queues/follow/record.ts';
import { SERVICES } from '../queues/jobs.ts';
import { PROCESS_REQUEST, WRITE_BODY } from '../queues/requests/schemas.ts';
import { RUN_STATES } from '../queues/runs/life.ts';
import { LICENCE_STATUSES } from '../src/config/licence.ts';
import { FAULTS } from '../src/core/fault.ts';
import { FORMATS } from '../src/core/input/formats.ts';
import { RDF_SYNTAXES } from '../src/core/input/rdf-syntaxes.ts';
import { NOT_BLANK } from '../src/core/schema.ts';
import { FILE_KINDS } from '../src/datasets/manifest.ts';
import { KINDS } from '../src/infer/kinds.ts';
import { MAPPING_EXTENSIONS } from '../src/mapping/model/language.ts';
import { TERM_KINDS } from '../src/ontology/terms.ts';
import { TARGET_TYPES, WRITE_MODES } from '../src/targets/target.ts';
import { ROLES } from './route.ts';

const text = { type: 'string' } as const;
const count = { type: 'integer', minimum: 0 } as const;
const texts = { type: 'array', items: text } as const;
const LATE = { ...texts, description: 'Inputs that were read only as far as there was time' } as const;
const time = { type: 'string', format: 'date-time' } as const;

/** An object with `required` and `optional` fields. */
const record = (required: Readonly<Record<string, unknown>>, optional: Readonly<Record<string, unknown>> = {}) => ({
  type: 'object',
  properties: { ...required, ...optional },
  required: Object.keys(required),
});

const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });

const CHANGE_COUNTS = {
  added: { ...count, description: 'Statements that the version before does not have' },
  removed: { ...count, description: 'Statements that the version before has' },
  statements: { ...count, description: 'Of the graph of the version' },
} as const;

const DATASET = {
  name: text,
  id: { ...text, description: 'UUID; IRIs of the dataset are made of it' },
  currentVersion: { ...count, description: '0: there is no version' },
  oldestVersion: { ...count, description: 'The oldest version that was not removed' },
  endedAt: { type: ['string', 'null'], format: 'date-time', description: 'When the newest version was made' },
  ...CHANGE_COUNTS,
} as const;

const FOLLOWED = {
  ...record(
    {
      service: { type: 'string', enum: Object.keys(SERVICES) },
      phase: {
        type: 'string',
        enum: FOLLOWER_PHASES,
        description: '`waiting`: for the target, which lacks versions; `failed`: `reason` says why, and it restarts',
      },
      isActive: { type: 'boolean', description: 'Whether a worker follows now' },
      seenAt: { ...time, description: 'When the worker gave its last sign of life' },
    },
    {
      feed: { ...text, description: 'Where the changes come from' },
      position: { type: 'object', additionalProperties: text, description: 'How far the feed was read' },
      version: { ...count, description: 'The newest version' },
      behind: { ...count, description: 'Versions that the target lacks' },
      lag: record(
        { seconds: { type: 'number', description: 'For how long the newest version has not been that of the end of the feed, at most' } },
        {
          messages: { ...count, description: 'Messages of topics that no version has' },
          bytes: { ...count, description: 'Bytes of the log of the database that no version has' },
          keptBytes: { ...count, description: 'Bytes of its log that the database keeps for the follower' },
        },
      ),
      reason: { ...text, description: 'Why it failed' },
    },
  ),
  description: 'The follower that makes the versions of the changes of tables; absent: runs make them',
} as const;

const VERSION = {
  version: count,
  previous: { ...count, description: 'The version before; 0: the empty graph' },
  runId: text,
  startedAt: time,
  endedAt: time,
  records: count,
  rejected: count,
  ...CHANGE_COUNTS,
} as const;

const EXAMPLE_VALUE = { type: ['string', 'number', 'boolean', 'null', 'array'], items: { type: ['string', 'number'] } } as const;

const MAPPING_LANGUAGE = { type: 'string', enum: ['turtle', 'yarrrml'] } as const;
const SIDE = { type: ['object', 'null'], description: 'The side file; null: there is none' } as const;
const SAVED_BY = {
  by: { type: ['string', 'null'], description: 'Who saved it; null: it was not saved through the service' },
  at: { type: ['string', 'null'], format: 'date-time', description: 'When it was saved; null: not known' },
} as const;

const MAPPING_DIRECTORY = {
  type: 'string',
  enum: ['semi-structured-transformer', 'sql-transformer'],
  description: 'The transformer whose mapping directory a relative path is of. Default: it is of the working directory',
} as const;

const NULLS = {
  type: 'array',
  maxItems: 100,
  items: { type: 'string', maxLength: 1_000 },
  description: 'Texts that mean no value',
} as const;

/** The text of a mapping, and what is read for it. */
const PREVIEWED = {
  name: {
    type: 'string',
    pattern: `^[^/\\\\\\u0000]+\\.(${MAPPING_EXTENSIONS.join('|')})$`,
    maxLength: 200,
    description: 'Its extension gives the language',
    examples: ['shop.ttl'],
  },
  text: { type: 'string', maxLength: 4 * 2 ** 20 },
} as const;
const PREVIEWED_WITH = {
  service: { type: 'string', enum: ['semi-structured-transformer', 'sql-transformer'], description: 'Default: the first transformer' },
  inputs: {
    type: 'array',
    maxItems: 1_000,
    items: record({ name: { ...text, description: 'Of the source in the mapping' }, url: { ...text, description: 'What is read for it' } }),
    description: 'Sources that are not named here are read from where the mapping says',
  },
  records: { type: 'integer', minimum: 10, maximum: 1_000, description: 'Of each iterator. Default: 100' },
} as const;

export const SCHEMAS = {
  ProcessRequest: PROCESS_REQUEST,
  SuccessReport: record(
    {
      successfulIterations: count,
      failedIterations: count,
      outputFileLocations: texts,
      mappingFiles: texts,
      processingTime: { ...count, description: 'Milliseconds' },
      runId: text,
      records: count,
      quads: count,
      rejectedRecords: count,
      warnings: texts,
    },
    {
      input: { ...texts, description: 'Not of the SQL transformer' },
      provenance: { ...text, description: 'URL of the provenance; with RECORD_PROVO' },
      targetFileLocations: { ...texts, description: 'Files of logical targets; where the mapping has some' },
      dataset: { ...text, description: 'The dataset of which the run made a version, or found that nothing has changed' },
      version: { ...count, description: 'The newest version of the dataset' },
      previousVersion: { ...count, description: 'The version before the run; equal to `version` where nothing has changed' },
      added: { ...count, description: 'Statements of the new version that the version before did not have: those of outputFileLocations' },
      removed: { ...count, description: 'Statements of the version before that the new version does not have' },
      removedFileLocations: { ...texts, description: 'With a dataset: the file of removed statements, if there are any' },
      propertyGraphFileLocations: { ...texts, description: 'Nodes, then edges; with PROPERTY_GRAPH_MODE' },
      joins: {
        type: 'array',
        items: record({
          origin: { ...text, description: 'Where the mapping has the join: document:line:column' },
          child: { ...text, description: 'The triples map or view whose rows look for partners' },
          parent: text,
          conditions: text,
          rows: { ...count, description: 'Of the child, also those without a key' },
          withoutPartner: { ...count, description: 'Rows whose key no row of the parent has' },
          childKeys: { ...texts, description: 'Up to three of these keys' },
          parentKeys: { ...texts, description: 'Up to three keys of the parent' },
        }),
        description: 'Joins in which some row found no partner; where there are any',
      },
    },
  ),
  WriteRequest: WRITE_BODY,
  WriterReport: record(
    {
      input: texts,
      target: { ...text, description: 'The store, without passwords' },
      mode: { type: 'string', enum: WRITE_MODES },
      quadsWritten: count,
      batches: count,
      processingTime: { ...count, description: 'Milliseconds' },
      runId: text,
      records: { ...count, description: 'Statements of the input' },
      quads: count,
      rejectedRecords: count,
      rejectedStatements: {
        type: 'array',
        items: record({ input: text, line: count, statement: text, fault: ref('Fault') }),
        description: 'The first rejected statements',
      },
      warnings: texts,
    },
    {
      dataset: { ...text, description: 'The dataset that was written; absent: files were' },
      version: { ...count, description: 'The version of the dataset that the target has' },
      previousVersion: { ...count, description: 'That which it had; 0: none' },
      rejections: { ...text, description: 'URL of the file of all rejected statements' },
    },
  ),
  ConnectionCheck: record({
    success: { const: true },
    target: text,
    type: { type: 'string', enum: TARGET_TYPES },
    product: text,
    milliseconds: count,
  }),
  FailureMessage: record(
    {
      name: text,
      time: { ...text, description: 'Local date-time, ISO 8601 with milliseconds, no zone' },
      type: text,
      error: text,
      version: text,
      code: { type: 'string', enum: Object.keys(FAULTS) },
      detail: ref('Fault'),
    },
    {
      entity: { ...text, description: 'URL of the failed input file; not of the SQL transformer' },
      provenance: { ...text, description: 'Not of the graph writer' },
      runId: { ...text, description: 'Of the run that failed; absent where none was made' },
    },
  ),
  Fault: record({ code: { type: 'string', enum: Object.keys(FAULTS) }, message: text, place: ref('Place') }, { hint: text }),
  Place: record({}, { mapping: text, input: text, record: count, line: count, column: count, byte: count, expression: text, value: text }),
  Problem: record(
    {
      type: text,
      title: text,
      status: count,
      detail: text,
      instance: text,
      code: { type: 'string', enum: Object.keys(FAULTS) },
      requestId: text,
    },
    { place: ref('Place'), hint: text, diagnostics: { type: 'array', items: ref('Diagnostic') }, names: texts },
  ),
  Diagnostic: record(
    { severity: { type: 'string', enum: ['error', 'warning'] }, code: text, line: count, column: count, message: text },
    { hint: text },
  ),
  RunView: record(
    { id: text, service: text, state: { type: 'string', enum: RUN_STATES }, attempts: count, submittedAt: time, input: texts },
    {
      dataset: { ...text, description: 'The dataset of which the run makes a version' },
      startedAt: time,
      endedAt: time,
      progress: record({ records: count, quads: count, bytesRead: count }, { waiting: text }),
      reason: { type: 'string', description: 'Why the run cannot start' },
      workers: { ...count, description: 'Beside `reason`: processes that take runs from the queue' },
      outcome: {
        oneOf: [
          record({ state: { const: 'completed' }, report: { oneOf: [ref('SuccessReport'), ref('WriterReport')] } }),
          record({ state: { enum: ['failed', 'cancelled'] }, failure: ref('FailureMessage') }),
        ],
      },
    },
  ),
  ConfigChange: record({
    configEntry: { ...text, pattern: NOT_BLANK, description: 'The name or path of the option' },
    configValue: { type: ['string', 'number', 'boolean', 'array'], items: text, description: 'The new value of the option' },
  }),
  ConfigEntry: record({ configEntry: text, configValue: { type: ['string', 'number', 'boolean', 'null'] } }),
  Licence: record(
    {
      license: { ...text, description: 'The identifier of the licence, and what it is' },
      licenseInformation: record({
        registeredTo: { ...text, description: 'NAME - COMPANY - E-MAIL' },
        expires: { ...text, description: 'The last day, and the number of days remaining' },
        productName: text,
      }),
      validationStatus: { type: 'string', enum: LICENCE_STATUSES },
    },
    { problem: { ...text, description: 'Why it is not valid' } },
  ),
  ConfigHistory: record({
    changes: {
      type: 'array',
      items: record({ time, by: { ...text, description: 'The name of the token' }, option: text, value: text }),
    },
  }),
  ConfigBackup: record({ location: { ...text, format: 'uri' } }),
  CronSchedule: record(
    { cron: { type: ['string', 'null'] } },
    {
      timezone: text,
      next: { type: 'array', items: time, description: 'The next three times, fewer where the years of the expression end' },
    },
  ),
  DatasetView: record(DATASET),
  DatasetDetails: record(
    { ...DATASET, versions: { type: 'array', items: record(VERSION), description: 'The newest first' } },
    { followed: FOLLOWED },
  ),
  DatasetManifest: record(
    {
      ...VERSION,
      mappings: { type: 'array', items: record({ url: text, sha256: text }) },
      inputs: { type: 'array', items: record({ url: text }, { bytes: count, state: text }) },
      digest: { ...text, description: 'Of mapping, plan and functions' },
      run: { type: 'object', description: 'What the run was asked for' },
      files: {
        type: 'array',
        items: record(
          { name: text, kind: { type: 'string', enum: FILE_KINDS }, bytes: count, sha256: text },
          { target: { ...text, description: 'Path of the logical target' } },
        ),
      },
    },
    { targets: { type: 'object', description: 'Logical targets by path', additionalProperties: record(CHANGE_COUNTS) } },
  ),
  DatasetChanges: record({
    statements: { ...texts, description: 'N-Quads, without the ends of the lines' },
    next: { type: ['integer', 'null'], description: 'The `offset` of the next page; null: there are no more' },
  }),
  DatasetStatementRequest: record(
    {
      statement: {
        type: 'string',
        pattern: NOT_BLANK,
        maxLength: 100_000,
        description: 'A line of N-Quads, blank nodes with the labels of the dataset',
      },
    },
    { version: { type: 'integer', minimum: 1, description: 'The version whose mapping and inputs are meant. Default: the newest one' } },
  ),
  DatasetPosition: record({
    target: { ...text, description: 'The store that the graph writer writes to, without passwords' },
    type: { type: 'string', enum: TARGET_TYPES },
    version: { ...count, description: 'The version that the target has; 0: none' },
    complete: { type: 'boolean', description: 'false: its graph is being written, and only a part of it may be there' },
    currentVersion: { ...count, description: 'The newest version of the dataset' },
  }),
  StudioUser: record({
    actor: { ...text, description: 'The name of the token, or `anonymous`' },
    role: { type: 'string', enum: ROLES },
    limits: record({ maxBodyBytes: count, maxUploadBytes: count }),
    services: { type: 'array', items: { type: 'string', enum: Object.keys(SERVICES) } },
    target: record({
      type: { type: 'string', enum: TARGET_TYPES },
      location: { ...text, description: 'The store that the graph writer writes to, without passwords' },
    }),
    writeModes: { type: 'array', items: { type: 'string', enum: WRITE_MODES } },
    writeMode: { type: 'string', enum: WRITE_MODES, description: 'That of runs which name none' },
  }),
  StudioMappings: record({ mappings: { type: 'array', items: ref('StudioMappingEntry') } }),
  StudioMappingEntry: record({
    name: text,
    language: MAPPING_LANGUAGE,
    etag: { type: ['string', 'null'], description: 'The entity tag; null: there is a draft only' },
    ...SAVED_BY,
    draft: { type: 'boolean', description: 'There is a draft' },
  }),
  StudioMapping: record({
    text,
    language: MAPPING_LANGUAGE,
    location: { ...text, description: 'Path or URL by which a run names the file as its `mappingURL`' },
    side: SIDE,
    etag: text,
    ...SAVED_BY,
  }),
  StudioMappingUpdate: record(
    { text },
    { side: { type: 'object', description: 'The side file; left out: it stays, `{}`: there is none' } },
  ),
  StudioSaved: record({ etag: { ...text, description: 'The entity tag of what was saved' } }),
  StudioUpload: record({
    url: { ...text, format: 'uri', description: 'The location by which mappings and runs name the file' },
    bytes: count,
    sha256: text,
    format: { ...text, description: 'What the file is read as, by its extension' },
  }),
  StudioSampleRequest: record(
    {
      location: {
        type: 'string',
        pattern: NOT_BLANK,
        maxLength: 100_000,
        description:
          'URL or path; of a workbook also with a sheet: `people.xlsx#Staff`. By `of` a table, as a mapping writes it, or a query',
      },
    },
    {
      of: {
        type: 'string',
        enum: ['file', 'table', 'query'],
        description: 'A table or query is of the database of the SQL transformer. Default: file',
      },
      format: { type: 'string', enum: Object.keys(FORMATS), description: 'Default: by the name, else by the media type of the answer' },
      delimiter: { type: 'string', minLength: 1, maxLength: 1, description: 'Of CSV. Default: what the first rows show', examples: [';'] },
      quote: {
        type: 'string',
        maxLength: 1,
        examples: ["'"],
        description: 'Of CSV; empty: none. Default: `"`; for cells between tabs none, unless the whole header stands in quotes',
      },
      encoding: {
        type: 'string',
        maxLength: 40,
        description: 'Of text. Default: by a byte order mark, the server or the document, else UTF-8',
      },
      mappings: MAPPING_DIRECTORY,
      deeper: { type: 'boolean', description: 'Whether more of the input is read' },
      items: { type: 'boolean', description: 'Whether values of single items of lists are wanted' },
      nulls: { ...NULLS, description: 'Texts that mean no value. Default: empty cells of CSV and workbooks alone' },
      legacy: { type: 'boolean', description: 'Whether an empty cell without quotes is no value, as in legacy RML and YARRRML' },
    },
  ),
  StudioTables: record({
    database: { ...text, description: 'Without login and parameters' },
    tables: { type: 'array', items: ref('StudioTable') },
    cut: { type: 'boolean', description: 'There are more tables than are given' },
  }),
  StudioTable: record(
    {
      name: { ...text, description: 'As a mapping writes it' },
      kind: { type: 'string', enum: ['table', 'view'] },
      columns: { type: 'array', items: record({ name: text, nullable: { type: 'boolean' } }) },
      foreignKeys: {
        type: 'array',
        items: record({ columns: texts, parent: { ...text, description: 'As a mapping writes it' }, parentColumns: texts }),
      },
    },
    { primaryKey: texts, rows: { ...count, description: "The server's estimate" } },
  ),
  StudioSample: record(
    {
      format: { ...text, description: 'What the input was read as' },
      namespaces: { type: 'object', additionalProperties: text, description: 'Of XML: by prefix' },
      fields: { type: 'array', items: ref('StudioField'), description: 'Each before those within it' },
      records: { ...count, description: 'Rows, or items of the outermost list, that were read' },
      bytesRead: { ...count, description: 'Unpacked' },
      complete: { type: 'boolean', description: 'Whether that is the whole input' },
      warnings: texts,
    },
    {
      delimiter: { ...text, description: 'Of CSV, where it is not that of the format' },
      quote: { ...text, description: 'Of CSV, where it is not that of the delimiter; empty: none' },
      sheets: { ...texts, description: 'Of a workbook: the names of its sheets' },
      fault: { ...ref('Fault'), description: 'What is wrong behind what was read: a run ends there' },
      ofBytes: { ...count, description: 'Size of the input; absent: not known, such as of a compressed file' },
    },
  ),
  StudioItemsRequest: record(
    {
      location: { type: 'string', pattern: NOT_BLANK, maxLength: 8_000, description: 'URL or path' },
      format: { type: 'string', enum: ['json', 'jsonl', 'xml'] },
      iterator: { type: 'string', maxLength: 8_000, description: 'JSONPath or XPath of the items of one list' },
      references: { type: 'array', maxItems: 100, items: { type: 'string', maxLength: 8_000 }, description: 'From an item on' },
    },
    {
      mappings: MAPPING_DIRECTORY,
      namespaces: { type: 'object', additionalProperties: text, description: 'Of XML: by prefix' },
      from: { ...count, description: 'Position of the first item that is wanted, from 0. Default: 0' },
      find: { type: 'string', minLength: 1, maxLength: 1_000, description: 'Only items with this in one of their values, in any case' },
      nulls: NULLS,
    },
  ),
  StudioItems: record({
    items: {
      type: 'array',
      description: 'At most 20',
      items: record({
        position: { ...count, description: 'From 0' },
        values: { type: 'array', items: { type: ['string', 'null'] }, description: 'The beginning of the first value of each reference' },
      }),
    },
    next: { ...count, description: 'Position behind the last item that was looked at' },
    complete: { type: 'boolean', description: 'Whether the list has no more items' },
    cut: { type: 'boolean', description: 'There was no time to look further' },
  }),
  StudioOntologyRequest: record(
    { location: { type: 'string', pattern: NOT_BLANK, maxLength: 8_000, description: 'URL or path' } },
    {
      format: {
        type: 'string',
        enum: Object.keys(RDF_SYNTAXES),
        description: 'Default: what the document shows, else its name or the media type of the answer',
      },
      mappings: MAPPING_DIRECTORY,
    },
  ),
  StudioOntology: record({
    format: { ...text, description: 'What the document was read as' },
    terms: { type: 'array', items: ref('StudioTerm'), description: 'Classes and properties in the order of the document, at most 20,000' },
    prefixes: { type: 'object', additionalProperties: text, description: 'That the document declares for them: prefix → namespace' },
    statements: { ...count, description: 'That were read' },
    bytesRead: { ...count, description: 'Unpacked' },
    cut: { ...texts, description: 'What was left out. Empty: nothing' },
  }),
  StudioTerm: record(
    {
      iri: text,
      kind: { type: 'string', enum: TERM_KINDS },
      labels: { type: 'array', items: ref('StudioTermText'), description: 'In all languages' },
      domain: { ...texts, description: 'Of a property: IRIs of classes' },
      range: { ...texts, description: 'Of a property: IRIs of classes and datatypes' },
      subClassOf: { ...texts, description: 'Of a class: IRIs of classes' },
    },
    { comment: ref('StudioTermText') },
  ),
  StudioTermText: record({ text: { ...text, description: 'At most 300 characters' } }, { language: text }),
  StudioField: record(
    {
      path: {
        type: 'array',
        description: 'From the root of the document; of rows, JSON Lines and Parquet from the record',
        items: {
          oneOf: [
            record({ name: text }),
            record({ attribute: { ...text, description: 'Of XML' } }),
            record({ each: { const: true, description: 'The items of a list' } }),
            record({ text: { const: true, description: 'Of an element with attributes' } }),
          ],
        },
      },
      holds: { type: 'string', enum: ['value', 'list', 'object'] },
    },
    {
      values: ref('StudioFieldValues'),
      items: { ...count, description: 'Of all lists that were read' },
      longest: { ...count, description: 'Items of the longest list' },
      keysAreData: { type: 'boolean', description: 'The object has so many keys of one shape that its members count as items of a list' },
      single: {
        type: 'array',
        items: record({ at: { type: 'array', items: count } }, { items: { ...count, description: 'Of a list' } }),
        description:
          'The lists and objects that stand in the first 20 items of each list, at most 400, where values of single items are asked for',
      },
    },
  ),
  StudioFieldValues: record(
    {
      kind: { type: 'string', enum: [...KINDS, 'text'], description: 'The narrowest kind that all values have' },
      kinds: { type: 'object', additionalProperties: count, description: 'Number of values by kind' },
      objects: { ...count, description: 'Objects of the level; for the items of a list: items' },
      values: count,
      absent: { ...count, description: 'Objects without the field' },
      nulls: count,
      distinct: { ...count, description: 'Different values, at most 1000' },
      isDistinctCut: { type: 'boolean', description: 'There may be more different values' },
      examples: { ...texts, description: 'The first different values, the beginning of each' },
    },
    {
      items: {
        type: 'array',
        items: record({ at: { type: 'array', items: count }, value: text }),
        description:
          'Values of the first 20 items of each list, at most 400, where they are asked for: `at` are positions in the lists on the way, from 0',
      },
    },
  ),
  StudioPreviewRequest: record(PREVIEWED, PREVIEWED_WITH),
  StudioPreview: record(
    {
      statements: { type: 'array', items: ref('StudioPreviewStatement'), description: 'Each once, at most 5000' },
      triplesMaps: { type: 'array', items: ref('StudioPreviewMap') },
      records: { ...count, description: 'That were read, over all iterators' },
      cut: { ...texts, description: 'Inputs that have more records' },
      late: LATE,
      more: { type: 'boolean', description: 'There are more statements than are given' },
      rejected: { type: 'array', items: record({ triplesMap: text, fault: { type: 'object' } }), description: 'Records, the first 100' },
      warnings: texts,
      diagnostics: {
        type: 'array',
        items: ref('StudioDiagnostic'),
        description: 'Of the mapping; triples maps with errors, and those that refer to them, are left out',
      },
    },
    { fault: { type: 'object', description: 'Why the rest is missing' } },
  ),
  StudioPreviewStatement: record({
    text: { ...text, description: 'N-Quads, without the end of the line' },
    by: {
      type: 'array',
      description: 'The first three that make it. Empty: a join, or a gather map over several records',
      items: record(
        { map: { ...count, description: 'Index in `triplesMaps`' } },
        { input: text, record: { ...count, description: 'Position in the input, from 0' } },
      ),
    },
  }),
  StudioPreviewMap: record(
    { id: text, name: text, line: count, column: count, records: count, statements: count, rejected: count },
    {
      empty: { ...text, description: 'Why it made no statement' },
      without: {
        type: 'array',
        description: 'Records without any statement, the first 100. Absent: joins make statements too',
        items: record({ record: count }, { input: text }),
      },
    },
  ),
  StudioDiagnostic: record(
    { severity: { type: 'string', enum: ['error', 'warning'] }, code: text, line: count, column: count, message: text },
    { hint: text },
  ),
  StudioStatementRequest: record(
    { ...PREVIEWED, statement: { type: 'string', pattern: NOT_BLANK, maxLength: 100_000, description: 'A line of N-Quads' } },
    PREVIEWED_WITH,
  ),
  StudioStatement: record({
    rules: {
      type: 'array',
      description: 'The rules of the mapping that can make it, whether a record does or not',
      items: record({
        triplesMap: { ...text, description: 'IRI, or `_:label`' },
        name: text,
        document: { ...text, description: 'URL or path of the mapping' },
        line: { ...count, description: 'Of the object of the rule; of the triples map, where that gathers' },
        column: count,
        parts: {
          type: 'array',
          description: 'Terms of the rule beside those of the statement. Empty: it makes it as a part of what it gathers',
          items: record(
            {
              part: { type: 'string', enum: ['subject', 'predicate', 'object', 'graph'] },
              values: {
                type: 'array',
                description: 'Of references that the term of the statement determines',
                items: record({ name: text, value: text }),
              },
            },
            { term: text },
          ),
        },
      }),
    },
    rows: {
      type: 'array',
      description: 'The first 20',
      items: record({ record: ref('StudioRecord') }, { parent: ref('StudioRecord') }),
    },
    count,
    partial: { type: 'boolean', description: 'Others may make it, too' },
    late: LATE,
  }),
  StudioJoinsRequest: record(
    {
      ...PREVIEWED,
      child: { type: 'string', description: 'The triples map with the join: IRI, or `_:label`' },
      parent: { type: 'string', description: 'Its parent triples map' },
    },
    { ...PREVIEWED_WITH, predicate: { type: 'string', description: 'An IRI. Default: joins of any predicate' } },
  ),
  StudioJoins: record({ joins: { type: 'array', items: ref('StudioJoin') } }),
  StudioJoin: record({
    line: count,
    column: count,
    children: { ...count, description: 'Records of the child that were read' },
    cut: { type: 'boolean', description: 'There was no time to read as many of the child as were wanted' },
    asked: { ...count, description: 'Those that have a value for each key' },
    found: { ...count, description: 'Those that find a partner' },
    parents: { ...count, description: 'Records of the parent that were read' },
    complete: { type: 'boolean', description: 'The parent was read to its end' },
    without: { type: 'array', items: { type: 'array', items: texts }, description: 'Keys of the first children without a partner' },
    examples: { type: 'array', items: { type: 'array', items: texts }, description: 'Keys of the first parents' },
  }),
  StudioRecordsRequest: record({ ...PREVIEWED, triplesMap: { type: 'string', description: 'IRI, or `_:label`' } }, PREVIEWED_WITH),
  StudioRecords: record({
    rows: {
      type: 'array',
      description: 'The first 1000: records, or items of them where a view iterates',
      items: record(
        { record: ref('StudioRecord'), statements: { ...count, description: 'Of the record, without those of joins' } },
        { fault: { type: 'object', description: 'Why the record was rejected' } },
      ),
    },
    more: { type: 'boolean', description: 'There are more rows than are given' },
    late: LATE,
  }),
  StudioRecord: record({
    triplesMap: { ...text, description: 'IRI, or `_:label`' },
    line: count,
    column: count,
    places: {
      type: 'array',
      items: record({ items: { type: 'array', items: record({ name: text, index: count }) } }, { input: text, record: count }),
    },
    values: { type: 'array', items: record({ name: text, values: texts }), description: 'What the rule reads of the record' },
  }),
  StudioFunctions: record({ functions: { type: 'array', items: ref('StudioFunction') } }),
  StudioFunction: record({
    iri: text,
    aliases: { ...texts, description: 'Other IRIs of the same function' },
    name: { ...text, description: 'With a prefix, such as `grel:toUpperCase`' },
    family: { type: ['string', 'null'], description: 'The heading below which the function stands; null: a custom function' },
    description: text,
    deterministic: { type: 'boolean' },
    parameters: {
      type: 'array',
      items: record(
        { name: text, iri: text, type: text, required: { type: 'boolean' } },
        { default: { ...text, description: 'Used where the argument is left out or has no value' } },
      ),
    },
    returns: { type: 'array', items: record({ name: text, iri: text, type: text }), description: 'The first is the default' },
    examples: {
      type: 'array',
      items: record(
        { given: { type: 'array', items: EXAMPLE_VALUE, description: 'Arguments in the order of the parameters; null: no value' } },
        {
          gives: { ...EXAMPLE_VALUE, description: 'The result' },
          fails: { ...text, description: 'In place of a result: part of the message' },
          of: { ...text, description: 'The name of the return, where it is not the first' },
        },
      ),
    },
  }),
  Health: record(
    { status: { type: 'string', enum: ['up'] }, version: text },
    {
      checks: { type: 'object', additionalProperties: text },
      workers: { ...count, description: 'Processes that take runs from the queue' },
      reasons: { type: 'object', additionalProperties: text, description: 'Why a check says `down`' },
    },
  ),
} as const;
