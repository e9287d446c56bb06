/** Where the labels of the run's blank nodes come from: `nquads/labels.ts` has their form. */
import { createHash } from 'node:crypto';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { redact } from '../../core/redact.ts';
import type { LogicalSource } from '../../mapping/model/model.ts';
import type { ScanPlan } from '../../plan/plan.ts';
import type { Labels } from '../../terms/evaluate.ts';
import { type RunRequest, STANDARD_INPUT } from '../request.ts';
import type { DocumentPlace } from './documents/inputs.ts';

export interface RunLabels extends Pick<Labels, 'values'> {
  /** Digest of the input of each scan. */
  readonly inputs: readonly string[];
}

/** Of the rows of a scan, by its position. */
export const labelsOfScan = ({ values, inputs }: RunLabels, position: number): Labels => ({
  values,
  rows: (map) => labelOfMap(map) + inputs[position],
});

const digest = (parts: unknown, digits: number): string =>
  createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, digits);

const HALF = 16;

/** What all labels of a triples map begin with; see `nquads/labels.ts`. */
export const labelOfMap = (id: string): string => `q${digest(id, HALF)}`;

/** A document, or (without a place) the database of a source. */
interface Input {
  readonly source: LogicalSource;
  readonly place: DocumentPlace | undefined;
}

/** What the mapping says of a source: where it is, and how it is read. */
function sourceKey(source: LogicalSource): readonly string[] {
  if (source.kind === 'file') return [source.path, source.sheet ?? ''];
  const { content } = source;
  return [content.kind, content.kind === 'table' ? content.name : content.sql];
}

/**
 * Mapping and inputs count by their addresses, so that a row keeps its node when the mapping says more of it, or another row changes. Standard
 * input has no address: its labels are those of the run. In a dataset its name counts in their place, and sources by what the mapping says of them.
 *
 * @param scans in the order of the plan
 * @param all the inputs of the mapping, whatever the plan reads
 */
export function labelsOf(
  documents: readonly { readonly url: string }[],
  scans: readonly (Input & Pick<ScanPlan, 'document'>)[],
  all: readonly Input[],
  request: Pick<RunRequest, 'runId' | 'workingDirectory' | 'database' | 'dataset'>,
): RunLabels {
  const { dataset } = request;
  if (dataset !== undefined)
    return { values: `q${digest([dataset], 2 * HALF)}`, inputs: scans.map(({ source }) => digest([dataset, sourceKey(source)], HALF)) };
  const absolute = (url: string): string => {
    if (/^file:\/{3}/i.test(url)) return fileURLToPath(url);
    return redact(/^[a-z][a-z0-9+.-]*:/i.test(url) ? url : resolve(request.workingDirectory, url));
  };
  const addressOf = ({ source, place }: Input): readonly string[] => {
    if (place === undefined)
      return [redact((source.kind === 'sql' ? source.connection?.jdbcUrl : undefined) ?? request.database?.jdbcUrl ?? '')];
    return place.url === STANDARD_INPUT ? ['standard input', request.runId] : [absolute(place.url), place.sheet ?? ''];
  };
  const mapping = documents.map(({ url }) => absolute(url)).sort();
  const addresses = [...new Set(all.map((input) => JSON.stringify(addressOf(input))))].sort();
  const values = `q${digest([mapping, addresses], 2 * HALF)}`;
  const inputs = scans.map((scan) => {
    const { source, document = 0 } = scan;
    // The same document may be given twice.
    const before = scans.filter((one) => one.source === source && (one.document ?? 0) < document && one.place?.url === scan.place?.url);
    return digest([mapping, addressOf(scan), before.length], HALF);
  });
  return { values, inputs };
}
