/** The clients of S3, and what their errors mean. The one place that knows how the SDK is set up. Imported when it is first needed. */
import { S3Client } from '@aws-sdk/client-s3';
import { Fault } from '../../core/fault.ts';
import { describeConnectionError } from '../../core/reach/http.ts';
import type { S3Access } from '../s3-access.ts';
import { TransientFault } from '../web/retry.ts';

const CONNECT_MS = 10_000;
/** Any, for an endpoint that has none: it is part of the signature. */
const REGION_OF_ENDPOINT = 'us-east-1';
/** Clients of options that have been replaced meanwhile are dropped, the oldest first. */
const CLIENTS = 8;
const clients = new Map<string, S3Client>();

/** The client for these options, with its connections. It repeats requests by itself after a transient fault. */
export function s3Client(access: S3Access): S3Client {
  const { keys, region, endpoint, pathStyle, retries, answerSeconds } = access;
  const key = JSON.stringify([keys?.access.reveal(), keys?.secret.reveal(), region, endpoint, pathStyle, retries, answerSeconds]);
  const known = clients.get(key);
  if (known !== undefined) return known;
  // It would stand among the messages of every command; docs/decisions/0021-node-versions.md says which versions of Node are supported.
  process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED ??= 'true';
  const usual = endpoint === undefined ? region : (region ?? REGION_OF_ENDPOINT);
  const client = new S3Client({
    forcePathStyle: pathStyle,
    maxAttempts: retries + 1,
    // Checksums that are sent behind a stream are not understood by all servers; TLS, lengths and ETags detect damage.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    requestHandler: { connectionTimeout: CONNECT_MS, socketTimeout: answerSeconds * 1000 },
    ...(usual === undefined ? {} : { region: usual }),
    ...(endpoint === undefined ? {} : { endpoint }),
    ...(keys === undefined ? {} : { credentials: { accessKeyId: keys.access.reveal(), secretAccessKey: keys.secret.reveal() } }),
  });
  clients.set(key, client);
  if (clients.size > CLIENTS) clients.delete(clients.keys().next().value as string);
  return client;
}

/** What the SDK throws, as far as it is looked at. */
interface S3Error {
  readonly name?: string;
  readonly message?: string;
  readonly $metadata?: { readonly httpStatusCode?: number };
  /** Of an answer that names the right region. */
  readonly Region?: string;
  readonly $response?: { readonly headers?: Readonly<Record<string, string>> };
}

/** HTTP status of an error; undefined: no answer. */
export const statusOf = (error: unknown): number | undefined => (error as S3Error).$metadata?.httpStatusCode;

const REFUSALS: Readonly<Record<string, readonly [says: string, hint: string]>> = {
  SignatureDoesNotMatch: ['the secret key does not belong to the access key', 'Check AWS_SECRET_KEY'],
  InvalidAccessKeyId: ['the access key is not known', 'Check AWS_ACCESS_KEY, and S3_ENDPOINT if the storage is not that of Amazon'],
  ExpiredToken: ['the credentials have expired', 'Renew them'],
  RequestTimeTooSkewed: ['the clock of this machine differs from that of the server', 'Set the clock of this machine'],
  InvalidObjectState: ['the object is in an archive', 'Restore it first'],
};
const BUSY: ReadonlySet<string> = new Set(['SlowDown', 'Throttling', 'ThrottlingException', 'RequestTimeout', 'RequestLimitExceeded']);
const CREDENTIALS_HINT =
  'Set AWS_ACCESS_KEY and AWS_SECRET_KEY, or give credentials in a way that the AWS SDK knows: environment, profile, role of the machine';

/**
 * What an error of the SDK means: source/missing, source/refused, source/unreadable (a `TransientFault`), config/invalid. The SDK's error is not
 * kept as the cause, since it holds the request with the access key.
 *
 * @param name the URL, for messages @param done what was tried @param byte how many bytes have been read
 */
export function s3Fault(error: unknown, name: string, access: S3Access, done: 'read' | 'written' = 'read', byte?: number): Fault {
  if (error instanceof Fault) return error;
  const { name: code = '', message = '', Region, $response } = error as S3Error;
  const status = statusOf(error);
  const place = { input: name, ...(byte === undefined ? {} : { byte }) };
  const refused = (says: string, hint: string): Fault => new Fault('source/refused', `${name} cannot be ${done}: ${says}`, { place, hint });
  if (code === 'CredentialsProviderError') return refused('there are no credentials', CREDENTIALS_HINT);
  if (status === undefined && /^Region is missing/.test(message))
    return new Fault('config/invalid', `${name} cannot be ${done}: no region is set`, { place, hint: 'Set S3_REGION' });
  if (code === 'NoSuchBucket') return new Fault('source/missing', `${name} cannot be ${done}: there is no such bucket`, { place });
  const region = Region ?? $response?.headers?.['x-amz-bucket-region'];
  if (code === 'PermanentRedirect' || code === 'AuthorizationHeaderMalformed' || status === 301 || (status === 400 && region !== undefined))
    return refused(
      `the bucket is in ${region === undefined ? 'another region' : `the region ${region}`}`,
      `Set S3_REGION${region === undefined ? '' : `=${region}`}`,
    );
  if (status === 404) return new Fault('source/missing', `There is no object ${name}`, { place });
  const [says, hint] = REFUSALS[code] ?? [];
  if (says !== undefined && hint !== undefined) return refused(says, hint);
  if (status === 401 || status === 403)
    return refused(`the storage answered ${status} ${code}`, `The credentials do not allow it. ${CREDENTIALS_HINT}`);
  if (status === undefined) return connectionFault(error as Error, name, access, done, place);
  // An answer with status 200 that is none of S3 is an error as well.
  if (status >= 500 || status < 400 || status === 408 || status === 429 || BUSY.has(code))
    return new TransientFault(`${name} cannot be ${done}: the storage answered ${status} ${code}`, { place }, undefined);
  return new Fault('source/refused', `${name} cannot be ${done}: the storage answered ${status} ${code}`, { place });
}

function connectionFault(
  error: Error,
  name: string,
  { endpoint, pathStyle }: S3Access,
  done: 'read' | 'written',
  place: Fault['place'],
): Fault {
  const { kind, reason, code } = describeConnectionError(error);
  const says = error.name === 'TimeoutError' ? 'the storage did not answer in time' : reason;
  const message = `${name} cannot be ${done}: ${says}`;
  if (kind === 'tls') return new Fault('source/refused', message, { place });
  if (code !== 'ENOTFOUND') return new TransientFault(message, { place }, undefined);
  const hint =
    endpoint === undefined
      ? 'Check S3_REGION'
      : pathStyle
        ? 'Check S3_ENDPOINT'
        : 'Check S3_ENDPOINT. A server without a host name for each bucket needs S3_PATH_STYLE=true';
  return new Fault('source/unreadable', message, { place, hint });
}
