/** Objects for tests of S3, and the options to reach them. */
import { PutObjectCommand } from '@aws-sdk/client-s3';
import { Secret } from '../../../../src/core/secret.ts';
import { s3Client } from '../../../../src/storage/s3/client.ts';
import type { S3Access } from '../../../../src/storage/s3-access.ts';
import { S3_KEYS } from '../../../servers/stores/s3proxy.ts';

export const accessTo = (endpoint: string, more: Partial<S3Access> = {}): S3Access => ({
  keys: { access: new Secret(S3_KEYS.access), secret: new Secret(S3_KEYS.secret) },
  region: undefined,
  endpoint,
  pathStyle: true,
  retries: 3,
  answerSeconds: 60,
  ...more,
});

export async function putObject(
  access: S3Access,
  bucket: string,
  key: string,
  body: string | Uint8Array,
  more: { readonly ContentEncoding?: string; readonly ContentType?: string } = {},
): Promise<void> {
  const size = { ContentLength: Buffer.byteLength(body) };
  await s3Client(access).send(new PutObjectCommand({ Bucket: bucket, Key: key, Body: body, ...size, ...more }));
}
