/** What the public files of a dataset say of it: `dataset.json` and a manifest for each version. Both are documented in docs/datasets.md. */
import { Fault } from '../core/fault.ts';
import type { RunRequest } from '../run/request.ts';

export { DATASET_NAME } from '../core/text.ts';

/** Of `dataset.json`. Readers of another number refuse the dataset. */
export const FORMAT = 1;

export interface DatasetDescription {
  readonly format: typeof FORMAT;
  readonly name: string;
  /** Unique: the labels of blank nodes are made of it. */
  readonly id: string;
  /** 0: no version yet. The newest manifest wins, if they differ. */
  readonly currentVersion: number;
}

export const FILE_KINDS = ['added', 'removed', 'kept', 'base'] as const;
/**
 * `added`, `removed`: against the version before. `kept`: what a property graph needs beside them, where a value stands for several statements:
 * the statements of the version that stay and have the subject of a removed one, and those that have a triple of a removed one as a term. It may have
 * more statements of the version, and some several times. `base`: the graph of the version; files of versions before it are gone.
 */
export type FileKind = (typeof FILE_KINDS)[number];

/** `output`: all records are mapped, and their graph is compared with the last one. `record`: those that came and went are mapped. */
export const CHANGES_BY = ['output', 'record'] as const;
export type ChangesBy = (typeof CHANGES_BY)[number];

/** N-Quads, packed with gzip. A file without statements is missing. */
export interface VersionFile {
  /** In the directory of the manifest. */
  readonly name: string;
  readonly kind: FileKind;
  /** Path of the logical target; absent: the output of the run. */
  readonly target?: string;
  readonly bytes: number;
  /** Hexadecimal. */
  readonly sha256: string;
}

/** What was read. */
export interface VersionInput {
  /** Without a login. */
  readonly url: string;
  readonly bytes?: number;
  /** Changes with the content: size, time and inode of a file, size and ETag of a resource. Absent: not known. */
  readonly state?: string;
}

/** The options of a run that its statements depend on, and where it found its inputs. Without passwords. */
export type VersionRunOptions = Pick<
  RunRequest,
  | 'mappings'
  | 'inputs'
  | 'workingDirectory'
  | 'base'
  | 'onError'
  | 'datatypeCheck'
  | 'rdf'
  | 'xmlDefaultNamespace'
  | 'inputOptions'
  | 'boundOnly'
  | 'validOnly'
  | 'functions'
> & { readonly jdbcUrl?: string; readonly user?: string };

export interface Counts {
  readonly added: number;
  readonly removed: number;
  /** Of the graph of the version. */
  readonly statements: number;
}

/** The rows that a follower kept when it made the version. */
export interface FeedState {
  /** Where they come from, without a login. */
  readonly name: string;
  /** How far it was read: offsets by topic and partition, an LSN, a GTID. */
  readonly position: Readonly<Record<string, string>>;
}

export interface Manifest extends Counts {
  readonly version: number;
  /** The version before; 0: the empty graph. */
  readonly previous: number;
  readonly runId: string;
  /** ISO 8601. */
  readonly startedAt: string;
  readonly endedAt: string;
  /** Mapping documents. */
  readonly mappings: readonly { readonly url: string; readonly sha256: string }[];
  readonly inputs: readonly VersionInput[];
  /** Of mapping, plan and functions. */
  readonly digest: string;
  /** What the run was asked for, beside the mapping documents. */
  readonly run: VersionRunOptions;
  readonly records: number;
  readonly rejected: number;
  readonly files: readonly VersionFile[];
  /** Logical targets by path. Absent: there are none. */
  readonly targets?: Readonly<Record<string, Counts>>;
  /** Absent: a run read its inputs. */
  readonly feed?: FeedState;
}

const DIGITS = 6;
export const VERSIONS = 'versions';
export const DESCRIPTION = 'dataset.json';

export const numberText = (version: number): string => String(version).padStart(DIGITS, '0');
export const manifestName = (version: number): string => `${VERSIONS}/${numberText(version)}.json`;

/** The version whose manifest has the name; undefined: it is no manifest. */
export function versionOfName(name: string): number | undefined {
  const digits = /^(\d{6,})\.json$/.exec(name)?.[1];
  return digits === undefined ? undefined : Number(digits);
}

/**
 * @param place the address of the file, for messages
 * @throws Fault source/malformed — not JSON, or of another format
 */
export function parseDescription(text: string, place: string): DatasetDescription {
  const read = parse(text, place) as Partial<DatasetDescription>;
  if (read.format !== FORMAT) {
    throw new Fault('source/malformed', `${place} has the format ${String(read.format)}, and this version reads the format ${FORMAT}`, {
      place: { input: place },
      hint: 'Is the directory a dataset, and of this version of Quadmill?',
    });
  }
  if (typeof read.id !== 'string' || typeof read.name !== 'string') throw damaged(place);
  return read as DatasetDescription;
}

/** @throws Fault source/malformed */
export function parseManifest(text: string, place: string): Manifest {
  const read = parse(text, place) as Partial<Manifest>;
  const numbers = [read.version, read.previous, read.added, read.removed, read.statements];
  if (!Array.isArray(read.files) || numbers.some((number) => !Number.isSafeInteger(number))) throw damaged(place);
  return read as Manifest;
}

function parse(text: string, place: string): object {
  try {
    const read: unknown = JSON.parse(text);
    if (typeof read === 'object' && read !== null) return read;
  } catch {
    // Told below.
  }
  throw damaged(place);
}

const damaged = (place: string): Fault =>
  new Fault('source/malformed', `${place} is damaged: it is not the JSON that Quadmill writes`, {
    place: { input: place },
    hint: 'Restore it from a copy of the dataset',
  });
