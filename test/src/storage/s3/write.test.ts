/** Objects of S3, written: to a real server behind a proxy that makes trouble. */
import { createHash } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ListMultipartUploadsCommand } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, beforeEach, describe, expect } from '@jest/globals';
import { Secret } from '../../../../src/core/secret.ts';
import { probeInput, readBytes } from '../../../../src/storage/open.ts';
import { s3Client } from '../../../../src/storage/s3/client.ts';
import { abortUploads, copyObject, deleteObjects, objectExists, putText, uploadFile } from '../../../../src/storage/s3/write.ts';
import type { S3Access } from '../../../../src/storage/s3-access.ts';
import type { S3Location } from '../../../../src/storage/url.ts';
import { SHARED_START_MS, type SharedS3, sharedS3 } from '../../../servers/shared/shared.ts';
import { type Asked, INTERNAL_ERROR, SLOW_DOWN, startTroubles, type Trouble, type Troubles } from '../../../servers/stores/s3-troubles.ts';
import { missingS3Proxy, S3_KEYS } from '../../../servers/stores/s3proxy.ts';
import { sharedTest, soakTest, test } from '../../../support/jest/extent.ts';
import { temporaryDirectory } from '../../../support/queues/backends.ts';
import { accessTo } from './storing.ts';

const missing = await missingS3Proxy();
const describeS3 = missing === undefined ? describe : describe.skip;
if (missing !== undefined) sharedTest.skip(`S3 is not tested: ${missing}`, () => undefined);

let server: SharedS3;
let troubles: Troubles;
let access: S3Access;
let directory: { readonly path: string; remove(): Promise<void> };
/** Two parts and a bit. */
const BIG = Buffer.alloc(17 * 2 ** 20, 'a statement .\n');
const at = (key: string): S3Location => ({ kind: 's3', bucket: server.bucket, key });
const bytesOf = (key: string): Promise<Buffer> =>
  readBytes(`s3://${server.bucket}/${key}`, 2 ** 26, { reach: undefined, workingDirectory: '/', s3: accessTo(server.endpoint) });
const stateOf = (key: string) =>
  probeInput(`s3://${server.bucket}/${key}`, { reach: undefined, workingDirectory: '/', s3: accessTo(server.endpoint) });
async function unfinished(prefix: string): Promise<readonly string[]> {
  const { Uploads = [] } = await s3Client(accessTo(server.endpoint)).send(
    new ListMultipartUploadsCommand({ Bucket: server.bucket, Prefix: prefix }),
  );
  return Uploads.flatMap(({ Key = '' }) => (Key.startsWith(prefix) ? Key : []));
}
const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');
/** The first `count` requests that match get the trouble. */
function first(count: number, matches: (asked: Asked) => boolean, trouble: Trouble): void {
  let left = count;
  troubles.trouble = (asked) => (matches(asked) && left-- > 0 ? trouble : undefined);
}
const isPart = ({ method, path }: Asked): boolean => method === 'PUT' && path.includes('partNumber=');
const isCreation = ({ method, path }: Asked): boolean => method === 'POST' && /[?&]uploads/.test(path);
const isCompletion = ({ method, path }: Asked): boolean => method === 'POST' && path.includes('uploadId=');

beforeAll(async () => {
  if (missing !== undefined) return;
  server = await sharedS3();
  troubles = await startTroubles(server.endpoint);
  directory = await temporaryDirectory();
  await writeFile(join(directory.path, 'big'), BIG);
  await writeFile(join(directory.path, 'small'), 'one\n');
  await writeFile(join(directory.path, 'empty'), '');
}, SHARED_START_MS);
beforeEach(() => {
  if (missing !== undefined) return;
  access = accessTo(troubles.endpoint, { retries: 2 });
  troubles.trouble = () => undefined;
});
afterAll(async () => {
  await troubles?.stop();
  await server?.stop();
  await directory?.remove();
});

describeS3('a file that is uploaded', () => {
  test.each(['empty', 'small', 'big'])('appears when it is completed: %s', async (name) => {
    const key = `up/100%/a ${name}+ü.nq`;
    const upload = await uploadFile(at(key), access, join(directory.path, name));
    expect([await stateOf(key), await unfinished('up/')]).toEqual([undefined, [key]]);
    await upload.complete();
    expect(await unfinished('up/')).toEqual([]);
    const expected = name === 'big' ? BIG : Buffer.from(name === 'small' ? 'one\n' : '');
    expect(sha256(await bytesOf(key))).toBe(sha256(expected));
  });

  soakTest.each<[string, (asked: Asked) => boolean, Trouble]>([
    ['503 to the creation', isCreation, SLOW_DOWN],
    ['503 to a part', isPart, SLOW_DOWN],
    ['a connection that breaks within a part', isPart, { resetAfter: 100_000 }],
    ['503 to the completion', isCompletion, SLOW_DOWN],
    ['an error with status 200 to the completion', isCompletion, INTERNAL_ERROR],
    ['a lost answer to the completion', isCompletion, 'unanswered'],
  ])('is complete in spite of %s, twice', async (_, matches, trouble) => {
    first(2, matches, trouble);
    const upload = await uploadFile(at('trouble.nq'), access, join(directory.path, 'big'));
    await upload.complete();
    expect(sha256(await bytesOf('trouble.nq'))).toBe(sha256(BIG));
    expect(await unfinished('trouble')).toEqual([]);
    await deleteObjects(at('trouble'), access, () => true);
  });

  soakTest.each<[string, (asked: Asked) => boolean, Trouble]>([
    ['a part', isPart, SLOW_DOWN],
    ['a part, by a broken connection', isPart, { resetAfter: 100_000 }],
    ['the completion', isCompletion, INTERNAL_ERROR],
  ])('is not there when the storage refuses %s again and again', async (_, matches, trouble) => {
    first(1_000, matches, trouble);
    const work = async (): Promise<void> => {
      const upload = await uploadFile(at('never.nq'), access, join(directory.path, 'big'));
      await upload.complete().catch(async (error: unknown) => {
        await upload.abort();
        throw error;
      });
    };
    await expect(work()).rejects.toMatchObject({
      code: 'sink/failed',
      retriable: true,
      message: expect.stringMatching(/s3:.*never\.nq cannot be written/),
    });
    expect([await stateOf('never.nq'), await unfinished('never')]).toEqual([undefined, []]);
  });

  test('cannot be completed when another attempt has aborted it, and others are left alone', async () => {
    const mine = await uploadFile(at('run-1.nq'), access, join(directory.path, 'small'));
    const other = await uploadFile(at('run-12.nq'), access, join(directory.path, 'small'));
    await abortUploads(at('run-1'), access, (key) => key === 'run-1.nq');
    await expect(mine.complete()).rejects.toMatchObject({ code: 'run/lost' });
    await other.complete();
    expect([await objectExists(at('run-1.nq'), access), await objectExists(at('run-12.nq'), access)]).toEqual([false, true]);
  });
});

describeS3('an object that is copied', () => {
  const FROM = 'copies/100%/.a ü+b?.nq';
  const put = async (name: string): Promise<void> => (await uploadFile(at(FROM), access, join(directory.path, name))).complete();

  test.each([
    ['empty', ''],
    ['small', 'one\n'],
    ['big', BIG],
  ])('appears when it is completed: %s', async (name, content) => {
    await put(name);
    const sent: Asked[] = [];
    troubles.trouble = (asked) => void sent.push(asked);
    const copy = await copyObject(at(FROM), at('copies/to.nq'), access, content.length, 5 * 2 ** 20);
    expect([await stateOf('copies/to.nq'), await unfinished('copies/')]).toEqual([undefined, ['copies/to.nq']]);
    await copy.complete();
    expect(sha256(await bytesOf('copies/to.nq'))).toBe(sha256(Buffer.from(content)));
    expect(sent.filter(isPart)).toHaveLength(name === 'big' ? 4 : 1);
    await deleteObjects(at('copies'), access, () => true);
  });

  test('is refused when it is missing, has another size, or is replaced meanwhile', async () => {
    const copied = (bytes: number): Promise<unknown> => copyObject(at(FROM), at('copies/to.nq'), access, bytes);
    await expect(copied(4)).rejects.toMatchObject({ code: 'sink/failed', message: expect.stringMatching(/ü.*is missing/) });
    await put('small');
    await expect(copied(5)).rejects.toMatchObject({ code: 'sink/failed', message: expect.stringMatching(/has 4 bytes instead of 5/) });
    troubles.trouble = (asked) => (isPart(asked) ? { status: 412, body: '<Error><Code>PreconditionFailed</Code></Error>' } : undefined);
    await expect(copied(4)).rejects.toMatchObject({ code: 'sink/failed', message: expect.stringMatching(/was replaced/) });
    expect(await unfinished('copies/')).toEqual([]);
  });
});

describeS3('what the storage refuses', () => {
  test.each<[string, () => { readonly access?: S3Access; readonly bucket?: string }, RegExp]>([
    [
      'a wrong secret',
      () => ({ access: accessTo(troubles.endpoint, { keys: { access: new Secret(S3_KEYS.access), secret: new Secret('other') } }) }),
      /AWS_SECRET_KEY|secret key/,
    ],
    ['a bucket that is not there', () => ({ bucket: 'no-such-bucket-here' }), /no such bucket/],
  ])('is not tried again: %s', async (_, wrong, message) => {
    const { access: used = access, bucket = server.bucket } = wrong();
    const refused = { code: 'config/invalid', retriable: false, message: expect.stringMatching(message) };
    await expect(putText({ ...at('x'), bucket }, used, 'text', 'text/plain')).rejects.toMatchObject(refused);
    await expect(uploadFile({ ...at('x'), bucket }, used, join(directory.path, 'small'))).rejects.toMatchObject(refused);
  });
});

describeS3('encryption at rest', () => {
  test.each<[S3Access['encryption'], object]>([
    [undefined, {}],
    [{ algorithm: 'AES256', kmsKeyId: undefined }, { 'x-amz-server-side-encryption': 'AES256' }],
    [
      { algorithm: 'aws:kms', kmsKeyId: 'a-key' },
      { 'x-amz-server-side-encryption': 'aws:kms', 'x-amz-server-side-encryption-aws-kms-key-id': 'a-key' },
    ],
  ])('is asked for if an option says so: %j', async (encryption, headers) => {
    const seen: object[] = [];
    troubles.trouble = ({ method, path, encryption: asked }) => {
      if (method === 'POST' || (method === 'PUT' && !path.includes('partNumber='))) seen.push(asked);
      return { status: 400, body: '<Error><Code>InvalidRequest</Code></Error>' };
    };
    await expect(putText(at('x'), { ...access, encryption }, 'text', 'text/plain')).rejects.toThrow();
    await expect(uploadFile(at('x'), { ...access, encryption }, join(directory.path, 'small'))).rejects.toThrow();
    expect(seen).toEqual([headers, headers]);
  });
});
