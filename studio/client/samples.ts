/** What the service reads of the beginning of an input. */
import { Transport } from '../../client/http.ts';
import type { Kind } from '../../src/infer/kinds.ts';
import type { Input, Location, Path } from '../core/document.ts';
import type { FieldSample, SchemaField } from '../core/elements/schema.ts';
import { pathKey } from '../core/levels.ts';
import { baseUrl, transportOptions } from './service.ts';

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
}

interface Answer extends Omit<Sample, 'fields' | 'longest'> {
  readonly fields: readonly {
    readonly path: Path;
    readonly holds: SchemaField['holds'];
    readonly values?: {
      readonly kind: Kind;
      readonly objects: number;
      readonly values: number;
      readonly absent: number;
      readonly nulls: number;
      readonly distinct: number;
      readonly isDistinctCut: boolean;
      readonly examples: readonly string[];
    };
    readonly longest?: number;
  }[];
}

/**
 * The first records of an input, or more of it.
 *
 * @throws ProblemError — it cannot be read; 403 to viewers
 */
export async function readSample({ location, format, dialect }: Input, deeper: boolean, signal: AbortSignal): Promise<Sample> {
  const { delimiter, encoding } = dialect ?? {};
  const request = {
    location: addressOf(location),
    format,
    ...(delimiter !== undefined && { delimiter }),
    ...(encoding !== undefined && { encoding }),
    ...(deeper && { deeper }),
  };
  const body = { type: 'application/json', text: JSON.stringify(request) };
  const sent = await new Transport(baseUrl(), transportOptions()).send('POST', '/studio/samples', { body, signal, repeatable: true });
  const answer = (await sent.json()) as Answer;
  const lists = answer.fields.flatMap(({ path, longest }) => (longest === undefined ? [] : [[pathKey(path), longest] as const]));
  return { ...answer, fields: answer.fields.map(fieldOf), longest: new Map(lists) };
}

/** Whether the service reads samples of it: tables have their fields in the catalogue. */
export const hasSample = ({ location: { kind } }: Input): boolean => kind !== 'table' && kind !== 'query';

function addressOf(location: Location): string {
  switch (location.kind) {
    case 'upload':
    case 'url':
      return location.url;
    case 'file':
      return location.path;
    case 'table':
      return location.table;
    case 'query':
      return location.query;
  }
}

function fieldOf({ path, holds, values }: Answer['fields'][number]): SchemaField {
  if (values === undefined) return { path, holds };
  const { absent, nulls, kind, objects, values: count, distinct, isDistinctCut, examples } = values;
  const sample: FieldSample = { kind, objects, values: count, missing: absent + nulls, distinct, isDistinctCut, examples };
  return { path, holds, sample };
}
