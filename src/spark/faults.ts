/** Errors of gRPC and of Spark → faults. */
import { type ServiceError, status } from '@grpc/grpc-js';
import { excerpt, FAULTS, Fault, type FaultCode, type FaultPlace } from '../core/fault.ts';
import { redactText } from '../core/redact.ts';

/** What was sent to Spark, for messages. */
export interface Sent {
  /** `the query of s3a://lake/graph`. */
  readonly what: string;
  readonly place: FaultPlace;
}

/** Of an error message of Spark; what follows repeats the SQL. */
const MOST_CHARACTERS = 1_000;

/** `quadmill: record/term: …`, as expressions of a job end it. */
const OF_JOB = /quadmill: ([a-z]+\/[a-z]+): ([\s\S]*)/;

/**
 * @param server `host:port`
 * @param messages that of the error and of its causes, if Spark has given them
 */
export function sparkFault(error: ServiceError, server: string, { what, place }: Sent, messages: readonly string[] = []): Fault {
  const details = messages.length === 0 ? [error.details] : messages;
  const said = details.map(shortened).filter((text, at, all) => text !== '' && !all.slice(0, at).some((other) => other.includes(text)));
  const reason = said.join(': ');
  const ofJob = details.map((text) => OF_JOB.exec(text)).find((match) => match !== null && match[1] !== undefined && match[1] in FAULTS);
  if (ofJob) return new Fault(ofJob[1] as FaultCode, `Spark ends ${what}: ${shortened(ofJob[2] as string)}`, { place, cause: error });
  const fault = (code: FaultCode, message: string, hint?: string): Fault =>
    new Fault(code, message, { place, cause: error, ...(hint === undefined ? {} : { hint }) });
  if (error.code === status.UNAUTHENTICATED || error.code === status.PERMISSION_DENIED)
    return fault(
      'engine/credentials',
      `Spark at ${server} refuses the login: ${reason}`,
      'Its address may have it: sc://HOST:PORT/;token=…',
    );
  if (error.code === status.UNAVAILABLE || error.code === status.DEADLINE_EXCEEDED)
    return fault('engine/unreachable', `Spark at ${server} cannot be reached for ${what}: ${reason}`);
  if (/\[INVALID_HANDLE\b/.test(error.details))
    return fault('engine/unreachable', `Spark at ${server} has lost the session of ${what}: ${reason}`, 'Start the run again');
  return fault('engine/refused', `Spark cannot execute ${what}: ${reason}`);
}

/** One line without secrets, and without the SQL and the plan that the message repeats. */
function shortened(message: string): string {
  const line = redactText(message)
    .replace(/\n\s*== SQL[\s\S]*|;\s*line \d+ pos \d+;[\s\S]*/, '')
    .replace(/\s*SQLSTATE: \w+|\. Resolution note:\s*$/g, '')
    .replace(/\s+/g, ' ')
    .replace(/[ .]+$/, '');
  return line.length > MOST_CHARACTERS ? `${line.slice(0, MOST_CHARACTERS)}…` : line;
}

/** The beginning of a statement. */
export const statementExcerpt = (sql: string): string => `the statement ${excerpt(redactText(sql).replace(/\s+/g, ' '), 100)}`;
