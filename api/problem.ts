/** Problem answers (RFC 9457): the common form of all answers to wrong requests and to failures of the service. */
import { queueRefusal } from '../queues/backend/refusals.ts';
import { FAULTS, Fault, type FaultCode, type FaultPlace } from '../src/core/fault.ts';

export const PROBLEM_TYPE = 'application/problem+json';

/** @see https://www.rfc-editor.org/rfc/rfc9457#name-members-of-a-problem-detail */
export interface Problem {
  /** The kind of problem: the code of the fault as a URN. */
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  /** Path of the request, without its query, which may contain secrets. */
  readonly instance: string;
  readonly code: FaultCode;
  /** The id of this request in the log. */
  readonly requestId: string;
  readonly place?: FaultPlace;
  /** What the client can do. */
  readonly hint?: string;
  /** Further members, such as `diagnostics` or `names`. */
  readonly [member: string]: unknown;
}

/** A fault with additional members for the problem answer, and headers such as `Allow`. */
export class RequestFault extends Fault {
  readonly members: Readonly<Record<string, unknown>>;
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    code: FaultCode,
    message: string,
    options: ConstructorParameters<typeof Fault>[2] & {
      readonly members?: Readonly<Record<string, unknown>>;
      readonly headers?: Readonly<Record<string, string>>;
    } = {},
  ) {
    super(code, message, options);
    this.members = options.members ?? {};
    this.headers = options.headers ?? {};
  }
}

export interface ProblemAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Problem;
}

/** When a client may retry after a temporary failure of the service, in seconds. */
const RETRY_AFTER_SECONDS = '2';

/** The answer to `fault`. Details of an unexpected error are not revealed; the log has them under the same request id. */
export function problemAnswer(fault: Fault, request: { readonly path: string; readonly id: string }): ProblemAnswer {
  const unexpected = fault.code === 'internal/error';
  const { title, status } = FAULTS[fault.code];
  const extended = fault instanceof RequestFault ? fault : undefined;
  const waits = fault.code === 'service/unavailable' || fault.code === 'request/too-many';
  return {
    status,
    headers: { ...(waits ? { 'Retry-After': RETRY_AFTER_SECONDS } : {}), ...extended?.headers },
    body: {
      type: `urn:quadmill:fault:${fault.code.replace('/', ':')}`,
      title,
      status,
      detail: unexpected ? `Unexpected error. See the log of the service for request ${request.id}` : fault.message,
      instance: request.path,
      code: fault.code,
      requestId: request.id,
      ...(Object.keys(fault.place).length > 0 && !unexpected ? { place: fault.place } : {}),
      ...(fault.hint !== undefined && !unexpected ? { hint: fault.hint } : {}),
      ...extended?.members,
    },
  };
}

/**
 * Converts any error to a fault: faults stay as they are, HTTP errors of the framework are converted by status, a queue that takes no writes
 * is `service/unavailable`, a full disk `service/full`, all others become `internal/error`.
 */
export function faultOf(error: unknown): Fault {
  if (error instanceof Fault) return error.status < 500 ? error : (diskRefusal(error) ?? error);
  const { status, expose, message } = error as { status?: unknown; expose?: unknown; message?: string };
  if (expose === true && status === 413) return new Fault('request/too-large', message ?? 'The request is too large', { cause: error });
  if (expose === true && typeof status === 'number' && status >= 400 && status < 500) {
    return new Fault('request/malformed', message ?? 'The request is not well-formed', { cause: error });
  }
  return queueRefusal(error) ?? diskRefusal(error) ?? Fault.of(error);
}

/** What a file system says that is full or read-only, as the cause of whatever failed; undefined: another error. */
function diskRefusal(error: unknown): Fault | undefined {
  for (let at = error; at instanceof Error; at = at.cause) {
    const { code, path } = at as NodeJS.ErrnoException;
    const where = path === undefined ? '' : ` (${path})`;
    if (code === 'ENOSPC' || code === 'EDQUOT') {
      return new Fault('service/full', `Nothing was written: the disk of the service is full${where}`, {
        hint: 'Make room on it',
        cause: error,
      });
    }
    if (code === 'EROFS') {
      const hint = 'Mount it for writing, or name another directory';
      return new Fault('service/unavailable', `Nothing was written: the disk of the service is read-only${where}`, { hint, cause: error });
    }
  }
  return undefined;
}
