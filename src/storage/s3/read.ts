/** Objects of S3: read, in ranges too, examined, listed, deleted. */
import type { Readable } from 'node:stream';
import {
  DeleteObjectCommand,
  GetObjectCommand,
  type GetObjectCommandOutput,
  HeadObjectCommand,
  ListObjectsV2Command,
} from '@aws-sdk/client-s3';
import { LinkedAbort } from '../../core/abort.ts';
import { Fault } from '../../core/fault.ts';
import type { Compression } from '../compression.ts';
import type { S3Access } from '../s3-access.ts';
import type { RawInput } from '../storage.ts';
import { type ByteRange, changedFault, type InputState } from '../storage.ts';
import type { S3Location } from '../url.ts';
import { charsetIn, mediaTypeIn } from '../web/media-type.ts';
import { pause, TransientFault } from '../web/retry.ts';
import { s3Client, s3Fault, statusOf } from './client.ts';

interface ReadOptions {
  readonly signal?: AbortSignal | undefined;
  readonly range?: ByteRange | undefined;
}

/**
 * Opens an object; `name` is its URL, for messages. When the connection breaks, the rest is asked for with the ETag of the beginning as a
 * condition: what is passed on is always one version of the object.
 *
 * @throws Fault those of `s3Fault`; source/refused — a content encoding that is not undone; run/lost — a range of an object that has changed;
 * while reading also source/unreadable — the object has changed meanwhile
 */
export async function openS3(at: S3Location, name: string, access: S3Access, { signal, range }: ReadOptions): Promise<RawInput> {
  if (at.key === '' || at.key.endsWith('/'))
    throw new Fault('source/refused', `${name} is a directory of objects, an object was expected`, {
      place: { input: name },
      hint: 'Name an object in it',
    });
  const ending = new LinkedAbort([signal]);
  try {
    const etag = range === undefined ? undefined : etagOf(range.version);
    const first = await get(at, name, access, { from: range?.from ?? 0, to: range?.to, etag }, ending.signal);
    if (first.ETag === undefined || first.ContentLength === undefined) {
      throw new TransientFault(
        `${name} cannot be read: the answer is not that of an object storage`,
        { place: { input: name } },
        undefined,
      );
    }
    if (range !== undefined && versionOf(sizeOf(first), first.ETag) !== range.version) throw changedFault(name);
    const compression = encodingOf(first.ContentEncoding, name);
    const { ContentLength: sizeBytes, ContentType, ETag } = first;
    return {
      chunks: chunksOf(first, { from: range?.from ?? 0, sizeBytes, etag: ETag }, at, name, access, ending),
      close: async () => ending.abort(),
      sizeBytes,
      mediaType: mediaTypeIn(ContentType),
      charset: charsetIn(ContentType),
      ...(compression === undefined ? {} : { compression }),
    };
  } catch (error) {
    ending.abort();
    throw range !== undefined && isChanged(error) ? changedFault(name) : s3Fault(error, name, access);
  }
}

interface Part {
  readonly from: number;
  /** undefined: to the end. */
  readonly to: number | undefined;
  /** The object must have it. */
  readonly etag: string | undefined;
}

function get(
  { bucket, key }: S3Location,
  name: string,
  access: S3Access,
  part: Part,
  signal: AbortSignal,
): Promise<GetObjectCommandOutput> {
  const { from, to, etag } = part;
  const isWhole = from === 0 && to === undefined;
  const command = new GetObjectCommand({
    Bucket: bucket,
    Key: key,
    ...(isWhole ? {} : { Range: `bytes=${from}-${to === undefined ? '' : to - 1}` }),
    ...(etag === undefined ? {} : { IfMatch: etag }),
  });
  return s3Client(access)
    .send(command, { abortSignal: signal })
    .then((answer) => {
      // A server that does not know ranges would send the beginning again.
      const begins = isWhole || new RegExp(`^bytes ${from}-`).test(answer.ContentRange ?? '');
      if (begins && (etag === undefined || answer.ETag === etag)) return answer;
      (answer.Body as Readable | undefined)?.destroy();
      if (begins) throw changedFault(name);
      throw new Fault('source/refused', `${name} cannot be read: the storage does not send ranges of objects`, { place: { input: name } });
    });
}

/** A condition that does not hold, a range behind the end, or another ETag in spite of the condition. */
const isChanged = (error: unknown): boolean =>
  [412, 416].includes(statusOf(error) ?? 0) || (error instanceof Fault && error.code === 'run/lost');

const sizeOf = ({ ContentRange, ContentLength }: GetObjectCommandOutput): number =>
  ContentRange === undefined ? (ContentLength as number) : Number(/\/(\d+)$/.exec(ContentRange)?.[1]);

const versionOf = (sizeBytes: number, etag: string): string => `${sizeBytes} ${etag}`;
const etagOf = (version: string): string => version.slice(version.indexOf(' ') + 1);

/** @returns undefined: none @throws Fault source/refused */
function encodingOf(header: string | undefined, name: string): Compression | undefined {
  // `aws-chunked` names how the object was sent, and some servers keep it.
  const encodings = (header ?? '').split(',').map((one) => one.trim().toLowerCase());
  const left = encodings.filter((one) => one !== '' && one !== 'identity' && one !== 'aws-chunked');
  if (left.length === 0) return undefined;
  if (left.length === 1 && (left[0] === 'gzip' || left[0] === 'x-gzip')) return 'gzip';
  throw new Fault('source/refused', `${name} has the content encoding ${JSON.stringify(header)}, which cannot be undone here`, {
    place: { input: name },
    hint: 'Store the object without it, or as gzip',
  });
}

interface Wanted {
  readonly from: number;
  readonly sizeBytes: number;
  readonly etag: string;
}

/** The bytes from `from` on, as many as were promised. A broken answer is continued where it broke. */
async function* chunksOf(
  first: GetObjectCommandOutput,
  { from, sizeBytes, etag }: Wanted,
  at: S3Location,
  name: string,
  access: S3Access,
  ending: LinkedAbort,
): AsyncGenerator<Uint8Array, void, undefined> {
  const place = (passed: number) => ({ input: name, byte: from + passed });
  const patience = { retries: access.retries, waitSeconds: 0 };
  let body: Readable | undefined = first.Body as Readable;
  let passed = 0;
  try {
    for (let failures = 0; ; ) {
      try {
        body ??= (await get(at, name, access, { from: from + passed, to: from + sizeBytes, etag }, ending.signal)).Body as Readable;
        for await (const chunk of readBody(body, access.answerSeconds, ending.signal)) {
          passed += chunk.length;
          if (passed > sizeBytes)
            throw new Fault('source/unreadable', `${name} sent more bytes than it announced`, { place: place(passed) });
          // Only failures without a byte between them are counted together.
          failures = 0;
          yield chunk;
        }
        if (passed === sizeBytes) return;
        throw new TransientFault(`${name} cannot be read: the answer ended too early`, { place: place(passed) }, undefined);
      } catch (error) {
        if (isChanged(error)) throw changedMeanwhile(name);
        await pause(s3Fault(error, name, access, 'read', from + passed), ++failures, patience, ending.signal);
        body?.destroy();
        body = undefined;
      }
    }
  } finally {
    body?.destroy();
    ending.abort();
  }
}

/** Ends with an error when the body sends nothing for `seconds` while a chunk is waited for, and with `signal`. */
async function* readBody(body: Readable, seconds: number, signal: AbortSignal): AsyncGenerator<Uint8Array, void, undefined> {
  const stop = (): void => void body.destroy(new Error('the reading was ended'));
  const silent = (): void => void body.destroy(Object.assign(new Error('silence'), { name: 'TimeoutError' }));
  signal.addEventListener('abort', stop, { once: true });
  const iterator = body[Symbol.asyncIterator]() as AsyncIterator<Uint8Array>;
  try {
    for (;;) {
      const timer = seconds === 0 ? undefined : setTimeout(silent, seconds * 1000);
      const next = await iterator.next().finally(() => clearTimeout(timer));
      if (next.done === true) return;
      yield next.value;
    }
  } finally {
    signal.removeEventListener('abort', stop);
    body.destroy();
  }
}

const changedMeanwhile = (name: string): Fault =>
  new Fault('source/unreadable', `${name} has changed while it was read`, {
    place: { input: name },
    hint: 'Run it again, with an object that is not replaced meanwhile',
  });

/** Size and version of an object; undefined: there is none, or it is stored in a content encoding. Opening it reports why. */
export async function s3State({ bucket, key }: S3Location, access: S3Access, signal?: AbortSignal): Promise<InputState | undefined> {
  if (key === '') return undefined;
  try {
    const head = await s3Client(access).send(
      new HeadObjectCommand({ Bucket: bucket, Key: key }),
      signal === undefined ? {} : { abortSignal: signal },
    );
    const { ContentLength, ETag, ContentEncoding } = head;
    if (ContentLength === undefined || ETag === undefined || encodingOf(ContentEncoding, key) !== undefined) return undefined;
    return { sizeBytes: ContentLength, version: versionOf(ContentLength, ETag) };
  } catch {
    return undefined;
  }
}

/**
 * Keys of the objects directly in a directory, that is with its prefix and no further `/`, in their order; all pages of the listing.
 *
 * @throws Fault source/missing — nothing begins so; those of `s3Fault`
 */
export async function listS3(
  { bucket, key }: S3Location,
  name: string,
  access: S3Access,
  what: 'objects' | 'directories' = 'objects',
): Promise<readonly string[]> {
  const prefix = key === '' || key.endsWith('/') ? key : `${key}/`;
  const keys: string[] = [];
  let isThere = false;
  let token: string | undefined;
  try {
    do {
      const page = await s3Client(access).send(
        new ListObjectsV2Command({
          Bucket: bucket,
          Prefix: prefix,
          Delimiter: '/',
          ...(token === undefined ? {} : { ContinuationToken: token }),
        }),
      );
      const found = what === 'objects' ? page.Contents?.map(({ Key }) => Key) : page.CommonPrefixes?.map(({ Prefix }) => Prefix);
      for (const one of found ?? []) if (one !== undefined && one !== prefix) keys.push(one);
      isThere ||= (page.Contents?.length ?? 0) + (page.CommonPrefixes?.length ?? 0) > 0;
      if (page.IsTruncated === true && (page.NextContinuationToken === undefined || page.NextContinuationToken === token))
        throw new TransientFault(`${name} cannot be listed: a page of the list names no next one`, { place: { input: name } }, undefined);
      token = page.IsTruncated === true ? page.NextContinuationToken : undefined;
    } while (token !== undefined);
  } catch (error) {
    throw s3Fault(error, name, access);
  }
  if (!isThere) throw new Fault('source/missing', `There is no object below ${name}`, { place: { input: name } });
  return keys;
}

/**
 * Deletes an object that has been the same since a time of this machine (Unix time in milliseconds). The server's clock may differ, and
 * it gives times in whole seconds: an object that may be newer stays.
 *
 * @throws Fault those of `s3Fault`
 */
export async function deleteUnchanged(
  { bucket, key }: S3Location,
  name: string,
  access: S3Access,
  since: number,
): Promise<'deleted' | 'changed' | 'missing'> {
  const client = s3Client(access);
  const head = new HeadObjectCommand({ Bucket: bucket, Key: key });
  let serverAhead = 0;
  head.middlewareStack.add(
    (next) => async (args) => {
      const result = await next(args);
      const { headers = {} } = result.response as { readonly headers?: Readonly<Record<string, string>> };
      const date = Date.parse(headers.date ?? '');
      // The date is cut to whole seconds: the clock is ahead by up to one more, so the object seems to be newer rather than older.
      if (!Number.isNaN(date)) serverAhead = date - Date.now();
      return result;
    },
    { step: 'deserialize', name: 'dateOfAnswer' },
  );
  try {
    const { LastModified, ETag } = await client.send(head);
    if (LastModified === undefined || LastModified.getTime() + 1000 - serverAhead > since) return 'changed';
    await client.send(new DeleteObjectCommand({ Bucket: bucket, Key: key, ...(ETag === undefined ? {} : { IfMatch: ETag }) }));
    return 'deleted';
  } catch (error) {
    if (statusOf(error) === 412) return 'changed';
    const fault = s3Fault(error, name, access);
    if (fault.code === 'source/missing') return 'missing';
    throw fault;
  }
}
