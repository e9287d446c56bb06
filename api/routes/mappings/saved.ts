/**
 * Mapping files with what belongs to each: the side file of the studio, who saved it and when, and the version before.
 *
 * Beside `shop.ttl` stand `shop.ttl.studio.json`, the side file, and `shop.ttl.previous` and `shop.ttl.studio.json.previous`, which have what
 * the last change replaced. None of these is read as a mapping.
 */
import { createHash } from 'node:crypto';
import { stat } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { s3AccessOf } from '../../../src/config/run-defaults.ts';
import { Fault } from '../../../src/core/fault.ts';
import { resolveInside } from '../../../src/core/reach/safe-path.ts';
import { readText } from '../../../src/storage/open.ts';
import type { S3Access } from '../../../src/storage/s3-access.ts';
import { isObjectUrl } from '../../../src/storage/url.ts';
import { removeText, writeText } from '../../../src/storage/write.ts';
import type { Api } from '../../route.ts';
import { changeAlone } from './lock.ts';

/** How the files are reached. */
export interface Files {
  readonly workingDirectory: string;
  readonly s3: S3Access;
}

export const filesOf = ({ config, workingDirectory }: Api): Files => ({ workingDirectory, s3: s3AccessOf(config.snapshot()) });

export type Side = Readonly<Record<string, unknown>>;

export interface SavedMapping {
  readonly text: string;
  /** Null: the mapping has none. */
  readonly side: Side | null;
  /** SHA-256 of the text and the side file, without quotes. */
  readonly etag: string;
  /** Null: not known, because the text was not saved through the service. */
  readonly by: string | null;
  /** ISO 8601; null: not known. */
  readonly at: string | null;
}

/** The new state of a mapping. `side`: undefined keeps the side file, an empty object removes it. */
export interface Change {
  readonly text: string;
  readonly side: Side | undefined;
  readonly mediaType: string;
  readonly by: string;
}

/** Called with the state before a change, while no other change is possible. @throws — the change is not made */
export type Check = (before: SavedMapping | undefined) => void;

/** Far larger than any mapping in use. */
const MAX_BYTES = 64 * 2 ** 20;
const JSON_TYPE = 'application/json';

/** Where the client's side file has what the service knows of the text; no client sees or sets it. */
const SAVED = 'saved';
interface SavedBy {
  readonly by: string;
  readonly at: string;
  /** SHA-256 of the text that was saved: another text has been written past the service. */
  readonly text: string;
}

/** @param path absolute path, or address of an object @returns undefined: there is no such file */
export async function readSaved(files: Files, path: string): Promise<SavedMapping | undefined> {
  const text = await readIfPresent(files, path);
  if (text === undefined) return undefined;
  const { side, saved } = await readSide(files, path);
  const known = saved?.text === digest(text) ? saved : undefined;
  return { text, side, etag: etagOf(text, side), by: known?.by ?? null, at: known?.at ?? (await modifiedAt(path)) };
}

/**
 * Writes text and side file, and keeps those before as the previous version. Readers of the text see the old one or the new one.
 *
 * @throws what `check` throws; Fault sink/failed, config/invalid, service/unavailable
 */
export async function save(
  files: Files,
  path: string,
  change: Change,
  check: Check,
): Promise<{ readonly etag: string; readonly isNew: boolean }> {
  return changeAlone(path, async () => {
    const before = await readSaved(files, path);
    check(before);
    if (before !== undefined) await keepPrevious(files, path, before, change.mediaType);
    const side = change.side === undefined ? (before?.side ?? null) : filled(change.side);
    const saved: SavedBy = { by: change.by, at: new Date().toISOString(), text: digest(change.text) };
    await writeSide(files, path, side, saved);
    await writeText(path, change.text, change.mediaType, files.s3);
    return { etag: etagOf(change.text, side), isNew: before === undefined };
  });
}

/** Removes text and side file, which stay as the previous version. @throws as `save`; Fault request/not-found */
export async function remove(files: Files, path: string, mediaType: string, check: Check): Promise<void> {
  await changeAlone(path, async () => {
    const before = await readSaved(files, path);
    check(before);
    if (before === undefined) throw new Fault('request/not-found', `There is no mapping ${basename(path)}`);
    await keepPrevious(files, path, before, mediaType);
    await removeText(path, files.s3);
    await removeText(sidePath(path), files.s3);
  });
}

const sidePath = (path: string): string => `${path}.studio.json`;
const previousPath = (path: string): string => `${path}.previous`;
const digest = (text: string): string => createHash('sha256').update(text).digest('hex');
const etagOf = (text: string, side: Side | null): string => digest(`${text}\0${side === null ? '' : JSON.stringify(side)}`);

async function keepPrevious(files: Files, path: string, { text, side, by, at }: SavedMapping, mediaType: string): Promise<void> {
  const previous = previousPath(sidePath(path));
  const saved = by === null || at === null ? undefined : { by, at, text: digest(text) };
  await writeText(previous, sideText(side, saved), JSON_TYPE, files.s3);
  await writeText(previousPath(path), text, mediaType, files.s3);
}

const writeSide = (files: Files, path: string, side: Side | null, saved: SavedBy): Promise<string> =>
  writeText(sidePath(path), sideText(side, saved), JSON_TYPE, files.s3);

const sideText = (side: Side | null, saved: SavedBy | undefined): string =>
  `${JSON.stringify({ ...side, ...(saved === undefined ? {} : { [SAVED]: saved }) }, undefined, 2)}\n`;

/** A side file that cannot be understood is none: places of blocks are all that is lost. */
async function readSide(files: Files, path: string): Promise<{ readonly side: Side | null; readonly saved: Partial<SavedBy> | undefined }> {
  const beside = sidePath(path);
  // A link may lead out of the directory.
  const text = await readIfPresent(files, isObjectUrl(path) ? beside : await resolveInside(dirname(path), basename(beside)));
  const value = text === undefined ? undefined : parsed(text);
  if (value === undefined) return { side: null, saved: undefined };
  const { [SAVED]: saved, ...side } = value;
  return { side: filled(side), saved: (saved ?? undefined) as Partial<SavedBy> | undefined };
}

const filled = (side: Side): Side | null => (Object.keys(side).length === 0 ? null : side);

function parsed(text: string): Side | undefined {
  try {
    const value = JSON.parse(text) as unknown;
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Side) : undefined;
  } catch {
    return undefined;
  }
}

async function readIfPresent({ workingDirectory, s3 }: Files, path: string): Promise<string | undefined> {
  try {
    return await readText(path, MAX_BYTES, { workingDirectory, reach: undefined, s3 });
  } catch (error) {
    if (error instanceof Fault && error.code === 'source/missing') return undefined;
    throw error;
  }
}

const modifiedAt = async (path: string): Promise<string | null> =>
  isObjectUrl(path) ? null : ((await stat(path).catch(() => undefined))?.mtime.toISOString() ?? null);
