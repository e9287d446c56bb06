/** The request of `/process` from a JSON body, a query or a message: validated by its schema, then inputs and sources are paired. */
import { Fault } from '../../src/core/fault.ts';
import { fieldReader, type Subject } from '../../src/core/schema.ts';
import { PROCESS_REQUEST, WRITE_REQUEST } from './schemas.ts';

export interface ProcessRequest {
  readonly inputs: readonly string[];
  /** One per input; undefined if the request names none. */
  readonly sources: readonly string[] | undefined;
  readonly mapping: string | undefined;
  readonly dataset: string | undefined;
}

type Texts = string | readonly string[];

/** What `PROCESS_REQUEST` accepts. */
export interface ProcessFields {
  readonly inputFileURL: Texts;
  readonly logicalSource?: Texts;
  readonly mappingURL?: Texts;
  readonly dataset?: string;
}

/** What `WRITE_REQUEST` accepts. */
export interface WriteFields {
  readonly inputFileURL?: Texts;
  readonly dataset?: string;
  /** By HTTP alone. */
  readonly resync?: boolean;
}

export const BODY: Subject = { whole: 'The request body', field: (name) => name };

/** @throws Fault request/invalid */
export const readProcessFields = fieldReader<ProcessFields>(PROCESS_REQUEST, BODY);
/** @throws Fault request/invalid */
export const readWriteFields = fieldReader<WriteFields>(WRITE_REQUEST, BODY);

/**
 * Pairs inputs with sources by position.
 *
 * @throws Fault request/invalid — arrays of different length; several inputs and no source
 */
export function processRequestOf({ inputFileURL, logicalSource, mappingURL, dataset }: ProcessFields): ProcessRequest {
  const inputs = [inputFileURL].flat();
  const sources = logicalSource === undefined ? undefined : [logicalSource].flat();
  if (sources === undefined && inputs.length > 1) {
    throw new Fault(
      'request/invalid',
      `logicalSource is missing: with ${inputs.length} input files, each needs the logical source it belongs to`,
    );
  }
  if (sources !== undefined && sources.length !== inputs.length) {
    throw new Fault(
      'request/invalid',
      `inputFileURL and logicalSource are paired by position, but there are ${inputs.length} and ${sources.length} of them`,
    );
  }
  return { inputs, sources, mapping: mappingURL === undefined ? undefined : [mappingURL].flat()[0], dataset };
}

/** The files that a request to the graph writer names, or its dataset. @throws Fault request/invalid — neither, or both */
export function writtenOf({
  inputFileURL,
  dataset,
  resync,
}: WriteFields): readonly string[] | { readonly dataset: string; readonly resync: boolean | undefined } {
  if (inputFileURL !== undefined && dataset !== undefined)
    throw new Fault('request/invalid', 'inputFileURL and dataset are both given: a request writes files or a dataset');
  if (dataset !== undefined) return { dataset, resync };
  if (resync !== undefined) throw new Fault('request/invalid', 'resync is for a dataset, and the request names none');
  if (inputFileURL !== undefined) return [inputFileURL].flat();
  throw new Fault(
    'request/invalid',
    'inputFileURL is missing: the URL of a file of N-Quads, or an array of them; or dataset, the name of a dataset',
  );
}
