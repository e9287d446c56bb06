/** The fields of a run request by HTTP or message: the schemas shown in `/openapi.json`, with which `process.ts` validates. */
import { type FieldsSchema, NO_NUL, NOT_BLANK } from '../../src/core/schema.ts';
import { DATASET_NAME } from '../../src/core/text.ts';
import { WRITE_MODES } from '../../src/targets/target.ts';

/** Text that is not blank. Array keywords may follow, so that one schema describes both. */
const TEXT = { type: 'string', allOf: [{ pattern: NOT_BLANK }, { pattern: NO_NUL }] } as const;
const TEXTS = { ...TEXT, type: ['string', 'array'], items: TEXT, minItems: 1 } as const;

/** Null counts as absent. */
const optional = <S extends { readonly type: readonly string[] }>(schema: S) => ({ ...schema, type: [...schema.type, 'null'] }) as const;

const DATASET = {
  ...optional({ type: ['string'], pattern: DATASET_NAME.source } as const),
  description: 'The dataset of which the run makes a version; left out: DATASET',
} as const;

/** For the semi-structured transformer. */
export const PROCESS_REQUEST = {
  type: 'object',
  description: 'inputFileURLs and logicalSources are other spellings',
  properties: {
    inputFileURL: { ...TEXTS, description: 'The URL of the input file, or an array of them', 'x-also': ['inputFileURLs'] },
    logicalSource: {
      ...optional(TEXTS),
      description: 'Logical source of the mapping; the n-th belongs to the n-th input file',
      'x-also': ['logicalSources'],
    },
    mappingURL: {
      ...optional({ ...TEXTS, maxItems: 1 }),
      description: 'Mapping file or directory; left out: every .ttl, .yml, .yaml and .yarrrml of MAPPINGS_DIR_URL',
    },
    dataset: DATASET,
  },
  required: ['inputFileURL'],
  'x-misspelt': 'refused',
} as const satisfies FieldsSchema;

/** For the SQL transformer: its database and mapping are options. */
export const SQL_REQUEST = { type: 'object', properties: { dataset: DATASET } } as const satisfies FieldsSchema;

const FILES = {
  ...TEXTS,
  description: 'The URL of a file of N-Quads, or of a directory of parts with _SUCCESS, or an array of them',
} as const;

const WRITE_MODE = {
  type: 'string',
  enum: WRITE_MODES,
  description: 'Whether statements are added, or replace those of the target within UPDATE_SCOPE; left out: WRITE_MODE',
} as const;

const GRAPHS = {
  ...optional(TEXTS),
  examples: [['http://example.org/graph']],
  description:
    'For an update of whole graphs: the IRIs of graphs for which the files stand, also if they have no statement of them; `default` is the default graph. Left out: UPDATE_GRAPHS',
} as const;

const WRITTEN_DATASET = {
  ...DATASET,
  description: 'In place of files: the dataset of which the versions that the target lacks are written',
} as const;

const RESYNC = {
  ...optional({ type: ['boolean'] } as const),
  description: 'With a dataset: makes the graphs of the target equal to its newest version, whatever others have changed there',
} as const;

/** For the graph writer. */
export const WRITE_REQUEST = {
  type: 'object',
  description: 'Files or a dataset. inputFileURLs, inputRdfURL and inputRdfURLs are other spellings',
  properties: { inputFileURL: { ...FILES, 'x-also': ['inputFileURLs', 'inputRdfURL', 'inputRdfURLs'] }, dataset: WRITTEN_DATASET },
  'x-misspelt': 'refused',
} as const satisfies FieldsSchema;

/** By HTTP, where a request may choose the mode, and name graphs. */
export const WRITE_BODY = {
  ...WRITE_REQUEST,
  properties: { ...WRITE_REQUEST.properties, resync: RESYNC, mode: WRITE_MODE, graphs: GRAPHS },
} as const satisfies FieldsSchema;

/** The same as query parameters, where the field has another name first. */
export const WRITE_QUERY = {
  type: 'object',
  properties: {
    inputRdfURL: { ...FILES, 'x-also': ['inputRdfURLs', 'inputFileURL', 'inputFileURLs'] },
    dataset: WRITTEN_DATASET,
    resync: RESYNC,
    mode: WRITE_MODE,
    graphs: GRAPHS,
  },
  'x-misspelt': 'refused',
} as const satisfies FieldsSchema;
