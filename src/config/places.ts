/** Places that options name: what a change while the process runs may name, and which files are the service's own. */
import { basename, dirname, join, resolve, sep } from 'node:path';
import { Fault } from '../core/fault.ts';
import { fileCalls } from '../core/reach/file-calls.ts';
import { addressesWithin, portOf, type Reach } from '../core/reach/reach.ts';
import { resolveWithin } from '../core/reach/safe-path.ts';
import { redact } from '../core/redact.ts';
import { readLogins } from '../storage/logins.ts';
import { type Location, locate, type S3Location } from '../storage/url.ts';
import { backupPath } from './backup.ts';
import { directories } from './directories.ts';
import { type OptionName, optionRow, type Snapshot, startedWith } from './options/options.ts';
import { parseOption } from './parse.ts';
import { mappingPlaces, reachOf, writtenDirectories } from './run-defaults.ts';

/**
 * Checks a new value of an option that names a place against the reach with which the process was started. A value that the environment has,
 * may always be set again.
 *
 * @throws Fault request/forbidden — it is outside; config/invalid, source/refused — the value is no place
 */
export async function assertPlace(name: OptionName, text: string, snapshot: Snapshot, workingDirectory: string): Promise<void> {
  const { place } = optionRow(name);
  if (place === undefined || place === 'trusted' || text === '') return;
  const started = startedWith(snapshot);
  const value = parseOption(name, text);
  if (value === started[name]) return;
  const reach = reachOf(started, workingDirectory);
  const within: Reach =
    place !== 'write' || reach.directories === null
      ? reach
      : { ...reach, directories: [...reach.directories, ...writtenDirectories(started, workingDirectory)] };
  for (const one of placesIn(name, value as string)) {
    try {
      await assertLocation(locate(one, workingDirectory), within, redact(one));
    } catch (error) {
      const { code, hint } = Fault.of(error);
      const isLookup = !(error instanceof Fault);
      if (!isLookup && code !== 'request/forbidden') throw error;
      const why = isLookup ? 'the name of its host has no address' : 'it is outside of what the process may reach since its start';
      throw new Fault('request/forbidden', `${name} cannot be set to ${redact(one)} while the process runs: ${why}`, {
        hint: `Set the environment variable ${name} and restart${hint === undefined ? '' : `. ${hint}`}`,
        cause: error,
      });
    }
  }
}

/** The addresses of a value. */
function placesIn(name: OptionName, value: string): readonly string[] {
  if (name === 'SOURCE_LOGINS')
    return readLogins(value as unknown as Snapshot['SOURCE_LOGINS']).flatMap(({ sends }) =>
      sends.kind === 'token' ? [sends.grant.endpoint] : [],
    );
  // Certificates may stand in the option itself.
  if (value.startsWith('-----BEGIN')) return [];
  return [value.replace(/#sha256=[0-9a-f]*$/i, '')];
}

/** @throws Fault request/forbidden; errors of `dns.lookup` */
async function assertLocation(location: Location, reach: Reach, name: string): Promise<void> {
  if (location.kind === 'file') await resolveWithin(reach, location.path, name);
  else if (location.kind === 'http') await addressesWithin(reach, location.url.hostname, portOf(location.url));
}

/** Whether the service keeps its files in a place. */
export type IsOwn = (location: Location) => Promise<boolean>;

/**
 * The service's own files: what stands in DATA_DIR itself and in its directories of queue, store, functions and the like, mappings, datasets, provenance,
 * backup, keys, and the output. Uploads, and other directories in DATA_DIR, hold what users have put there.
 *
 * @param isWriter for the graph writer, the output of the transformers is its input
 */
export async function ownPlaces(snapshot: Snapshot, workingDirectory: string, isWriter: boolean): Promise<IsOwn> {
  const data = await realOf(resolve(workingDirectory, snapshot.DATA_DIR));
  const named: (string | undefined)[] = [];
  for (const values of [startedWith(snapshot), snapshot]) {
    const { output, datasets, provenance } = directories(values, workingDirectory);
    named.push(datasets, ...mappingPlaces(values, workingDirectory), await backupPath(values, workingDirectory).catch(() => undefined));
    if (!isWriter) named.push(output);
    if (provenance !== output) named.push(provenance);
  }
  const locations = named.flatMap((place) => locationOf(place, workingDirectory));
  const { withheld } = reachOf(snapshot, workingDirectory);
  const paths = [...withheld, join(data, 'backup'), ...locations.flatMap((one) => (one.kind === 'file' ? [one.path] : []))];
  const real = await Promise.all(paths.map(realOf));
  const objects = locations.filter((one): one is S3Location => one.kind === 's3');
  return async (location) => {
    if (location.kind === 'http') return false;
    if (location.kind === 's3')
      return objects.some(({ bucket, key }) => location.bucket === bucket && isBelow(location.key, key.replace(/\/$/, ''), '/'));
    // A link itself is deleted, not what it leads to.
    const directory = await realOf(dirname(location.path));
    const path = join(directory, basename(location.path));
    return directory === data || real.some((own) => isBelow(path, own, sep));
  };
}

const isBelow = (path: string, directory: string, separator: string): boolean =>
  directory === '' || path === directory || path.startsWith(directory.endsWith(separator) ? directory : directory + separator);

const realOf = (path: string): Promise<string> => fileCalls.realpath(path).catch(() => path);

function locationOf(place: string | undefined, workingDirectory: string): readonly Location[] {
  try {
    return place === undefined ? [] : [locate(place, workingDirectory)];
  } catch {
    // No place of files: its use reports what is wrong.
    return [];
  }
}
