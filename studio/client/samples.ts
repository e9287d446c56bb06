/** What the service reads of the beginning of an input. */
import type { StudioField, StudioSample, StudioSampleRequest } from '../../client/types.ts';
import type { NewInput } from '../core/commands/elements/inputs.ts';
import type { Input, Language, Location, Step } from '../core/document.ts';
import type { FieldSample, SchemaField } from '../core/elements/schema.ts';
import { isEmptyWithoutQuotes } from '../core/empty-texts.ts';
import { pathKey } from '../core/levels.ts';
import { formatRead } from '../core/read/inputs.ts';
import type { ModelOrigin } from './drafts.ts';
import { openService, type Told, toldOf, troubleOf } from './service.ts';

export interface Sample {
  readonly fields: readonly SchemaField[];
  /** Of lists, by the keys of their paths: items of the longest one. */
  readonly longest: ReadonlyMap<string, number>;
  /** Of single lists and objects, by the keys of their paths with indices: the number of items, or that it is an object. Absent: not read. */
  readonly single?: ReadonlyMap<string, number | 'object'>;
  /** Of lists and objects, by the keys of their paths: those of which not all single ones are known. */
  readonly singleCut: ReadonlySet<string>;
  /** Of lists, by the keys of their paths with indices: positions behind the first items that were looked up. */
  readonly lookedUp: ReadonlyMap<string, readonly number[]>;
  readonly records: number;
  readonly bytesRead: number;
  /** Of the whole input, where that is known. */
  readonly ofBytes?: number;
  /** Everything was read. */
  readonly complete: boolean;
  readonly warnings: readonly string[];
  /** What is wrong behind what was read. */
  readonly fault?: Told;
  /** Of a workbook: the names of its sheets. */
  readonly sheets?: readonly string[];
  /** Of CSV, where it is no comma. */
  readonly delimiter?: string;
  /** Of CSV, where it is not that of the delimiter. Empty: none. */
  readonly quote?: string;
  /** Of XML: by the prefixes of the fields, without those that the input declares. */
  readonly namespaces: Readonly<Record<string, string>>;
}

/** The part of a model that determines how its inputs are read. */
export interface ModelContext {
  /** It says what an empty cell is. */
  readonly language: Language;
  /** The transformer in whose mapping directory the model is. */
  readonly service: ModelOrigin['service'];
}

type SampledInput = Pick<Input, 'location' | 'format' | 'dialect'> & Partial<Pick<Input, 'grouped' | 'namespaces' | 'nulls'>>;

/**
 * The first records of an input, or more of it.
 *
 * @throws ProblemError — it cannot be read; 403 to viewers
 */
export async function readSample(
  { location, format, dialect, grouped = true, namespaces: own = {}, nulls = [] }: SampledInput,
  { language, service: mappings }: ModelContext,
  deeper: boolean,
  signal: AbortSignal,
): Promise<Sample> {
  const { delimiter, quote, encoding } = dialect ?? {};
  const request = {
    ...sampleLocation(location),
    ...(location.kind === 'file' && location.directory === undefined && { mappings }),
    ...(format !== 'sql' && { format: formatRead(sampleLocation(location).location, format) }),
    ...(delimiter !== undefined && { delimiter }),
    ...(quote !== undefined && { quote }),
    ...(encoding !== undefined && { encoding }),
    ...(deeper && { deeper }),
    nulls,
    ...(isEmptyWithoutQuotes(language, { location, format }) && { legacy: true }),
    ...(!grouped && { items: true }),
  };
  return sampleOf(await openService().studio.sample(request, { signal }), { namespaces: own, grouped });
}

/** What the service has read, as it is shown. */
export function sampleOf(read: StudioSample, { namespaces, grouped }: Pick<Input, 'namespaces' | 'grouped'>): Sample {
  const answer = fromRoot(withOwnPrefixes(read, namespaces));
  const lists = answer.fields.flatMap(({ path, longest }) => (longest === undefined ? [] : [[pathKey(path), longest] as const]));
  const outermost = answer.fields.find(({ path }) => path.some(isEach))?.path ?? [];
  // The list of the records is not always a field: the root of a document is none.
  lists.push([pathKey(outermost.slice(0, Math.max(0, outermost.findIndex(isEach)))), answer.records]);
  const { fault, ...rest } = answer;
  return {
    ...rest,
    fields: answer.fields.map(fieldOf),
    longest: new Map(lists),
    ...(!grouped && { single: singleOf(answer) }),
    singleCut: new Set(answer.fields.flatMap(({ path, single = [] }) => (single.length < MOST_SINGLE ? [] : [pathKey(path)]))),
    lookedUp: new Map(),
    ...(fault !== undefined && { fault: toldOf(fault) }),
  };
}

const singleOf = ({ fields }: StudioSample): ReadonlyMap<string, number | 'object'> =>
  new Map(
    fields.flatMap(({ path, single = [] }) =>
      single.map(({ at, items = 'object' as const }) => [pathKey(placed(path, at)), items] as const),
    ),
  );

/** The service lists no more of one field. */
const MOST_SINGLE = 400;

/** A path with positions in its lists. */
function placed(path: readonly Step[], at: readonly number[]): readonly Step[] {
  let list = 0;
  return path.map((step) => {
    const index = isEach(step) ? at[list++] : undefined;
    return index === undefined ? step : { index };
  });
}

/** JSON Lines are one list: the paths of what the service lists from a record on begin with its items. */
function fromRoot(answer: StudioSample): StudioSample {
  if (answer.format !== 'jsonl') return answer;
  const each = { each: true } as const;
  const [first] = answer.fields;
  // Where each line is a value, the service lists no field.
  const holds = first === undefined ? 'value' : isEach(first.path[0] as Step) ? 'list' : 'object';
  const record: StudioField = { path: [each], holds };
  return { ...answer, fields: [record, ...answer.fields.map((field) => ({ ...field, path: [each, ...field.path] }))] };
}

/** Names have the prefixes that the input declares for their namespaces. Others get none that means something else there. */
function withOwnPrefixes(answer: StudioSample, own: Readonly<Record<string, string>>): StudioSample {
  const declared = new Map(Object.entries(own).map(([name, iri]) => [iri, name]));
  const renamed = new Map<string, string>();
  const namespaces: Record<string, string> = {};
  for (const [name, iri] of Object.entries(answer.namespaces)) {
    let free = declared.get(iri) ?? name;
    if (!declared.has(iri)) for (let i = 2; own[free] !== undefined || namespaces[free] !== undefined; i++) free = `${name}${i}`;
    if (!declared.has(iri)) namespaces[free] = iri;
    renamed.set(name, free);
  }
  const nameOf = (name: string): string => name.replace(/^[^:]+(?=:)/, (prefix) => renamed.get(prefix) ?? prefix);
  const stepOf = (step: StudioField['path'][number]): StudioField['path'][number] =>
    'name' in step ? { name: nameOf(step.name) } : 'attribute' in step ? { attribute: nameOf(step.attribute) } : step;
  if ([...renamed].every(([name, next]) => name === next)) return { ...answer, namespaces };
  return { ...answer, namespaces, fields: answer.fields.map((field) => ({ ...field, path: field.path.map(stepOf) })) };
}

/**
 * An input with what its beginning shows, and a mapping must say: the delimiter and the quote of CSV, and the namespaces of XML. One that cannot be read
 * stays as it is: the reason is shown in place of its fields.
 */
export async function withFound<I extends SampledInput & Pick<NewInput, 'namespaces'>>(
  input: I,
  model: ModelContext,
  signal: AbortSignal,
): Promise<I> {
  const { format, dialect, namespaces: own } = input;
  const { delimiter: declared, quote: declaredQuote } = dialect ?? {};
  // Where tabs separate cells, the header shows whether there are quotes.
  const isOpen =
    format === 'csv' ? declared === undefined || (declared === '\t' && declaredQuote === undefined) : format === 'xml' && own === undefined;
  if (!isOpen) return input;
  try {
    const { delimiter, quote, namespaces } = await readSample(input, model, false, signal);
    if (format === 'xml') return Object.keys(namespaces).length === 0 ? input : { ...input, namespaces };
    const found = { ...(delimiter !== undefined && { delimiter }), ...(quote !== undefined && { quote }), ...dialect };
    return Object.keys(found).length === 0 ? input : { ...input, dialect: found };
  } catch (error) {
    // It was given up.
    if (troubleOf(error) === undefined) throw error;
    return input;
  }
}

/** Whether the service reads samples of it: of databases, of the one of its options alone. */
export const hasSample = ({ location }: Pick<Input, 'location'>): boolean =>
  (location.kind !== 'table' && location.kind !== 'query') || location.database === undefined;

const isEach = (step: Step): boolean => 'each' in step;

export function sampleLocation(location: Location): Pick<StudioSampleRequest, 'location' | 'of'> {
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
  const { absent, nulls, kind, objects, values: count, distinct, isDistinctCut, examples, items } = values;
  const single = items && { items: new Map(items.map(({ at, value }) => [at.join('.'), value])) };
  const sample: FieldSample = { kind, objects, values: count, missing: absent + nulls, distinct, isDistinctCut, examples, ...single };
  return { path, holds, sample };
}
