/** The files of a set of custom functions: a directory with `set.json` and each file under its SHA-256. */
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Fault } from '../core/fault.ts';

/** Where a run finds its functions. Plain data: it is sent to threads. */
export interface FunctionFiles {
  /** Absolute path. */
  readonly directory: string;
  readonly limits: CallLimits;
}

/** What a call may need. */
export interface CallLimits {
  readonly seconds: number;
  /** Of the sandbox or the Java process, for all functions together. */
  readonly memoryMb: number;
}

/** What `set.json` holds. */
export interface FunctionSet {
  /** SHA-256 of the rest, hexadecimal: equal sets have the same version everywhere. */
  readonly version: string;
  readonly description: SetFile;
  readonly code: readonly CodeFile[];
}

export interface SetFile {
  /** Absolute URL, without login. */
  readonly url: string;
  readonly sha256: string;
}

export interface CodeFile extends SetFile {
  readonly kind: 'module' | 'jar';
  /** As the description names it; undefined: it does not. */
  readonly named: string | undefined;
}

export const SET_FILE = 'set.json';

export const sha256Of = (content: string | Uint8Array): string => createHash('sha256').update(content).digest('hex');

export const versionOf = (set: Omit<FunctionSet, 'version'>): string => sha256Of(JSON.stringify([set.description, set.code]));

/** All files of a set. */
export const filesOf = ({ description, code }: FunctionSet): readonly SetFile[] => [description, ...code];

/** @throws Error — there is no complete set */
export const readSet = async (directory: string): Promise<FunctionSet> =>
  JSON.parse(await readFile(join(directory, SET_FILE), 'utf8')) as FunctionSet;

/** @throws Fault functions/invalid — the file is not what it was */
export async function readSetFile(directory: string, { url, sha256 }: SetFile): Promise<Buffer> {
  const bytes = await readFile(join(directory, sha256));
  if (sha256Of(bytes) === sha256) return bytes;
  throw new Fault('functions/invalid', `The copy of ${url} in ${directory} has changed`, {
    hint: 'Remove the directory: the next run that needs it makes it again',
  });
}
