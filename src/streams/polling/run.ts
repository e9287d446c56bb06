/** A run that makes a version of a dataset, and reads only the changed rows of tables with `qms:changedSince`. */
import { type DatasetHooks, type DatasetPlace, type Finding, runDataset, type WholeOutputs } from '../../datasets/run.ts';
import { allSourcesOf } from '../../mapping/model/model.ts';
import { loadDocuments, readMappingDocuments } from '../../run/prepare/load.ts';
import { OpenedRun } from '../../run/prepare/open.ts';
import { DEFAULT_BASE, type RunRequest } from '../../run/request.ts';
import type { PolledReport } from './report.ts';

/**
 * As `runDataset`. Of a table with `qms:changedSince`, only the rows that have changed are read from the database. The library for the rows that are
 * kept is loaded then.
 *
 * @param whole reads all rows of all tables: those that were deleted without a trace go
 * @throws Fault mapping/… — the declaration does not fit the table; database/…; those of `runDataset`
 */
export async function runOrPoll(
  place: DatasetPlace,
  request: RunRequest,
  hooks: DatasetHooks,
  outputs?: WholeOutputs,
  finding?: Finding,
  whole = false,
): Promise<PolledReport> {
  // A preview is refused there.
  if (request.firstRecords !== undefined || !(await tellsChanges(request, hooks.signal)))
    return runDataset(place, request, hooks, outputs, finding);
  return (await import('./poll.ts')).runPolled(place, request, hooks, outputs, finding, whole);
}

/** Whether the mapping has a table with `qms:changedSince`. @throws Fault — those of `loadMapping` */
async function tellsChanges(request: RunRequest, signal: AbortSignal | undefined): Promise<boolean> {
  const { workingDirectory, reach, web } = request;
  const opened = new OpenedRun();
  try {
    await opened.openFunctions(request);
    const options = { workingDirectory, reach, s3: web.s3, ...(signal && { signal }) };
    const documents = request.documents ?? (await readMappingDocuments(request.mappings, options));
    const read = { baseIri: request.base ?? DEFAULT_BASE, functions: opened.functions };
    const { mapping } = await loadDocuments(documents, read, request.validOnly);
    return allSourcesOf(mapping).some((source) => source.kind === 'sql' && source.changes !== undefined);
  } finally {
    await opened.close();
  }
}
