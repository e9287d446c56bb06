/** How object storage that speaks the protocol of Amazon S3 is reached. Plain data, and secret. */
import type { Secret } from '../core/secret.ts';

export interface S3Access {
  /** undefined: the SDK's own chain gives the credentials (environment, profile, role of the machine). */
  readonly keys: { readonly access: Secret; readonly secret: Secret } | undefined;
  /** undefined: as the SDK finds it; for an endpoint of one's own `us-east-1`. */
  readonly region: string | undefined;
  /** undefined: Amazon's. */
  readonly endpoint: string | undefined;
  /** The bucket stands in the path of requests, not in the name of the host. */
  readonly pathStyle: boolean;
  /** How often a request is repeated after a transient fault. */
  readonly retries: number;
  /** Asked for with what is written; undefined: what the bucket does by itself. */
  readonly encryption?: { readonly algorithm: 'AES256' | 'aws:kms'; readonly kmsKeyId: string | undefined } | undefined;
  /** Until an answer begins, and between two parts of it; 0: no limit. */
  readonly answerSeconds: number;
}

/** Amazon's, with the credentials of the SDK. Without options nothing is repeated. */
export const USUAL_S3_ACCESS: S3Access = {
  keys: undefined,
  region: undefined,
  endpoint: undefined,
  pathStyle: false,
  retries: 0,
  answerSeconds: 300,
};
