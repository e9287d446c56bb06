/**
 * The loader of Amazon Neptune: it reads objects of S3.
 *
 * Requests and answers are those of "Neptune Loader Command" and "Neptune Loader Get-Status API" in the Neptune user guide.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { withLimit } from '../core/abort.ts';
import { Fault } from '../core/fault.ts';

export interface NeptuneLoad {
  /** `https://HOST:PORT` */
  readonly endpoint: string;
  /** `s3://…`: all objects whose keys begin so. */
  readonly source: string;
  readonly role: string;
  readonly region: string;
}

const POLL_MS = 2_000;
const REQUEST_MS = 60_000;
const MOST_LOST = 30;
const RUNNING: ReadonlySet<string> = new Set(['LOAD_NOT_STARTED', 'LOAD_IN_QUEUE', 'LOAD_IN_PROGRESS', 'LOAD_COMMITTED_W_WRITE_CONFLICTS']);

interface StatusPayload {
  readonly overallStatus?: { readonly status?: string };
  readonly errors?: {
    readonly errorLogs?: readonly { readonly errorMessage?: string; readonly fileName?: string; readonly recordNum?: number }[];
  };
}

/**
 * Starts a load, and waits for its end.
 *
 * @throws Fault target/unreachable, target/credentials; target/refused — with the errors that the loader names
 */
export async function loadIntoNeptune({ endpoint, source, role, region }: NeptuneLoad, signal: AbortSignal): Promise<void> {
  const loader = `${endpoint.replace(/\/+$/, '')}/loader`;
  const request = { source, format: 'nquads', iamRoleArn: role, region, failOnError: 'TRUE', parallelism: 'HIGH', queueRequest: 'TRUE' };
  const started = await ask<{ readonly loadId?: string }>(
    loader,
    { method: 'POST', body: JSON.stringify(request), headers: { 'content-type': 'application/json' } },
    signal,
  );
  const { loadId } = started;
  if (loadId === undefined)
    throw new Fault('target/refused', `${loader} has started no load`, { hint: 'Check that the endpoint is that of a Neptune cluster' });
  let lost = 0;
  for (;;) {
    await sleep(POLL_MS, undefined, { signal });
    let payload: StatusPayload;
    try {
      payload = await ask<StatusPayload>(`${loader}/${encodeURIComponent(loadId)}?details=true&errors=true&errorsPerPage=3`, {}, signal);
      lost = 0;
    } catch (error) {
      // The load goes on in the cluster without questions.
      if (!(error instanceof Fault) || error.code !== 'target/unreachable' || ++lost === MOST_LOST) throw error;
      continue;
    }
    const status = payload.overallStatus?.status ?? 'no status';
    if (status === 'LOAD_COMPLETED') return;
    if (RUNNING.has(status)) continue;
    const errors = (payload.errors?.errorLogs ?? []).map(
      ({ errorMessage, fileName, recordNum }) =>
        `${fileName ?? source}${recordNum === undefined ? '' : `, record ${recordNum}`}: ${errorMessage}`,
    );
    throw new Fault('target/refused', `The load ${loadId} of Neptune ended with ${status}${errors.map((one) => `\n  ${one}`).join('')}`, {
      hint: 'Statements that were loaded stay; the same load again does no harm',
    });
  }
}

async function ask<T>(url: string, options: RequestInit, signal: AbortSignal): Promise<T> {
  let answer: Response;
  let text: string;
  try {
    [answer, text] = await withLimit(
      REQUEST_MS,
      async (limit) => {
        const response = await fetch(url, { ...options, signal: limit });
        return [response, await response.text()] as const;
      },
      signal,
    );
  } catch (error) {
    signal.throwIfAborted();
    throw new Fault('target/unreachable', `${url} does not answer: ${(error as Error).message}`, { cause: error });
  }
  if (answer.status === 401 || answer.status === 403) {
    throw new Fault('target/credentials', `${url} answers ${answer.status}: ${text.slice(0, 500)}`, {
      hint: 'Requests are not signed: the loader of a cluster with IAM authentication needs a proxy that signs them',
    });
  }
  if (!answer.ok)
    throw new Fault(
      answer.status >= 500 ? 'target/unreachable' : 'target/refused',
      `${url} answers ${answer.status}: ${text.slice(0, 500)}`,
    );
  try {
    return (JSON.parse(text) as { readonly payload: T }).payload;
  } catch (error) {
    throw new Fault('target/refused', `${url} answers with text that is no JSON: ${text.slice(0, 200)}`, { cause: error });
  }
}
