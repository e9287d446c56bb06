/** Objects of S3, written: files in parts that appear together, and small texts. */
import { createHash, randomUUID } from 'node:crypto';
import { open } from 'node:fs/promises';
import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  HeadObjectCommand,
  ListMultipartUploadsCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  UploadPartCommand,
  UploadPartCopyCommand,
} from '@aws-sdk/client-s3';
import { Fault } from '../../core/fault.ts';
import type { S3Access } from '../s3-access.ts';
import type { S3Location } from '../url.ts';
import { s3Client, s3Fault, statusOf } from './client.ts';

/** A part has at least 5 MiB, except for the last one, and an upload has at most 10,000. */
const MIN_PART_BYTES = 8 * 2 ** 20;
const MAX_PARTS = 10_000;
/** Parts of one file under way together. A larger part is sent alone. */
const BUFFERED_BYTES = 32 * 2 ** 20;
/** A part that the storage copies: at most 5 GiB. */
const COPIED_BYTES = 2 ** 30;
/** Parts of one object that the storage copies at once. */
const COPIES = 4;
/** Object metadata that identifies the upload. */
const UPLOAD_KEY = 'upload';

const urlOf = ({ bucket, key }: S3Location): string => `s3://${bucket}/${key}`;

/** sink/failed — transient; config/invalid — no such bucket, no permission; run/lost — the upload was aborted */
function failed(at: S3Location, access: S3Access, error: unknown): Fault {
  if ((error as Error).name === 'NoSuchUpload')
    return new Fault('run/lost', `The upload of ${urlOf(at)} was aborted, as another attempt of the run does`, {
      hint: 'If there is no other attempt, a rule of the bucket removes incomplete uploads too early',
    });
  const fault = s3Fault(error, urlOf(at), access, 'written');
  if (fault.code === 'source/unreadable') return fault.with({ code: 'sink/failed' });
  return fault.code.startsWith('source/') ? fault.with({ code: 'config/invalid' }) : fault;
}

/** The headers that ask for encryption at rest. */
const encryptionOf = ({ encryption }: S3Access) =>
  encryption === undefined
    ? {}
    : {
        ServerSideEncryption: encryption.algorithm,
        ...(encryption.kmsKeyId === undefined ? {} : { SSEKMSKeyId: encryption.kmsKeyId }),
      };

/** A file whose bytes the storage has. It is not visible before `complete`. */
export interface Upload {
  /** @throws Fault sink/failed, config/invalid; run/lost — the upload was aborted elsewhere */
  complete(): Promise<void>;
  /** Never throws: what is left is aborted by the next attempt, or when the run ends. */
  abort(): Promise<void>;
}

/**
 * Sends a file in parts. Memory: 32 MiB, or one part of a file above 80 GB. The SDK repeats each request; a part is checked by its MD5 sum.
 *
 * @throws Fault sink/failed, config/invalid — nothing of the upload is left then, if the storage answers
 */
export async function uploadFile(at: S3Location, access: S3Access, path: string): Promise<Upload> {
  const file = await open(path, 'r');
  try {
    const { size } = await file.stat();
    const partBytes = Math.max(MIN_PART_BYTES, Math.ceil(size / MAX_PARTS));
    return await uploadParts(at, access, Math.max(1, Math.ceil(size / partBytes)), Math.floor(BUFFERED_BYTES / partBytes), () => {
      const buffer = Buffer.allocUnsafe(Math.min(partBytes, size));
      return async (part, i) => {
        const body = buffer.subarray(0, Math.min(partBytes, size - i * partBytes));
        for (let at = 0; at < body.length; ) {
          const { bytesRead } = await file.read(body, at, body.length - at, i * partBytes + at);
          if (bytesRead === 0) throw new Fault('sink/failed', `${path} became shorter while it was sent`);
          at += bytesRead;
        }
        return sendPart(access, part, body);
      };
    });
  } finally {
    await file.close();
  }
}

/**
 * Copies an object of the same bucket. The storage copies: nothing of it passes through this process.
 *
 * @param bytes its size
 * @param leastPart bytes of a part, at least: 5 MiB to 5 GiB
 * @throws Fault sink/failed — also if the object is missing or has another size; config/invalid. Nothing of the upload is left then, if the
 *   storage answers
 */
export async function copyObject(
  from: S3Location,
  to: S3Location,
  access: S3Access,
  bytes: number,
  leastPart = COPIED_BYTES,
): Promise<Upload> {
  const client = s3Client(access);
  const found = await client.send(new HeadObjectCommand({ Bucket: from.bucket, Key: from.key })).catch((error: unknown) => {
    if (statusOf(error) === 404) throw new Fault('sink/failed', `${urlOf(from)} is missing`);
    throw failed(from, access, error);
  });
  if (found.ContentLength !== bytes) throw new Fault('sink/failed', `${urlOf(from)} has ${found.ContentLength} bytes instead of ${bytes}`);
  const source = {
    CopySource: [from.bucket, ...from.key.split('/')].map(encodeURIComponent).join('/'),
    CopySourceIfMatch: found.ETag,
  };
  const partBytes = Math.max(leastPart, Math.ceil(bytes / MAX_PARTS));
  return uploadParts(to, access, Math.max(1, Math.ceil(bytes / partBytes)), COPIES, () => async (part, i) => {
    // A range has at least one byte.
    if (bytes === 0) return sendPart(access, part, Buffer.alloc(0));
    const CopySourceRange = `bytes=${i * partBytes}-${Math.min(bytes, (i + 1) * partBytes) - 1}`;
    const { CopyPartResult } = await client
      .send(new UploadPartCopyCommand({ ...part, ...source, CopySourceRange }))
      .catch((error: unknown) => {
        if (statusOf(error) === 412) throw new Fault('sink/failed', `${urlOf(from)} was replaced while it was copied`);
        throw error;
      });
    return CopyPartResult?.ETag;
  });
}

/** A part of an upload: its object, upload and number. */
interface UploadPart {
  readonly Bucket: string;
  readonly Key: string;
  readonly UploadId: string;
  readonly PartNumber: number;
}

/** @returns its ETag */
async function sendPart(access: S3Access, part: UploadPart, body: Buffer): Promise<string | undefined> {
  const ContentMD5 = createHash('md5').update(body).digest('base64');
  const { ETag } = await s3Client(access).send(new UploadPartCommand({ ...part, Body: body, ContentLength: body.length, ContentMD5 }));
  return ETag;
}

/**
 * An upload of `count` parts, at most `together` of them under way.
 *
 * @param sender called for each of those: sends the part with this index, and resolves to its ETag
 * @throws Fault sink/failed, config/invalid — nothing of the upload is left then, if the storage answers
 */
async function uploadParts(
  at: S3Location,
  access: S3Access,
  count: number,
  together: number,
  sender: () => (part: UploadPart, i: number) => Promise<string | undefined>,
): Promise<Upload> {
  const client = s3Client(access);
  const object = { Bucket: at.bucket, Key: at.key };
  const token = randomUUID();
  let upload: { readonly Bucket: string; readonly Key: string; readonly UploadId: string } | undefined;
  const abort = async (): Promise<void> => {
    if (upload !== undefined) await client.send(new AbortMultipartUploadCommand(upload)).catch(() => undefined);
  };
  try {
    const { UploadId } = await client.send(
      new CreateMultipartUploadCommand({ ...object, Metadata: { [UPLOAD_KEY]: token }, ...encryptionOf(access) }),
    );
    if (UploadId === undefined) throw new Fault('sink/failed', `The answer for ${urlOf(at)} is not that of an object storage`);
    const begun = { ...object, UploadId };
    upload = begun;
    const etags: (string | undefined)[] = new Array(count);
    let next = 0;
    const sendParts = async (): Promise<void> => {
      const send = sender();
      while (next < count) {
        const i = next++;
        etags[i] = await send({ ...begun, PartNumber: i + 1 }, i);
      }
    };
    const sent = await Promise.allSettled(
      Array.from({ length: Math.min(count, Math.max(1, together)) }, () =>
        sendParts().catch((error: unknown) => {
          next = count;
          throw error;
        }),
      ),
    );
    for (const one of sent) if (one.status === 'rejected') throw one.reason;
    const Parts = etags.map((ETag, i) => ({ ETag, PartNumber: i + 1 }));
    return {
      abort,
      async complete() {
        try {
          await client.send(new CompleteMultipartUploadCommand({ ...begun, MultipartUpload: { Parts } }));
        } catch (error) {
          // A lost answer makes the SDK repeat a request that was carried out.
          if ((error as Error).name !== 'NoSuchUpload') throw failed(at, access, error);
          const head = await client.send(new HeadObjectCommand(object)).catch(() => undefined);
          if (head?.Metadata?.[UPLOAD_KEY] === token) return;
          throw failed(at, access, error);
        }
      },
    };
  } catch (error) {
    await abort();
    throw failed(at, access, error);
  }
}

/**
 * Writes a text in one request.
 *
 * @param mediaType of the object
 * @param isNew whether the object must not exist
 * @throws Fault sink/failed, config/invalid; run/lost — `isNew`, and it exists
 */
export async function putText(at: S3Location, access: S3Access, text: string, mediaType: string, isNew = false): Promise<void> {
  const body = Buffer.from(text);
  try {
    await s3Client(access).send(
      new PutObjectCommand({
        Bucket: at.bucket,
        Key: at.key,
        Body: body,
        ContentLength: body.length,
        ContentMD5: createHash('md5').update(body).digest('base64'),
        ContentType: mediaType,
        ...(isNew ? { IfNoneMatch: '*' } : {}),
        ...encryptionOf(access),
      }),
    );
  } catch (error) {
    if (isNew && statusOf(error) === 412) throw new Fault('run/lost', `Another process has written ${urlOf(at)}`, { hint: 'Run again' });
    throw failed(at, access, error);
  }
}

/** @throws Fault sink/failed, config/invalid */
export async function objectExists(at: S3Location, access: S3Access): Promise<boolean> {
  try {
    await s3Client(access).send(new HeadObjectCommand({ Bucket: at.bucket, Key: at.key }));
    return true;
  } catch (error) {
    if (statusOf(error) === 404) return false;
    throw failed(at, access, error);
  }
}

/**
 * Deletes the objects whose keys begin with that of `start`, as far as they are `unwanted`.
 *
 * @throws Fault sink/failed, config/invalid
 */
export async function deleteObjects(start: S3Location, access: S3Access, unwanted: (key: string) => boolean): Promise<void> {
  const client = s3Client(access);
  const { bucket: Bucket, key: Prefix } = start;
  try {
    for (let StartAfter: string | undefined; ; ) {
      const page = await client.send(new ListObjectsV2Command({ Bucket, Prefix, ...(StartAfter === undefined ? {} : { StartAfter }) }));
      const keys = (page.Contents ?? []).flatMap(({ Key }) => Key ?? []);
      // One at a time: DeleteObjects needs another checksum, and a run has few files.
      for (const Key of keys) if (unwanted(Key)) await client.send(new DeleteObjectCommand({ Bucket, Key }));
      const last = keys.at(-1);
      if (page.IsTruncated !== true || last === undefined || last === StartAfter) return;
      StartAfter = last;
    }
  } catch (error) {
    throw failed(start, access, error);
  }
}

/**
 * Aborts the unfinished uploads of keys that begin with that of `start`, as far as they are `unwanted`. Their senders cannot complete
 * them any more.
 *
 * @throws Fault sink/failed, config/invalid
 */
export async function abortUploads(start: S3Location, access: S3Access, unwanted: (key: string) => boolean): Promise<void> {
  const client = s3Client(access);
  const { bucket: Bucket, key: Prefix } = start;
  try {
    for (let marker: { readonly KeyMarker?: string; readonly UploadIdMarker?: string } = {}; ; ) {
      const page = await client.send(new ListMultipartUploadsCommand({ Bucket, Prefix, ...marker }));
      for (const { Key, UploadId } of page.Uploads ?? []) {
        if (Key === undefined || UploadId === undefined || !Key.startsWith(Prefix) || !unwanted(Key)) continue;
        await client.send(new AbortMultipartUploadCommand({ Bucket, Key, UploadId })).catch((error: unknown) => {
          if (statusOf(error) !== 404) throw error;
        });
      }
      const { NextKeyMarker: KeyMarker, NextUploadIdMarker: UploadIdMarker } = page;
      if (page.IsTruncated !== true || KeyMarker === undefined) return;
      marker = { KeyMarker, ...(UploadIdMarker === undefined ? {} : { UploadIdMarker }) };
    }
  } catch (error) {
    throw failed(start, access, error);
  }
}
