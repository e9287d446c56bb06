/** What the graph of a version is made of, as far as it can be seen without reading the inputs. */
import { isDeepStrictEqual } from 'node:util';
import { redact } from '../../core/redact.ts';
import type { PreparedRun } from '../../run/prepare/open.ts';
import type { RunRequest } from '../../run/request.ts';
import { probeInput } from '../../storage/open.ts';
import type { VersionInput, VersionRunOptions } from '../manifest.ts';
import { callsChance } from '../records/reasons.ts';
import type { Seen } from './state.ts';

/** An input that changed so recently that a later change could leave its time as it is. */
const YOUNG_MS = 2000;

/** What is seen of the inputs before they are read. */
export async function inputsOf(urls: readonly string[], request: RunRequest): Promise<readonly VersionInput[]> {
  const { workingDirectory, reach, web } = request;
  const now = Date.now();
  return Promise.all(
    [...new Set(urls)].map(async (url): Promise<VersionInput> => {
      const found = await probeInput(url, { workingDirectory, reach, web, s3: web.s3 }).catch(() => undefined);
      const isProof = found !== undefined && provesContent(found.version, now);
      return {
        url: redact(url),
        ...(found === undefined ? {} : { bytes: found.sizeBytes, ...(isProof ? { state: found.version } : {}) }),
      };
    }),
  );
}

/**
 * **Claim.** The graph is that of the newest version. **Proof.** It has been made by the same mapping, functions and options, of inputs that have not
 * changed since, and no term is made by chance or of the time. A database has no state that would say so, and the state of an address says nothing of
 * the answers to queries and of further pages.
 */
export function isUnchanged(last: Seen | undefined, { databases, plan }: PreparedRun, seen: Seen): boolean {
  if (last === undefined || databases !== undefined || callsChance(plan)) return false;
  if (plan.scans.some(({ source }) => source.kind !== 'file' || source.request !== undefined)) return false;
  return seen.inputs.every(({ state }) => state !== undefined) && isDeepStrictEqual(seen, last);
}

/**
 * Whether an input that has the same version later has the same content. A strong ETag says so, and the time of a file that is not young. A weak ETag does not, nor does the
 * `Last-Modified` of a server: it counts in seconds.
 *
 * @param version of an `InputState`: the size, and behind it a time of this machine in milliseconds, an ETag, or what a server has in place of one
 */
function provesContent(version: string, now: number): boolean {
  const [, mark = ''] = version.split(' ');
  return mark.startsWith('"') || now - Number(mark) >= YOUNG_MS;
}

/** What the statements of a run depend on, beside the content of mapping and inputs. */
export function runOptions(request: RunRequest): VersionRunOptions {
  const { mappings, inputs, workingDirectory, base, onError, datatypeCheck, rdf, xmlDefaultNamespace, inputOptions } = request;
  const { boundOnly, validOnly, functions, database } = request;
  const options: VersionRunOptions = {
    mappings: mappings.map(redact),
    inputs: inputs.map(({ name, url }) => ({ name, url: redact(url) })),
    workingDirectory,
    base,
    onError,
    datatypeCheck,
    rdf,
    xmlDefaultNamespace,
    inputOptions,
    boundOnly,
    validOnly,
    functions,
    ...(database === undefined ? {} : { jdbcUrl: redact(database.jdbcUrl) }),
    ...(database?.user === undefined ? {} : { user: database.user }),
  };
  // As it is read from the manifest: without what is undefined.
  return JSON.parse(JSON.stringify(options)) as VersionRunOptions;
}
