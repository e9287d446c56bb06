/**
 * Every failure that a person or a program may see, in one table.
 *
 * A fault knows its code, its HTTP status, and whether a retry can help. Throw `Fault`; wrap foreign errors once, at the boundary where
 * their meaning is known, with `cause`.
 */

/** HTTP status, whether a retry can help, and the title of the problem+json answer. One row per fault. */
export const FAULTS = {
  'request/malformed': { status: 400, retriable: false, title: 'The request is not well-formed' },
  'request/invalid': { status: 400, retriable: false, title: 'The request has a wrong or missing field' },
  'request/unauthorized': { status: 401, retriable: false, title: 'The request carries no valid token' },
  'request/forbidden': { status: 403, retriable: false, title: 'That is not allowed' },
  'request/not-found': { status: 404, retriable: false, title: 'There is nothing at this path' },
  'request/method': { status: 405, retriable: false, title: 'This path does not answer that method' },
  'request/gone': { status: 410, retriable: false, title: 'What was at this path was removed' },
  'request/not-acceptable': { status: 406, retriable: false, title: 'The answer cannot be given in such a format' },
  'request/conflict': { status: 409, retriable: false, title: 'The request contradicts an earlier one' },
  'request/precondition-failed': { status: 412, retriable: false, title: 'The file has changed meanwhile' },
  'request/precondition-required': { status: 428, retriable: false, title: 'The request does not say which version it changes' },
  'request/too-large': { status: 413, retriable: false, title: 'The request body is too large' },
  'request/no-room': { status: 507, retriable: false, title: 'There is no room for the file' },
  'request/timeout': { status: 408, retriable: true, title: 'The request took too long to arrive' },
  'request/headers': { status: 431, retriable: false, title: 'The headers of the request are too large' },
  'request/media-type': { status: 415, retriable: false, title: 'The media type is not accepted here' },
  'request/too-many': { status: 429, retriable: true, title: 'Too many requests' },
  'service/unavailable': { status: 503, retriable: true, title: 'The service cannot answer just now' },
  'service/full': { status: 507, retriable: true, title: 'A disk of the service is full' },
  'config/unknown': { status: 400, retriable: false, title: 'There is no such option' },
  'config/invalid': { status: 400, retriable: false, title: 'The value does not fit the option' },
  'licence/invalid': { status: 400, retriable: false, title: 'The licence is not valid' },
  'mapping/syntax': { status: 400, retriable: false, title: 'The mapping cannot be parsed' },
  'mapping/invalid': { status: 400, retriable: false, title: 'The mapping says something that cannot be mapped' },
  'mapping/unreadable': { status: 400, retriable: false, title: 'The mapping cannot be read' },
  'functions/invalid': { status: 400, retriable: false, title: 'The custom functions cannot be used' },
  'mapping/reference': { status: 400, retriable: false, title: 'The mapping names something that the input does not have' },
  'source/missing': { status: 400, retriable: false, title: 'The input is not there' },
  'source/unreadable': { status: 400, retriable: true, title: 'The input cannot be read' },
  'source/refused': { status: 400, retriable: false, title: 'The input cannot be read, and trying again would not help' },
  'source/type': { status: 400, retriable: false, title: 'The input is of a type that is not accepted' },
  'source/malformed': { status: 400, retriable: false, title: 'The input is not well-formed' },
  'source/encoding': { status: 400, retriable: false, title: 'The input is not in the encoding that it declares' },
  'database/driver': { status: 400, retriable: false, title: 'The database is of a kind that has no driver here' },
  'database/credentials': { status: 400, retriable: false, title: 'The database refuses the login' },
  'database/missing': { status: 400, retriable: false, title: 'The server has no such database' },
  'database/unreachable': { status: 400, retriable: true, title: 'The database server cannot be reached' },
  'database/query': { status: 400, retriable: false, title: 'The database refuses the query' },
  'database/busy': { status: 400, retriable: true, title: 'The database has no place, or holds a lock' },
  'database/lost': { status: 400, retriable: true, title: 'The connection to the database broke' },
  'database/time-limit': { status: 400, retriable: false, title: 'The query takes longer than it may' },
  'target/unknown': { status: 400, retriable: false, title: 'The target is of a kind that is not known here' },
  'target/credentials': { status: 400, retriable: false, title: 'The target refuses the login' },
  'target/read-only': { status: 400, retriable: false, title: 'The target takes no statements' },
  'target/refused': { status: 400, retriable: false, title: 'The target refuses the statements' },
  'target/unreachable': { status: 400, retriable: true, title: 'The target cannot be reached' },
  'target/busy': { status: 400, retriable: true, title: 'The target has no time just now' },
  'engine/unreachable': { status: 400, retriable: true, title: 'The engine cannot be reached, or has lost the job' },
  'engine/credentials': { status: 400, retriable: false, title: 'The engine refuses the login' },
  'engine/refused': { status: 400, retriable: false, title: 'The engine cannot execute the job' },
  'store/time-limit': { status: 504, retriable: false, title: 'The request to the embedded store takes longer than it may' },
  'store/damaged': { status: 500, retriable: false, title: 'The embedded store cannot be opened' },
  'store/full': { status: 507, retriable: false, title: 'The embedded store has no more room' },
  'record/term': { status: 400, retriable: false, title: 'A record gives a value that makes no valid RDF term' },
  'record/promise': { status: 400, retriable: false, title: 'A record breaks a promise of the mapping' },
  'record/limit': { status: 400, retriable: false, title: 'More records were rejected than the run allows' },
  'limit/exceeded': { status: 400, retriable: false, title: 'The input is larger than a limit of the run allows' },
  'sink/failed': { status: 500, retriable: true, title: 'The output cannot be written' },
  'run/cancelled': { status: 409, retriable: false, title: 'The run was cancelled' },
  'run/lost': { status: 500, retriable: true, title: 'The worker that ran it went away' },
  'run/killed': { status: 500, retriable: false, title: 'The run ended its worker too often' },
  'internal/error': { status: 500, retriable: false, title: 'Quadmill failed in a way it should not' },
} as const satisfies Record<string, FaultRow>;

interface FaultRow {
  readonly status: number;
  readonly retriable: boolean;
  readonly title: string;
}

export type FaultCode = keyof typeof FAULTS;

/** Where the problem is: as much as is known of mapping statement, input, record and value. */
export interface FaultPlace {
  /** The statement of the mapping, `document:line:column`. */
  readonly mapping?: string;
  /** The input as the user named it, redacted. */
  readonly input?: string;
  /** 0-based position of the record within its iteration; a CSV header does not count. */
  readonly record?: number;
  /** 1-based page of a paged source, in which `record`, `line` and `byte` are. */
  readonly page?: number;
  /** In a slice: the byte offset of the record that `record` numbers 0. */
  readonly recordsFrom?: number;
  /** 1-based line of the input, if the reader knows it. */
  readonly line?: number;
  /** 1-based column of the line: characters, or bytes where the line is very long. */
  readonly column?: number;
  /** The cell of a spreadsheet, `Sheet1!C17`. */
  readonly cell?: string;
  /** 0-based byte offset in the input, if the reader knows it. */
  readonly byte?: number;
  readonly expression?: string;
  /** The offending value, shortened and redacted by `excerpt`. */
  readonly value?: string;
}

/** The options that set limits, for programs and metrics. */
export type Limit =
  | 'MAX_INPUT_BYTES'
  | 'MAX_INFLATION_RATIO'
  | 'MAX_RECORD_BYTES'
  | 'MAX_DEPTH'
  | 'MAX_RECORDS'
  | 'MAX_REJECTED'
  | 'MAX_REJECTED_STATEMENTS'
  | 'MAX_STATEMENTS'
  | 'MAX_RUN_SECONDS'
  | 'CUSTOM_FUNCTION_SECONDS'
  | 'CUSTOM_FUNCTION_MEMORY_MB'
  | 'MEMORY_BUDGET_MB'
  | 'THREAD_MEMORY_MB'
  | 'PROCESS_MEMORY_MB';

/** An error with a code of `FAULTS`. Its message addresses the person who can fix the problem. */
export class Fault extends Error {
  override readonly name = 'Fault';
  readonly code: FaultCode;
  readonly place: FaultPlace;
  readonly hint: string | undefined;
  /** The limit that was exceeded, if an option sets it. */
  readonly limit: Limit | undefined;

  constructor(code: FaultCode, message: string, options: { place?: FaultPlace; hint?: string; limit?: Limit; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.place = options.place ?? {};
    this.hint = options.hint;
    this.limit = options.limit;
  }

  get status(): number {
    return FAULTS[this.code].status;
  }

  get retriable(): boolean {
    return FAULTS[this.code].retriable;
  }

  get title(): string {
    return FAULTS[this.code].title;
  }

  /**
   * A copy of this fault with some fields replaced, and this one as its cause. `place` is merged field by field; an undefined field of
   * `place` is removed.
   */
  with(more: {
    code?: FaultCode;
    message?: string;
    place?: { [K in keyof FaultPlace]?: FaultPlace[K] | undefined };
    hint?: string;
  }): Fault {
    const place = Object.fromEntries(Object.entries({ ...this.place, ...more.place }).filter(([, value]) => value !== undefined));
    const { code = this.code, message = this.message, hint = this.hint } = more;
    const options = {
      place,
      cause: this,
      ...(hint === undefined ? {} : { hint }),
      ...(this.limit === undefined ? {} : { limit: this.limit }),
    };
    return new Fault(code, message, options);
  }

  /** Plain data that survives a thread, a queue or a JSON document; `Fault.from` is the inverse. */
  toJSON(): FaultData {
    const { code, message, place, hint, limit } = this;
    return { code, message, place, hint, ...(limit === undefined ? {} : { limit }) };
  }

  static from(data: FaultData): Fault {
    const { code, message, place, hint, limit } = data;
    return new Fault(code, message, { place, ...(hint === undefined ? {} : { hint }), ...(limit === undefined ? {} : { limit }) });
  }

  /** Returns `error` if it is a fault, otherwise an `internal/error` with `error` as its cause. */
  static of(error: unknown): Fault {
    if (error instanceof Fault) return error;
    return new Fault('internal/error', error instanceof Error ? error.message : String(error), { cause: error });
  }
}

export interface FaultData {
  readonly code: FaultCode;
  readonly message: string;
  readonly place: FaultPlace;
  readonly hint?: string | undefined;
  readonly limit?: Limit | undefined;
}

/** The complete text of a fault for a person: message, place, hint. */
export function describeFault(fault: Fault): string {
  const { mapping, input, page, cell, record, recordsFrom, line, column, byte, expression, value } = fault.place;
  const place = [
    input !== undefined && `input ${input}`,
    page !== undefined && `page ${page}`,
    cell !== undefined && `cell ${cell}`,
    line !== undefined && `line ${line}`,
    column !== undefined && `column ${column}`,
    record !== undefined && `record ${record}${recordsFrom === undefined ? '' : ` after byte ${recordsFrom}`}`,
    byte !== undefined && `byte ${byte}`,
    expression !== undefined && `expression ${expression}`,
    value !== undefined && `value ${value}`,
    mapping !== undefined && `mapping ${mapping}`,
  ].filter((part) => part !== false);
  return `${fault.message}${place.length > 0 ? ` (${place.join(', ')})` : ''}${fault.hint === undefined ? '' : `. ${fault.hint}`}`;
}

/** A value for a message: quoted, at most `length` characters, control characters shown as escapes. */
export function excerpt(value: string, length = 80): string {
  const cut = value.length > length ? `${value.slice(0, length)}… (${value.length} characters)` : value;
  return JSON.stringify(cut);
}
