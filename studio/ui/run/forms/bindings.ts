/** What a run reads: the inputs of a model, and where each of them is. */
import type { ProcessRequest } from '../../../../client/types.ts';
import type { StudioDocument } from '../../../core/document.ts';
import { recordsOf } from '../../../core/elements/records.ts';

export interface RunInput {
  /** The logical source: the path or URL that the mapping has. */
  readonly source: string;
  /** What the model calls it. */
  readonly name: string;
  /** Where the mapping says that it is. */
  readonly location: string;
}

/**
 * The files of a model, each once, in the order of the document. Tables and queries have no location: a run of the SQL transformer takes no
 * inputs.
 *
 * @param mapping path or URL of the mapping file, against which relative paths are read
 */
export function runInputs(document: StudioDocument, mapping: string): readonly RunInput[] {
  const found = new Map<string, RunInput>();
  const read = new Set(recordsOf(document, 'entity').map(({ input }) => input));
  for (const { id, name, location } of recordsOf(document, 'input')) {
    // The mapping has no logical source of an input that nothing is made of.
    if (!read.has(id) && !document.text.anchors.has(id)) continue;
    if (location.kind === 'table' || location.kind === 'query') continue;
    const source = location.kind === 'file' ? location.path : location.url;
    if (found.has(source)) continue;
    const directory = location.kind === 'file' ? (location.directory ?? directoryOf(mapping)) : undefined;
    const place = directory === undefined || directory === 'working-directory' ? source : below(directory, source);
    found.set(source, { source, name, location: place });
  }
  return [...found.values()];
}

const directoryOf = (file: string): string => file.slice(0, file.lastIndexOf('/') + 1);

const below = (directory: string, path: string): string =>
  /^(\/|[a-z][a-z\d+.-]*:)/i.test(path) || directory === '' ? path : `${directory.replace(/\/$/, '')}/${path}`;

/**
 * @param locations by source; a source that is missing is where the mapping says
 * @param dataset of which the run makes a version; undefined: none
 */
export const processRequest = (
  inputs: readonly RunInput[],
  locations: Readonly<Record<string, string>>,
  mapping: string,
  dataset?: string,
): ProcessRequest => ({
  inputFileURL: inputs.map(({ source, location }) => locations[source]?.trim() ?? location),
  logicalSource: inputs.map(({ source }) => source),
  mappingURL: mapping,
  ...(dataset !== undefined && { dataset }),
});
