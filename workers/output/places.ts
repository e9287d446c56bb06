/** Names of files and objects of a run. */
import type { S3Location } from '../../src/storage/url.ts';
import type { ObjectDirectory } from '../task.ts';

/** The object of this name. */
export const objectAt = ({ at }: ObjectDirectory, name: string): S3Location => ({ ...at, key: `${at.key}${name}` });

/** Its address. */
export const objectUrl = ({ at: { bucket, key } }: ObjectDirectory, name: string): string => `s3://${bucket}/${key}${name}`;

/** A complete file under its temporary name, and its final name. */
export interface Move {
  readonly from: string;
  readonly to: string;
  /** Its size, if it is an object under that name and not a file. */
  readonly objectBytes?: number;
}
