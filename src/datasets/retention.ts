/** Removes old versions: the oldest one that stays becomes the base. */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { openFileSink } from '../sinks/file.ts';
import type { PartFile } from '../sinks/sink.ts';
import type { Folding } from './changes.ts';
import { Dataset, fileName, jsonText } from './dataset.ts';
import { manifestName, VERSIONS, type VersionFile } from './manifest.ts';
import { type DatasetPlace, lockDataset } from './run.ts';
import { TEMPORARY } from './versions/state.ts';

/**
 * Folds all versions but the newest ones into a base. Where it is interrupted, the dataset has all versions, or those that stay.
 *
 * @param keep how many versions stay, at least 1
 * @returns how many were removed, and the oldest one that is left
 * @throws Fault source/missing — there is no dataset; service/unavailable — a run writes it; sink/failed
 */
export async function removeVersions(
  place: DatasetPlace,
  keep: number,
  folding: Folding,
): Promise<{ readonly removed: number; readonly base: number }> {
  const opened = await Dataset.open(place.files);
  const lock = place.isLocked ? undefined : await lockDataset(place);
  try {
    await opened.reload();
    const { versions } = opened;
    const base = versions[Math.max(0, versions.length - keep)] ?? 0;
    const old = versions.filter((version) => version < base);
    if (old.length > 0) await makeBase(opened, place, base, folding);
    await removeOlder(opened, base);
    return { removed: old.length, base };
  } finally {
    await lock?.release();
  }
}

/**
 * Removes old versions after a run, as RETAIN_VERSIONS asks for it. A base is written of the whole graph, so some versions more than `keep` stay
 * before that is worth it: a quarter.
 *
 * @param keep 0: all stay
 * @throws those of `removeVersions`
 */
export async function retainVersions(place: DatasetPlace, keep: number, folding: Folding): Promise<void> {
  if (keep === 0) return;
  const { versions } = await Dataset.open(place.files);
  if (versions.length > keep + Math.floor(keep / 4)) await removeVersions(place, keep, folding);
}

async function makeBase(opened: Dataset, { files, stateDirectory }: DatasetPlace, version: number, folding: Folding): Promise<void> {
  const manifest = await opened.manifest(version);
  if (manifest.files.some(({ kind }) => kind === 'base')) return;
  const directory = join(stateDirectory, TEMPORARY, 'base');
  const bases: VersionFile[] = [];
  try {
    for (const [number, target] of [undefined, ...Object.keys(manifest.targets ?? {})].entries()) {
      const name = fileName(version, '', 'base', number);
      const sink = await openFileSink({ directory, name, attempt: 1, format: 'nquads', compression: 'gzip' });
      try {
        for await (const lines of opened.graph(version, target, folding)) await sink.write(lines);
      } catch (error) {
        await sink.abort();
        throw error;
      }
      const [{ bytes, sha256 }] = (await sink.commit()) as readonly [PartFile];
      await files.publish(`${VERSIONS}/${name}`, join(directory, name));
      bases.push({ name, kind: 'base', ...(target === undefined ? {} : { target }), bytes, sha256 });
    }
  } finally {
    await rm(join(stateDirectory, TEMPORARY), { recursive: true, force: true });
  }
  // The version counts as a base from here on.
  await files.write(manifestName(version), jsonText({ ...manifest, files: [...manifest.files, ...bases] }));
}

/** The oldest one first: what is left begins with a base at any moment. */
async function removeOlder({ files }: Dataset, base: number): Promise<void> {
  const numberOf = (name: string): number => Number(/^\d{6,}/.exec(name)?.[0] ?? Number.POSITIVE_INFINITY);
  const names = (await files.list(VERSIONS)).filter((name) => numberOf(name) < base).sort((a, b) => numberOf(a) - numberOf(b));
  // The manifest first: without it, nothing names the files.
  const isManifest = (name: string): boolean => name.endsWith('.json');
  for (const name of [...names.filter(isManifest), ...names.filter((one) => !isManifest(one))]) await files.remove([`${VERSIONS}/${name}`]);
}
