/**
 * Removes the files of old runs from the output directory, where RETAIN_OUTPUTS asks for it.
 *
 * A run is what its manifest names; files without a manifest belong to a run that is not published, and stay. The manifest is removed last: a
 * worker that dies meanwhile leaves a run that the next call removes.
 */
import { readdir, rm, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { locate } from '../../src/storage/url.ts';

/** What is kept; of several limits, a run must be within all. */
export interface Retention {
  readonly ageMs: number;
  readonly runs: number;
  readonly bytes: number;
  /** Whether runs that no graph writer has written are removed too. */
  readonly unwritten: boolean;
}

const SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 };
const BYTES: Readonly<Record<string, number>> = { KB: 1e3, MB: 1e6, GB: 1e9, TB: 1e12 };

/** @param limits as RETAIN_OUTPUTS has them; undefined for none: everything is kept */
export function retentionOf(limits: readonly string[]): Retention | undefined {
  if (limits.length === 0) return undefined;
  const all = { ageMs: Number.POSITIVE_INFINITY, runs: Number.POSITIVE_INFINITY, bytes: Number.POSITIVE_INFINITY, unwritten: false };
  for (const limit of limits) {
    const [, digits, unit = ''] = /^(\d+)([A-Za-z]*)$/.exec(limit) ?? [];
    if (digits === undefined) all.unwritten = true;
    else if (unit === '') all.runs = Number(digits);
    else if (SECONDS[unit] !== undefined) all.ageMs = Number(digits) * SECONDS[unit] * 1000;
    else all.bytes = Number(digits) * (BYTES[unit.toUpperCase()] as number);
  }
  return all;
}

export interface RetentionContext {
  /** How the names of the files begin, `Service-Name-`. */
  readonly prefixes: readonly string[];
  /** Paths of inputs of graph writer runs that have not ended. */
  readonly needed: ReadonlySet<string>;
  /** Whether outcomes are announced to a graph writer: then only outputs that it has marked as written are removed. */
  readonly isWritten: boolean;
  /** Unix time in milliseconds. */
  readonly now: number;
}

export interface Removed {
  readonly runs: number;
  readonly bytes: number;
  /** Runs beyond the limits that stay, since a graph writer has not written them. */
  readonly unwritten: number;
}

/** A caller that waits for the outcome of a run, or a message on its way, must find its files. */
const LEAST_AGE_MS = 60_000;

/**
 * Removes the runs in `directory` that are beyond the limits, oldest first, with all files of theirs: parts, logical targets, rejections, nodes
 * and edges. Runs younger than a minute stay, and those that the graph writer still needs.
 *
 * Memory: the names and sizes of the directory.
 *
 * @throws the error of the file system
 */
export async function removeOldOutputs(directory: string, retention: Retention, context: RetentionContext): Promise<Removed> {
  const { prefixes, needed, isWritten, now } = context;
  const runs = await runsIn(directory, prefixes);
  const removed = { runs: 0, bytes: 0, unwritten: 0 };
  let bytes = 0;
  for (const [index, run] of runs.entries()) {
    bytes += run.bytes;
    const age = now - run.publishedMs;
    if (age <= retention.ageMs && index < retention.runs && bytes <= retention.bytes) continue;
    if (age < LEAST_AGE_MS || run.files.some((file) => needed.has(join(directory, file)))) continue;
    if (isWritten && !retention.unwritten && !run.files.includes(markOf(run.name))) {
      removed.unwritten++;
      continue;
    }
    for (const file of [...run.files, `${run.name}${MANIFEST}`]) await rm(join(directory, file), { force: true });
    removed.runs++;
    removed.bytes += run.bytes;
    // What was removed takes no room, but still counts as a newer run than those that follow.
    bytes -= run.bytes;
  }
  return removed;
}

interface PublishedRun {
  readonly name: string;
  readonly publishedMs: number;
  readonly bytes: number;
  /** Without the manifest. */
  readonly files: readonly string[];
}

/** The published runs, the newest first. */
async function runsIn(directory: string, prefixes: readonly string[]): Promise<readonly PublishedRun[]> {
  const names = await readdir(directory).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  const files = new Map<string, string[]>();
  for (const name of names)
    if (name.endsWith(MANIFEST) && prefixes.some((prefix) => name.startsWith(prefix))) files.set(name.slice(0, -MANIFEST.length), []);
  for (const name of names) ownerOf(name, files)?.push(name);
  const runs = await Promise.all(
    Array.from(files, async ([name, own]): Promise<PublishedRun | undefined> => {
      const [manifest, ...sizes] = await Promise.all(
        [`${name}${MANIFEST}`, ...own].map((file) => stat(join(directory, file)).catch(() => undefined)),
      );
      // Another worker has removed it.
      if (manifest === undefined) return undefined;
      const bytes = sizes.reduce((sum, found) => sum + (found?.size ?? 0), manifest.size);
      return { name, publishedMs: manifest.mtimeMs, bytes, files: own };
    }),
  );
  return runs.filter((run) => run !== undefined).sort((a, b) => b.publishedMs - a.publishedMs);
}

const MANIFEST = '.manifest.json';

function ownerOf(file: string, runs: ReadonlyMap<string, string[]>): string[] | undefined {
  if (file.endsWith(MANIFEST)) return undefined;
  const name = runNamesOf(file).find((one) => runs.has(one));
  return name === undefined ? undefined : runs.get(name);
}

/** The names that the run of a file may have: `a-2.nq` is of `a-2` or the second part of `a`. A name may have points, as topics have. */
function runNamesOf(file: string): readonly string[] {
  const starts = Array.from(file.matchAll(/\./g), ({ index }) => file.slice(0, index));
  return starts.flatMap((start) => [start, start.replace(/-\d+$/, '')]);
}

const markOf = (name: string): string => `${name}.written`;

/**
 * Marks the runs as written whose files are `urls`: the inputs of a graph writer that has completed. Inputs without a manifest beside them get no
 * mark.
 *
 * @throws the error of the file system
 */
export async function markWritten(urls: readonly string[], workingDirectory: string): Promise<void> {
  for (const url of urls) {
    const location = locate(url, workingDirectory);
    if (location.kind !== 'file') continue;
    const directory = dirname(location.path);
    for (const name of runNamesOf(basename(location.path))) {
      if ((await stat(join(directory, `${name}${MANIFEST}`)).catch(() => undefined)) === undefined) continue;
      await writeFile(join(directory, markOf(name)), '');
      break;
    }
  }
}
