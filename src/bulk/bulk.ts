/** A write by the loader of a store: statements are checked as in any write, put into files, and the loader reads the files. */
import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { Fault } from '../core/fault.ts';
import { makeDirectory } from '../storage/local/directory.ts';
import { isObjectUrl, locate } from '../storage/url.ts';
import type { WriteHooks, WriteReport, WriteRequest } from '../write/request.ts';
import { writeTo } from '../write/write.ts';
import { openBulkFiles } from './files.ts';
import { BULK_LOADERS, BULK_TYPES, type BulkLoad, isBulkType } from './loaders.ts';

export interface BulkRequest extends WriteRequest {
  /** Where the files lie while they are loaded: a path that the loader can read, or `s3://BUCKET/PREFIX`. They are removed at the end. */
  readonly place: string;
  /** See `BulkLoad`. */
  readonly loader: readonly string[] | undefined;
  readonly role: string | undefined;
}

/**
 * Adds the statements of the inputs to the target by its loader. Memory: that of a write; disk: the statements as N-Quads, for a property
 * graph also as CSV.
 *
 * @throws Fault config/invalid — the target has no loader, or the loader cannot do what is asked
 * @throws Fault those of `executeWrite`, `runProgram` and `loadIntoNeptune`
 */
export async function executeBulkWrite(request: BulkRequest, hooks: WriteHooks): Promise<WriteReport> {
  const { target: address, place, loader: command, role, ...rest } = request;
  const loader = isBulkType(address.type) ? BULK_LOADERS[address.type] : undefined;
  if (loader === undefined)
    throw new Fault('config/invalid', `No loader is known for targets of the type ${address.type}`, {
      hint: `With --bulk the type is one of ${BULK_TYPES.join(', ')}; leave out --bulk for the others`,
    });
  if (rest.mode !== 'insert')
    throw new Fault('config/invalid', `A loader adds statements, and the write has the mode ${rest.mode}`, {
      hint: 'Set WRITE_MODE=insert, or leave out --bulk',
    });
  const at = isObjectUrl(place) ? locate(place, '/') : undefined;
  const objects = at?.kind === 's3' ? at : undefined;
  if (objects !== undefined && !loader.takesObjects)
    throw new Fault('config/invalid', `The loader of ${loader.product} reads local files, and ${place} is object storage`, {
      hint: 'Give --bulk a directory',
    });
  const name = `quadmill-${randomUUID()}`;
  const directory = join(objects === undefined ? resolve(rest.workingDirectory, place) : rest.spillDirectory, name);
  const load: Omit<BulkLoad, 'files' | 'signal'> = { address, directory, objects, command, role, request: { ...rest, runId: name } };
  loader.check(load);
  makeDirectory(directory);
  const { product, takesTripleTerms, defaultGraph } = loader;
  const started = performance.now();
  const files = await openBulkFiles({ directory, name: 'graph', product, takesTripleTerms, defaultGraph });
  try {
    const report = await writeTo(files, { ...rest, resume: undefined, spillDirectory: join(rest.spillDirectory, 'write') }, hooks);
    const paths = await files.finish();
    const warnings = report.quadsWritten === 0 ? [] : await loader.load({ ...load, files: paths, signal: hooks.signal });
    const seconds = (performance.now() - started) / 1000;
    return { ...report, target: `${address.endpoint}, by the loader of ${product}`, warnings: [...report.warnings, ...warnings], seconds };
  } finally {
    await files.remove();
    await rm(directory, { recursive: true, force: true });
  }
}
