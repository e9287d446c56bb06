/** Bodies of requests and answers. Made by `npm run docs` from the schemas of `/openapi.json`. */

export type ProcessRequest = {
  /** The URL of the input file, or an array of them */
  readonly inputFileURL: string | ReadonlyArray<string>;
  /** Logical source of the mapping; the n-th belongs to the n-th input file */
  readonly logicalSource?: string | ReadonlyArray<string> | null;
  /** Mapping file or directory; left out: every .ttl, .yml, .yaml and .yarrrml of MAPPINGS_DIR_URL */
  readonly mappingURL?: string | ReadonlyArray<string> | null;
  /** The dataset of which the run makes a version; left out: DATASET */
  readonly dataset?: string | null;
};

export type SuccessReport = {
  readonly successfulIterations: number;
  readonly failedIterations: number;
  readonly outputFileLocations: ReadonlyArray<string>;
  readonly mappingFiles: ReadonlyArray<string>;
  /** Milliseconds */
  readonly processingTime: number;
  readonly runId: string;
  readonly records: number;
  readonly quads: number;
  readonly rejectedRecords: number;
  readonly warnings: ReadonlyArray<string>;
  /** Not of the SQL transformer */
  readonly input?: ReadonlyArray<string>;
  /** URL of the provenance; with RECORD_PROVO */
  readonly provenance?: string;
  /** Files of logical targets; where the mapping has some */
  readonly targetFileLocations?: ReadonlyArray<string>;
  /** The dataset of which the run made a version, or found that nothing has changed */
  readonly dataset?: string;
  /** The newest version of the dataset */
  readonly version?: number;
  /** The version before the run; equal to `version` where nothing has changed */
  readonly previousVersion?: number;
  /** Statements of the new version that the version before did not have: those of outputFileLocations */
  readonly added?: number;
  /** Statements of the version before that the new version does not have */
  readonly removed?: number;
  /** With a dataset: the file of removed statements, if there are any */
  readonly removedFileLocations?: ReadonlyArray<string>;
  /** Nodes, then edges; with PROPERTY_GRAPH_MODE */
  readonly propertyGraphFileLocations?: ReadonlyArray<string>;
  /** Joins in which some row found no partner; where there are any */
  readonly joins?: ReadonlyArray<{
    /** Where the mapping has the join: document:line:column */
    readonly origin: string;
    /** The triples map or view whose rows look for partners */
    readonly child: string;
    readonly parent: string;
    readonly conditions: string;
    /** Of the child, also those without a key */
    readonly rows: number;
    /** Rows whose key no row of the parent has */
    readonly withoutPartner: number;
    /** Up to three of these keys */
    readonly childKeys: ReadonlyArray<string>;
    /** Up to three keys of the parent */
    readonly parentKeys: ReadonlyArray<string>;
  }>;
};

export type WriteRequest = {
  /** The URL of a file of N-Quads, or of a directory of parts with _SUCCESS, or an array of them */
  readonly inputFileURL?: string | ReadonlyArray<string>;
  /** In place of files: the dataset of which the versions that the target lacks are written */
  readonly dataset?: string | null;
  /** With a dataset: makes the graphs of the target equal to its newest version, whatever others have changed there */
  readonly resync?: boolean | null;
  /** Whether statements are added, or replace those of the target within UPDATE_SCOPE; left out: WRITE_MODE */
  readonly mode?: "insert" | "update";
  /** For an update of whole graphs: the IRIs of graphs for which the files stand, also if they have no statement of them; `default` is the default graph. Left out: UPDATE_GRAPHS */
  readonly graphs?: string | ReadonlyArray<string> | null;
};

export type WriterReport = {
  readonly input: ReadonlyArray<string>;
  /** The store, without passwords */
  readonly target: string;
  readonly mode: "insert" | "update";
  readonly quadsWritten: number;
  readonly batches: number;
  /** Milliseconds */
  readonly processingTime: number;
  readonly runId: string;
  /** Statements of the input */
  readonly records: number;
  readonly quads: number;
  readonly rejectedRecords: number;
  /** The first rejected statements */
  readonly rejectedStatements: ReadonlyArray<{
    readonly input: string;
    readonly line: number;
    readonly statement: string;
    readonly fault: Fault;
  }>;
  readonly warnings: ReadonlyArray<string>;
  /** The dataset that was written; absent: files were */
  readonly dataset?: string;
  /** The version of the dataset that the target has */
  readonly version?: number;
  /** That which it had; 0: none */
  readonly previousVersion?: number;
  /** URL of the file of all rejected statements */
  readonly rejections?: string;
};

export type ConnectionCheck = {
  readonly success: true;
  readonly target: string;
  readonly type: "embedded" | "sparql" | "fuseki" | "graphdb" | "rdf4j" | "stardog" | "blazegraph" | "neptune" | "virtuoso" | "neo4j";
  readonly product: string;
  readonly milliseconds: number;
};

export type FailureMessage = {
  readonly name: string;
  /** Local date-time, ISO 8601 with milliseconds, no zone */
  readonly time: string;
  readonly type: string;
  readonly error: string;
  readonly version: string;
  readonly code: "request/malformed" | "request/invalid" | "request/unauthorized" | "request/forbidden" | "request/not-found" | "request/method" | "request/gone" | "request/not-acceptable" | "request/conflict" | "request/precondition-failed" | "request/precondition-required" | "request/too-large" | "request/no-room" | "request/timeout" | "request/headers" | "request/media-type" | "request/too-many" | "service/unavailable" | "service/full" | "config/unknown" | "config/invalid" | "licence/invalid" | "mapping/syntax" | "mapping/invalid" | "mapping/unreadable" | "functions/invalid" | "mapping/reference" | "source/missing" | "source/unreadable" | "source/refused" | "source/type" | "source/malformed" | "source/encoding" | "database/driver" | "database/credentials" | "database/missing" | "database/unreachable" | "database/query" | "database/busy" | "database/lost" | "database/time-limit" | "target/unknown" | "target/credentials" | "target/read-only" | "target/refused" | "target/unreachable" | "target/busy" | "engine/unreachable" | "engine/credentials" | "engine/refused" | "store/time-limit" | "store/damaged" | "store/full" | "record/term" | "record/promise" | "record/limit" | "limit/exceeded" | "sink/failed" | "run/cancelled" | "run/lost" | "run/killed" | "internal/error";
  readonly detail: Fault;
  /** URL of the failed input file; not of the SQL transformer */
  readonly entity?: string;
  /** Not of the graph writer */
  readonly provenance?: string;
  /** Of the run that failed; absent where none was made */
  readonly runId?: string;
};

export type Fault = {
  readonly code: "request/malformed" | "request/invalid" | "request/unauthorized" | "request/forbidden" | "request/not-found" | "request/method" | "request/gone" | "request/not-acceptable" | "request/conflict" | "request/precondition-failed" | "request/precondition-required" | "request/too-large" | "request/no-room" | "request/timeout" | "request/headers" | "request/media-type" | "request/too-many" | "service/unavailable" | "service/full" | "config/unknown" | "config/invalid" | "licence/invalid" | "mapping/syntax" | "mapping/invalid" | "mapping/unreadable" | "functions/invalid" | "mapping/reference" | "source/missing" | "source/unreadable" | "source/refused" | "source/type" | "source/malformed" | "source/encoding" | "database/driver" | "database/credentials" | "database/missing" | "database/unreachable" | "database/query" | "database/busy" | "database/lost" | "database/time-limit" | "target/unknown" | "target/credentials" | "target/read-only" | "target/refused" | "target/unreachable" | "target/busy" | "engine/unreachable" | "engine/credentials" | "engine/refused" | "store/time-limit" | "store/damaged" | "store/full" | "record/term" | "record/promise" | "record/limit" | "limit/exceeded" | "sink/failed" | "run/cancelled" | "run/lost" | "run/killed" | "internal/error";
  readonly message: string;
  readonly place: Place;
  readonly hint?: string;
};

export type Place = {
  readonly mapping?: string;
  readonly input?: string;
  readonly record?: number;
  readonly line?: number;
  readonly column?: number;
  readonly byte?: number;
  readonly expression?: string;
  readonly value?: string;
};

export type Problem = {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly instance: string;
  readonly code: "request/malformed" | "request/invalid" | "request/unauthorized" | "request/forbidden" | "request/not-found" | "request/method" | "request/gone" | "request/not-acceptable" | "request/conflict" | "request/precondition-failed" | "request/precondition-required" | "request/too-large" | "request/no-room" | "request/timeout" | "request/headers" | "request/media-type" | "request/too-many" | "service/unavailable" | "service/full" | "config/unknown" | "config/invalid" | "licence/invalid" | "mapping/syntax" | "mapping/invalid" | "mapping/unreadable" | "functions/invalid" | "mapping/reference" | "source/missing" | "source/unreadable" | "source/refused" | "source/type" | "source/malformed" | "source/encoding" | "database/driver" | "database/credentials" | "database/missing" | "database/unreachable" | "database/query" | "database/busy" | "database/lost" | "database/time-limit" | "target/unknown" | "target/credentials" | "target/read-only" | "target/refused" | "target/unreachable" | "target/busy" | "engine/unreachable" | "engine/credentials" | "engine/refused" | "store/time-limit" | "store/damaged" | "store/full" | "record/term" | "record/promise" | "record/limit" | "limit/exceeded" | "sink/failed" | "run/cancelled" | "run/lost" | "run/killed" | "internal/error";
  readonly requestId: string;
  readonly place?: Place;
  readonly hint?: string;
  readonly diagnostics?: ReadonlyArray<Diagnostic>;
  readonly names?: ReadonlyArray<string>;
};

export type Diagnostic = {
  readonly severity: "error" | "warning";
  readonly code: string;
  readonly line: number;
  readonly column: number;
  readonly message: string;
  readonly hint?: string;
};

export type RunView = {
  readonly id: string;
  readonly service: string;
  readonly state: "queued" | "running" | "retrying" | "completed" | "failed" | "cancelled";
  readonly attempts: number;
  readonly submittedAt: string;
  readonly input: ReadonlyArray<string>;
  /** The dataset of which the run makes a version */
  readonly dataset?: string;
  readonly startedAt?: string;
  readonly endedAt?: string;
  readonly progress?: {
    readonly records: number;
    readonly quads: number;
    readonly bytesRead: number;
    readonly waiting?: string;
  };
  /** Why the run cannot start */
  readonly reason?: string;
  /** Beside `reason`: processes that take runs from the queue */
  readonly workers?: number;
  readonly outcome?: {
    readonly state: "completed";
    readonly report: SuccessReport | WriterReport;
  } | {
    readonly state: "failed" | "cancelled";
    readonly failure: FailureMessage;
  };
};

export type ConfigChange = {
  /** The name or path of the option */
  readonly configEntry: string;
  /** The new value of the option */
  readonly configValue: string | number | boolean | ReadonlyArray<string>;
};

export type ConfigEntry = {
  readonly configEntry: string;
  readonly configValue: string | number | boolean | null;
};

export type Licence = {
  /** The identifier of the licence, and what it is */
  readonly license: string;
  readonly licenseInformation: {
    /** NAME - COMPANY - E-MAIL */
    readonly registeredTo: string;
    /** The last day, and the number of days remaining */
    readonly expires: string;
    readonly productName: string;
  };
  readonly validationStatus: "LICENSE_VALID" | "LICENSE_EXPIRED" | "LICENSE_NOT_YET_VALID" | "LICENSE_INVALID";
  /** Why it is not valid */
  readonly problem?: string;
};

export type ConfigHistory = {
  readonly changes: ReadonlyArray<{
    readonly time: string;
    /** The name of the token */
    readonly by: string;
    readonly option: string;
    readonly value: string;
  }>;
};

export type ConfigBackup = {
  readonly location: string;
};

export type CronSchedule = {
  readonly cron: string | null;
  readonly timezone?: string;
  /** The next three times, fewer where the years of the expression end */
  readonly next?: ReadonlyArray<string>;
};

export type DatasetView = {
  readonly name: string;
  /** UUID; IRIs of the dataset are made of it */
  readonly id: string;
  /** 0: there is no version */
  readonly currentVersion: number;
  /** The oldest version that was not removed */
  readonly oldestVersion: number;
  /** When the newest version was made */
  readonly endedAt: string | null;
  /** Statements that the version before does not have */
  readonly added: number;
  /** Statements that the version before has */
  readonly removed: number;
  /** Of the graph of the version */
  readonly statements: number;
};

export type DatasetDetails = {
  readonly name: string;
  /** UUID; IRIs of the dataset are made of it */
  readonly id: string;
  /** 0: there is no version */
  readonly currentVersion: number;
  /** The oldest version that was not removed */
  readonly oldestVersion: number;
  /** When the newest version was made */
  readonly endedAt: string | null;
  /** Statements that the version before does not have */
  readonly added: number;
  /** Statements that the version before has */
  readonly removed: number;
  /** Of the graph of the version */
  readonly statements: number;
  /** The newest first */
  readonly versions: ReadonlyArray<{
    readonly version: number;
    /** The version before; 0: the empty graph */
    readonly previous: number;
    readonly runId: string;
    readonly startedAt: string;
    readonly endedAt: string;
    readonly records: number;
    readonly rejected: number;
    /** Statements that the version before does not have */
    readonly added: number;
    /** Statements that the version before has */
    readonly removed: number;
    /** Of the graph of the version */
    readonly statements: number;
  }>;
  /** The follower that makes the versions of the changes of tables; absent: runs make them */
  readonly followed?: {
    readonly service: "semi-structured-transformer" | "sql-transformer" | "graph-writer";
    /** `waiting`: for the target, which lacks versions; `failed`: `reason` says why, and it restarts */
    readonly phase: "starting" | "following" | "waiting" | "failed" | "off";
    /** Whether a worker follows now */
    readonly isActive: boolean;
    /** When the worker gave its last sign of life */
    readonly seenAt: string;
    /** Where the changes come from */
    readonly feed?: string;
    /** How far the feed was read */
    readonly position?: Readonly<Record<string, string>>;
    /** The newest version */
    readonly version?: number;
    /** Versions that the target lacks */
    readonly behind?: number;
    readonly lag?: {
      /** For how long the newest version has not been that of the end of the feed, at most */
      readonly seconds: number;
      /** Messages of topics that no version has */
      readonly messages?: number;
      /** Bytes of the log of the database that no version has */
      readonly bytes?: number;
      /** Bytes of its log that the database keeps for the follower */
      readonly keptBytes?: number;
    };
    /** Why it failed */
    readonly reason?: string;
  };
};

export type DatasetManifest = {
  readonly version: number;
  /** The version before; 0: the empty graph */
  readonly previous: number;
  readonly runId: string;
  readonly startedAt: string;
  readonly endedAt: string;
  readonly records: number;
  readonly rejected: number;
  /** Statements that the version before does not have */
  readonly added: number;
  /** Statements that the version before has */
  readonly removed: number;
  /** Of the graph of the version */
  readonly statements: number;
  readonly mappings: ReadonlyArray<{
    readonly url: string;
    readonly sha256: string;
  }>;
  readonly inputs: ReadonlyArray<{
    readonly url: string;
    readonly bytes?: number;
    readonly state?: string;
  }>;
  /** Of mapping, plan and functions */
  readonly digest: string;
  /** What the run was asked for */
  readonly run: Readonly<Record<string, unknown>>;
  readonly files: ReadonlyArray<{
    readonly name: string;
    readonly kind: "added" | "removed" | "kept" | "base";
    readonly bytes: number;
    readonly sha256: string;
    /** Path of the logical target */
    readonly target?: string;
  }>;
  /** Logical targets by path */
  readonly targets?: Readonly<Record<string, {
    /** Statements that the version before does not have */
    readonly added: number;
    /** Statements that the version before has */
    readonly removed: number;
    /** Of the graph of the version */
    readonly statements: number;
  }>>;
};

export type DatasetChanges = {
  /** N-Quads, without the ends of the lines */
  readonly statements: ReadonlyArray<string>;
  /** The `offset` of the next page; null: there are no more */
  readonly next: number | null;
};

export type DatasetStatementRequest = {
  /** A line of N-Quads, blank nodes with the labels of the dataset */
  readonly statement: string;
  /** The version whose mapping and inputs are meant. Default: the newest one */
  readonly version?: number;
};

export type DatasetPosition = {
  /** The store that the graph writer writes to, without passwords */
  readonly target: string;
  readonly type: "embedded" | "sparql" | "fuseki" | "graphdb" | "rdf4j" | "stardog" | "blazegraph" | "neptune" | "virtuoso" | "neo4j";
  /** The version that the target has; 0: none */
  readonly version: number;
  /** false: its graph is being written, and only a part of it may be there */
  readonly complete: boolean;
  /** The newest version of the dataset */
  readonly currentVersion: number;
};

export type StudioUser = {
  /** The name of the token, or `anonymous` */
  readonly actor: string;
  readonly role: "viewer" | "operator" | "admin";
  readonly limits: {
    readonly maxBodyBytes: number;
    readonly maxUploadBytes: number;
  };
  readonly services: ReadonlyArray<"semi-structured-transformer" | "sql-transformer" | "graph-writer">;
  readonly target: {
    readonly type: "embedded" | "sparql" | "fuseki" | "graphdb" | "rdf4j" | "stardog" | "blazegraph" | "neptune" | "virtuoso" | "neo4j";
    /** The store that the graph writer writes to, without passwords */
    readonly location: string;
  };
  readonly writeModes: ReadonlyArray<"insert" | "update">;
  /** That of runs which name none */
  readonly writeMode: "insert" | "update";
};

export type StudioMappings = {
  readonly mappings: ReadonlyArray<StudioMappingEntry>;
};

export type StudioMappingEntry = {
  readonly name: string;
  readonly language: "turtle" | "yarrrml";
  /** The entity tag; null: there is a draft only */
  readonly etag: string | null;
  /** Who saved it; null: it was not saved through the service */
  readonly by: string | null;
  /** When it was saved; null: not known */
  readonly at: string | null;
  /** There is a draft */
  readonly draft: boolean;
};

export type StudioMapping = {
  readonly text: string;
  readonly language: "turtle" | "yarrrml";
  /** Path or URL by which a run names the file as its `mappingURL` */
  readonly location: string;
  /** The side file; null: there is none */
  readonly side: Readonly<Record<string, unknown>> | null;
  readonly etag: string;
  /** Who saved it; null: it was not saved through the service */
  readonly by: string | null;
  /** When it was saved; null: not known */
  readonly at: string | null;
};

export type StudioMappingUpdate = {
  readonly text: string;
  /** The side file; left out: it stays, `{}`: there is none */
  readonly side?: Readonly<Record<string, unknown>>;
};

export type StudioSaved = {
  /** The entity tag of what was saved */
  readonly etag: string;
};

export type StudioUpload = {
  /** The location by which mappings and runs name the file */
  readonly url: string;
  readonly bytes: number;
  readonly sha256: string;
  /** What the file is read as, by its extension */
  readonly format: string;
};

export type StudioSampleRequest = {
  /** URL or path; of a workbook also with a sheet: `people.xlsx#Staff`. By `of` a table, as a mapping writes it, or a query */
  readonly location: string;
  /** A table or query is of the database of the SQL transformer. Default: file */
  readonly of?: "file" | "table" | "query";
  /** Default: by the name, else by the media type of the answer */
  readonly format?: "csv" | "tsv" | "json" | "jsonl" | "xlsx" | "xlsb" | "xls" | "ods" | "parquet" | "xml";
  /** Of CSV. Default: what the first rows show */
  readonly delimiter?: string;
  /** Of CSV; empty: none. Default: `"`; for cells between tabs none, unless the whole header stands in quotes */
  readonly quote?: string;
  /** Of text. Default: by a byte order mark, the server or the document, else UTF-8 */
  readonly encoding?: string;
  /** The transformer whose mapping directory a relative path is of. Default: it is of the working directory */
  readonly mappings?: "semi-structured-transformer" | "sql-transformer";
  /** Whether more of the input is read */
  readonly deeper?: boolean;
  /** Whether values of single items of lists are wanted */
  readonly items?: boolean;
  /** Texts that mean no value. Default: empty cells of CSV and workbooks alone */
  readonly nulls?: ReadonlyArray<string>;
  /** Whether an empty cell without quotes is no value, as in legacy RML and YARRRML */
  readonly legacy?: boolean;
};

export type StudioTables = {
  /** Without login and parameters */
  readonly database: string;
  readonly tables: ReadonlyArray<StudioTable>;
  /** There are more tables than are given */
  readonly cut: boolean;
};

export type StudioTable = {
  /** As a mapping writes it */
  readonly name: string;
  readonly kind: "table" | "view";
  readonly columns: ReadonlyArray<{
    readonly name: string;
    readonly nullable: boolean;
  }>;
  readonly foreignKeys: ReadonlyArray<{
    readonly columns: ReadonlyArray<string>;
    /** As a mapping writes it */
    readonly parent: string;
    readonly parentColumns: ReadonlyArray<string>;
  }>;
  readonly primaryKey?: ReadonlyArray<string>;
  /** The server's estimate */
  readonly rows?: number;
};

export type StudioSample = {
  /** What the input was read as */
  readonly format: string;
  /** Of XML: by prefix */
  readonly namespaces: Readonly<Record<string, string>>;
  /** Each before those within it */
  readonly fields: ReadonlyArray<StudioField>;
  /** Rows, or items of the outermost list, that were read */
  readonly records: number;
  /** Unpacked */
  readonly bytesRead: number;
  /** Whether that is the whole input */
  readonly complete: boolean;
  readonly warnings: ReadonlyArray<string>;
  /** Of CSV, where it is not that of the format */
  readonly delimiter?: string;
  /** Of CSV, where it is not that of the delimiter; empty: none */
  readonly quote?: string;
  /** Of a workbook: the names of its sheets */
  readonly sheets?: ReadonlyArray<string>;
  /** What is wrong behind what was read: a run ends there */
  readonly fault?: Fault;
  /** Size of the input; absent: not known, such as of a compressed file */
  readonly ofBytes?: number;
};

export type StudioItemsRequest = {
  /** URL or path */
  readonly location: string;
  readonly format: "json" | "jsonl" | "xml";
  /** JSONPath or XPath of the items of one list */
  readonly iterator: string;
  /** From an item on */
  readonly references: ReadonlyArray<string>;
  /** The transformer whose mapping directory a relative path is of. Default: it is of the working directory */
  readonly mappings?: "semi-structured-transformer" | "sql-transformer";
  /** Of XML: by prefix */
  readonly namespaces?: Readonly<Record<string, string>>;
  /** Position of the first item that is wanted, from 0. Default: 0 */
  readonly from?: number;
  /** Only items with this in one of their values, in any case */
  readonly find?: string;
  /** Texts that mean no value */
  readonly nulls?: ReadonlyArray<string>;
};

export type StudioItems = {
  /** At most 20 */
  readonly items: ReadonlyArray<{
    /** From 0 */
    readonly position: number;
    /** The beginning of the first value of each reference */
    readonly values: ReadonlyArray<string | null>;
  }>;
  /** Position behind the last item that was looked at */
  readonly next: number;
  /** Whether the list has no more items */
  readonly complete: boolean;
  /** There was no time to look further */
  readonly cut: boolean;
};

export type StudioOntologyRequest = {
  /** URL or path */
  readonly location: string;
  /** Default: what the document shows, else its name or the media type of the answer */
  readonly format?: "turtle" | "ntriples" | "nquads" | "trig" | "rdfxml" | "jsonld";
  /** The transformer whose mapping directory a relative path is of. Default: it is of the working directory */
  readonly mappings?: "semi-structured-transformer" | "sql-transformer";
};

export type StudioOntology = {
  /** What the document was read as */
  readonly format: string;
  /** Classes and properties in the order of the document, at most 20,000 */
  readonly terms: ReadonlyArray<StudioTerm>;
  /** That the document declares for them: prefix → namespace */
  readonly prefixes: Readonly<Record<string, string>>;
  /** That were read */
  readonly statements: number;
  /** Unpacked */
  readonly bytesRead: number;
  /** What was left out. Empty: nothing */
  readonly cut: ReadonlyArray<string>;
};

export type StudioTerm = {
  readonly iri: string;
  readonly kind: "class" | "property" | "object-property" | "datatype-property" | "annotation-property";
  /** In all languages */
  readonly labels: ReadonlyArray<StudioTermText>;
  /** Of a property: IRIs of classes */
  readonly domain: ReadonlyArray<string>;
  /** Of a property: IRIs of classes and datatypes */
  readonly range: ReadonlyArray<string>;
  /** Of a class: IRIs of classes */
  readonly subClassOf: ReadonlyArray<string>;
  readonly comment?: StudioTermText;
};

export type StudioTermText = {
  /** At most 300 characters */
  readonly text: string;
  readonly language?: string;
};

export type StudioField = {
  /** From the root of the document; of rows, JSON Lines and Parquet from the record */
  readonly path: ReadonlyArray<{
    readonly name: string;
  } | {
    /** Of XML */
    readonly attribute: string;
  } | {
    /** The items of a list */
    readonly each: true;
  } | {
    /** Of an element with attributes */
    readonly text: true;
  }>;
  readonly holds: "value" | "list" | "object";
  readonly values?: StudioFieldValues;
  /** Of all lists that were read */
  readonly items?: number;
  /** Items of the longest list */
  readonly longest?: number;
  /** The object has so many keys of one shape that its members count as items of a list */
  readonly keysAreData?: boolean;
  /** The lists and objects that stand in the first 20 items of each list, at most 400, where values of single items are asked for */
  readonly single?: ReadonlyArray<{
    readonly at: ReadonlyArray<number>;
    /** Of a list */
    readonly items?: number;
  }>;
};

export type StudioFieldValues = {
  /** The narrowest kind that all values have */
  readonly kind: "integer" | "decimal" | "double" | "boolean" | "date" | "dateTime" | "text";
  /** Number of values by kind */
  readonly kinds: Readonly<Record<string, number>>;
  /** Objects of the level; for the items of a list: items */
  readonly objects: number;
  readonly values: number;
  /** Objects without the field */
  readonly absent: number;
  readonly nulls: number;
  /** Different values, at most 1000 */
  readonly distinct: number;
  /** There may be more different values */
  readonly isDistinctCut: boolean;
  /** The first different values, the beginning of each */
  readonly examples: ReadonlyArray<string>;
  /** Values of the first 20 items of each list, at most 400, where they are asked for: `at` are positions in the lists on the way, from 0 */
  readonly items?: ReadonlyArray<{
    readonly at: ReadonlyArray<number>;
    readonly value: string;
  }>;
};

export type StudioPreviewRequest = {
  /** Its extension gives the language */
  readonly name: string;
  readonly text: string;
  /** Default: the first transformer */
  readonly service?: "semi-structured-transformer" | "sql-transformer";
  /** Sources that are not named here are read from where the mapping says */
  readonly inputs?: ReadonlyArray<{
    /** Of the source in the mapping */
    readonly name: string;
    /** What is read for it */
    readonly url: string;
  }>;
  /** Of each iterator. Default: 100 */
  readonly records?: number;
};

export type StudioPreview = {
  /** Each once, at most 5000 */
  readonly statements: ReadonlyArray<StudioPreviewStatement>;
  readonly triplesMaps: ReadonlyArray<StudioPreviewMap>;
  /** That were read, over all iterators */
  readonly records: number;
  /** Inputs that have more records */
  readonly cut: ReadonlyArray<string>;
  /** Inputs that were read only as far as there was time */
  readonly late: ReadonlyArray<string>;
  /** There are more statements than are given */
  readonly more: boolean;
  /** Records, the first 100 */
  readonly rejected: ReadonlyArray<{
    readonly triplesMap: string;
    readonly fault: Readonly<Record<string, unknown>>;
  }>;
  readonly warnings: ReadonlyArray<string>;
  /** Of the mapping; triples maps with errors, and those that refer to them, are left out */
  readonly diagnostics: ReadonlyArray<StudioDiagnostic>;
  /** Why the rest is missing */
  readonly fault?: Readonly<Record<string, unknown>>;
};

export type StudioPreviewStatement = {
  /** N-Quads, without the end of the line */
  readonly text: string;
  /** The first three that make it. Empty: a join, or a gather map over several records */
  readonly by: ReadonlyArray<{
    /** Index in `triplesMaps` */
    readonly map: number;
    readonly input?: string;
    /** Position in the input, from 0 */
    readonly record?: number;
  }>;
};

export type StudioPreviewMap = {
  readonly id: string;
  readonly name: string;
  readonly line: number;
  readonly column: number;
  readonly records: number;
  readonly statements: number;
  readonly rejected: number;
  /** Why it made no statement */
  readonly empty?: string;
  /** Records without any statement, the first 100. Absent: joins make statements too */
  readonly without?: ReadonlyArray<{
    readonly record: number;
    readonly input?: string;
  }>;
};

export type StudioDiagnostic = {
  readonly severity: "error" | "warning";
  readonly code: string;
  readonly line: number;
  readonly column: number;
  readonly message: string;
  readonly hint?: string;
};

export type StudioStatementRequest = {
  /** Its extension gives the language */
  readonly name: string;
  readonly text: string;
  /** A line of N-Quads */
  readonly statement: string;
  /** Default: the first transformer */
  readonly service?: "semi-structured-transformer" | "sql-transformer";
  /** Sources that are not named here are read from where the mapping says */
  readonly inputs?: ReadonlyArray<{
    /** Of the source in the mapping */
    readonly name: string;
    /** What is read for it */
    readonly url: string;
  }>;
  /** Of each iterator. Default: 100 */
  readonly records?: number;
};

export type StudioStatement = {
  /** The rules of the mapping that can make it, whether a record does or not */
  readonly rules: ReadonlyArray<{
    /** IRI, or `_:label` */
    readonly triplesMap: string;
    readonly name: string;
    /** URL or path of the mapping */
    readonly document: string;
    /** Of the object of the rule; of the triples map, where that gathers */
    readonly line: number;
    readonly column: number;
    /** Terms of the rule beside those of the statement. Empty: it makes it as a part of what it gathers */
    readonly parts: ReadonlyArray<{
      readonly part: "subject" | "predicate" | "object" | "graph";
      /** Of references that the term of the statement determines */
      readonly values: ReadonlyArray<{
        readonly name: string;
        readonly value: string;
      }>;
      readonly term?: string;
    }>;
  }>;
  /** The first 20 */
  readonly rows: ReadonlyArray<{
    readonly record: StudioRecord;
    readonly parent?: StudioRecord;
  }>;
  readonly count: number;
  /** Others may make it, too */
  readonly partial: boolean;
  /** Inputs that were read only as far as there was time */
  readonly late: ReadonlyArray<string>;
};

export type StudioJoinsRequest = {
  /** Its extension gives the language */
  readonly name: string;
  readonly text: string;
  /** The triples map with the join: IRI, or `_:label` */
  readonly child: string;
  /** Its parent triples map */
  readonly parent: string;
  /** Default: the first transformer */
  readonly service?: "semi-structured-transformer" | "sql-transformer";
  /** Sources that are not named here are read from where the mapping says */
  readonly inputs?: ReadonlyArray<{
    /** Of the source in the mapping */
    readonly name: string;
    /** What is read for it */
    readonly url: string;
  }>;
  /** Of each iterator. Default: 100 */
  readonly records?: number;
  /** An IRI. Default: joins of any predicate */
  readonly predicate?: string;
};

export type StudioJoins = {
  readonly joins: ReadonlyArray<StudioJoin>;
};

export type StudioJoin = {
  readonly line: number;
  readonly column: number;
  /** Records of the child that were read */
  readonly children: number;
  /** There was no time to read as many of the child as were wanted */
  readonly cut: boolean;
  /** Those that have a value for each key */
  readonly asked: number;
  /** Those that find a partner */
  readonly found: number;
  /** Records of the parent that were read */
  readonly parents: number;
  /** The parent was read to its end */
  readonly complete: boolean;
  /** Keys of the first children without a partner */
  readonly without: ReadonlyArray<ReadonlyArray<ReadonlyArray<string>>>;
  /** Keys of the first parents */
  readonly examples: ReadonlyArray<ReadonlyArray<ReadonlyArray<string>>>;
};

export type StudioRecordsRequest = {
  /** Its extension gives the language */
  readonly name: string;
  readonly text: string;
  /** IRI, or `_:label` */
  readonly triplesMap: string;
  /** Default: the first transformer */
  readonly service?: "semi-structured-transformer" | "sql-transformer";
  /** Sources that are not named here are read from where the mapping says */
  readonly inputs?: ReadonlyArray<{
    /** Of the source in the mapping */
    readonly name: string;
    /** What is read for it */
    readonly url: string;
  }>;
  /** Of each iterator. Default: 100 */
  readonly records?: number;
};

export type StudioRecords = {
  /** The first 1000: records, or items of them where a view iterates */
  readonly rows: ReadonlyArray<{
    readonly record: StudioRecord;
    /** Of the record, without those of joins */
    readonly statements: number;
    /** Why the record was rejected */
    readonly fault?: Readonly<Record<string, unknown>>;
  }>;
  /** There are more rows than are given */
  readonly more: boolean;
  /** Inputs that were read only as far as there was time */
  readonly late: ReadonlyArray<string>;
};

export type StudioRecord = {
  /** IRI, or `_:label` */
  readonly triplesMap: string;
  readonly line: number;
  readonly column: number;
  readonly places: ReadonlyArray<{
    readonly items: ReadonlyArray<{
      readonly name: string;
      readonly index: number;
    }>;
    readonly input?: string;
    readonly record?: number;
  }>;
  /** What the rule reads of the record */
  readonly values: ReadonlyArray<{
    readonly name: string;
    readonly values: ReadonlyArray<string>;
  }>;
};

export type StudioFunctions = {
  readonly functions: ReadonlyArray<StudioFunction>;
};

export type StudioFunction = {
  readonly iri: string;
  /** Other IRIs of the same function */
  readonly aliases: ReadonlyArray<string>;
  /** With a prefix, such as `grel:toUpperCase` */
  readonly name: string;
  /** The heading below which the function stands; null: a custom function */
  readonly family: string | null;
  readonly description: string;
  readonly deterministic: boolean;
  readonly parameters: ReadonlyArray<{
    readonly name: string;
    readonly iri: string;
    readonly type: string;
    readonly required: boolean;
    /** Used where the argument is left out or has no value */
    readonly default?: string;
  }>;
  /** The first is the default */
  readonly returns: ReadonlyArray<{
    readonly name: string;
    readonly iri: string;
    readonly type: string;
  }>;
  readonly examples: ReadonlyArray<{
    /** Arguments in the order of the parameters; null: no value */
    readonly given: ReadonlyArray<string | number | boolean | null | ReadonlyArray<string | number>>;
    /** The result */
    readonly gives?: string | number | boolean | null | ReadonlyArray<string | number>;
    /** In place of a result: part of the message */
    readonly fails?: string;
    /** The name of the return, where it is not the first */
    readonly of?: string;
  }>;
};

export type Health = {
  readonly status: "up";
  readonly version: string;
  readonly checks?: Readonly<Record<string, string>>;
  /** Processes that take runs from the queue */
  readonly workers?: number;
  /** Why a check says `down` */
  readonly reasons?: Readonly<Record<string, string>>;
};
