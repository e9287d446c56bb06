/** Options of object storage. */
import { none, type OptionRow } from './row.ts';

export const OBJECT_STORAGE_OPTIONS = {
  AWS_ACCESS_KEY: {
    path: 's3.accessKey',
    type: 'string',
    default: none,
    secret: true,
    live: true,
    effect: 'none yet',
    summary: 'Access key of the object storage.',
  },
  AWS_SECRET_KEY: {
    path: 's3.secretKey',
    type: 'string',
    default: none,
    secret: true,
    live: true,
    effect: 'none yet',
    summary: 'Secret key of the object storage.',
  },
  S3_REGION: { path: 's3.region', type: 'string', default: none, live: true, effect: 'none yet', summary: 'Region of the object storage.' },
} as const satisfies Readonly<Record<string, OptionRow>>;
