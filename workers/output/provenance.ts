/** Writes the provenance of a run: finds out what its inputs were, and writes the file. */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { type Outcome, SERVICES, type TransformPayload, type TransformResult } from '../../queues/jobs.ts';
import { ACTIVITIES, type InputFacts, provenanceOf } from '../../queues/runs/provenance.ts';
import { splitSheet } from '../../src/core/input/formats.ts';
import type { S3Access } from '../../src/storage/s3-access.ts';
import { locate } from '../../src/storage/url.ts';
import { writeText } from '../../src/storage/write.ts';
import { outputPlace } from './output.ts';
import { objectUrl } from './places.ts';

const CHUNK_BYTES = 1024 * 1024;

/**
 * Writes `<Service>-provenance-<run>.nq`, atomically, and resolves to its URL. Repeating it is harmless.
 *
 * @param result of a completed run
 * @throws Fault config/invalid — neither a directory of this machine nor one of objects; sink/failed
 */
export async function writeProvenance(
  run: TransformPayload,
  outcome: Outcome,
  result: TransformResult | undefined,
  workingDirectory: string,
  s3: S3Access,
): Promise<string> {
  const { directory, without } = run.provenance as NonNullable<TransformPayload['provenance']>;
  const place = outputPlace(directory, '', s3);
  const name = `${SERVICES[run.service].name}-provenance-${run.runId}.nq`;
  const inputs: (InputFacts | undefined)[] = [];
  if (result !== undefined) for (const { url } of run.inputs) inputs.push(await factsOf(url, result.startedAt, workingDirectory));
  const activities = new Set(ACTIVITIES.filter((one) => !without.includes(one)));
  const text = provenanceOf({ run, activities, outcome, result, inputs, now: Date.now(), workingDirectory });
  const address = place.objects === undefined ? join(place.directory, name) : objectUrl(place.objects, name);
  return writeText(address, text, 'application/n-quads', s3);
}

/**
 * Size and digest of an input on this machine. Undefined for others, and for a file that has changed since the run began, whose content is not
 * known to be what was read.
 */
async function factsOf(url: string, startedAt: number | undefined, workingDirectory: string): Promise<InputFacts | undefined> {
  try {
    const location = locate(splitSheet(url).path, workingDirectory);
    if (location.kind !== 'file' || startedAt === undefined) return undefined;
    const before = await stat(location.path);
    if (!before.isFile() || before.ctimeMs >= startedAt) return undefined;
    const hash = createHash('sha256');
    for await (const chunk of createReadStream(location.path, { highWaterMark: CHUNK_BYTES })) hash.update(chunk as Buffer);
    const after = await stat(location.path);
    return after.ctimeMs === before.ctimeMs ? { bytes: after.size, sha256: hash.digest('hex') } : undefined;
  } catch {
    // It is gone, or cannot be read any more: the run has read it.
    return undefined;
  }
}
