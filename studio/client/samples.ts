/** What the service reads of the beginning of an input. */
import type { StudioField, StudioSampleRequest } from '../../client/types.ts';
import type { Input, Location, Step } from '../core/document.ts';
import type { FieldSample, SchemaField } from '../core/elements/schema.ts';
import { pathKey } from '../core/levels.ts';
import type { ModelOrigin } from './drafts.ts';
import { openService } from './service.ts';

export interface Sample {
  readonly fields: readonly SchemaField[];
  /** Of lists, by the keys of their paths: items of the longest one. */
  readonly longest: ReadonlyMap<string, number>;
  readonly records: number;
  readonly bytesRead: number;
  /** Of the whole input, where that is known. */
  readonly ofBytes?: number;
  /** Everything was read. */
  readonly complete: boolean;
  readonly warnings: readonly string[];
  /** Of a workbook: the names of its sheets. */
  readonly sheets?: readonly string[];
}

/**
 * The first records of an input, or more of it.
 *
 * @param mappings the transformer in whose mapping directory the model is
 * @throws ProblemError — it cannot be read; 403 to viewers
 */
export async function readSample(
  { location, format, dialect }: Input,
  mappings: ModelOrigin['service'],
  deeper: boolean,
  signal: AbortSignal,
): Promise<Sample> {
  const { delimiter, encoding } = dialect ?? {};
  const request = {
    ...placeOf(location),
    ...(location.kind === 'file' && location.directory === undefined && { mappings }),
    ...(format !== 'sql' && { format }),
    ...(delimiter !== undefined && { delimiter }),
    ...(encoding !== undefined && { encoding }),
    ...(deeper && { deeper }),
  };
  const answer = await openService().studio.sample(request, { signal });
  const lists = answer.fields.flatMap(({ path, longest }) => (longest === undefined ? [] : [[pathKey(path), longest] as const]));
  const outermost = answer.fields.find(({ path }) => path.some(isEach))?.path ?? [];
  // The list of the records is not always a field: the root of a document is none.
  lists.push([pathKey(outermost.slice(0, Math.max(0, outermost.findIndex(isEach)))), answer.records]);
  return { ...answer, fields: answer.fields.map(fieldOf), longest: new Map(lists) };
}

/** Whether the service reads samples of it: of databases, of the one of its options alone. */
export const hasSample = ({ location }: Input): boolean =>
  (location.kind !== 'table' && location.kind !== 'query') || location.database === undefined;

const isEach = (step: Step): boolean => 'each' in step;

function placeOf(location: Location): Pick<StudioSampleRequest, 'location' | 'of'> {
  switch (location.kind) {
    case 'upload':
    case 'url':
      return { location: location.url };
    case 'file':
      return location.directory === undefined || location.directory === 'working-directory'
        ? { location: location.path }
        : { location: `${location.directory.replace(/\/$/, '')}/${location.path}` };
    case 'table':
      return { of: 'table', location: location.table };
    case 'query':
      return { of: 'query', location: location.query };
  }
}

function fieldOf({ path, holds, values }: StudioField): SchemaField {
  if (values === undefined) return { path, holds };
  const { absent, nulls, kind, objects, values: count, distinct, isDistinctCut, examples } = values;
  const sample: FieldSample = { kind, objects, values: count, missing: absent + nulls, distinct, isDistinctCut, examples };
  return { path, holds, sample };
}
