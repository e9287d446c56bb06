/** Options of object storage. */
import { none, type OptionRow } from './row.ts';

export const OBJECT_STORAGE_OPTIONS = {
  AWS_ACCESS_KEY: {
    path: 's3.accessKey',
    type: 'string',
    default: none,
    secret: true,
    live: true,
    summary: 'Access key of the object storage. Without it and the secret key, the AWS SDK looks for credentials itself.',
  },
  AWS_SECRET_KEY: {
    path: 's3.secretKey',
    type: 'string',
    default: none,
    secret: true,
    live: true,
    summary: 'Secret key of the object storage.',
  },
  S3_REGION: {
    path: 's3.region',
    type: 'string',
    default: none,
    live: true,
    summary: 'Region of the object storage. Without it, the one that the AWS SDK finds; with an endpoint us-east-1.',
  },
  S3_ENDPOINT: {
    path: 's3.endpoint',
    type: 'url',
    default: none,
    live: true,
    place: 'server',
    summary: 'URL of an object storage that speaks the protocol of S3, such as MinIO. Without it, that of Amazon.',
  },
  S3_PATH_STYLE: {
    path: 's3.pathStyle',
    type: 'boolean',
    default: false,
    live: true,
    summary: 'Whether requests name the bucket in the path, as most servers of S3 other than that of Amazon need it, and not in the host.',
  },
  S3_SERVER_SIDE_ENCRYPTION: {
    path: 's3.serverSideEncryption',
    type: 'enum',
    values: ['none', 'AES256', 'aws:kms'],
    default: 'none',
    live: true,
    summary: 'Encryption at rest that is asked for with what is written. With none, the bucket decides.',
  },
  S3_KMS_KEY_ID: {
    path: 's3.kmsKeyId',
    type: 'string',
    default: none,
    live: true,
    summary: 'Key of the encryption aws:kms. Without it, the one of the bucket or the account.',
  },
} as const satisfies Readonly<Record<string, OptionRow>>;
