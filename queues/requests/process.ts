/** The request of `/process`: from a JSON body or a query to inputs, sources and mapping, each checked. */
import { Fault } from '../../src/core/fault.ts';
import { nearest } from '../../src/core/nearest.ts';

export interface ProcessRequest {
  readonly inputs: readonly string[];
  /** One for each input; undefined when the request names none. */
  readonly sources: readonly string[] | undefined;
  readonly mapping: string | undefined;
}

/** A field and the spellings under which it may come. */
const FIELDS = {
  inputs: ['inputFileURL', 'inputFileURLs'],
  sources: ['logicalSource', 'logicalSources'],
  mapping: ['mappingURL'],
} as const;
/** The graph writer has one field, known by another name in a query than in a body; each is taken in both. */
const WRITER_FIELD = ['inputFileURL', 'inputFileURLs', 'inputRdfURL', 'inputRdfURLs'] as const;

/** Raw values by field name as given. */
export type FieldValues = ReadonlyMap<string, unknown>;

/** @throws Fault request/invalid — not an object */
export function fieldsOfBody(body: unknown): FieldValues {
  if (body === undefined) throw new Fault('request/invalid', 'The request body is empty; a JSON object with inputFileURL was expected');
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    const kind = body === null ? 'null' : Array.isArray(body) ? 'an array' : `a ${typeof body}`;
    throw new Fault('request/invalid', `The request body is ${kind}; a JSON object with inputFileURL was expected`);
  }
  return new Map(Object.entries(body));
}

/** A repeated parameter is an array. */
export function fieldsOfQuery(query: URLSearchParams): FieldValues {
  return new Map([...new Set(query.keys())].map((name) => [name, query.getAll(name)]));
}

/**
 * Checks the fields and pairs inputs with sources by position. Fields of other names are left alone, unless they look like
 * a misspelt one of these.
 *
 * @throws Fault request/invalid — a missing field, a wrong type, an empty text, arrays of different length
 */
export function readProcessRequest(fields: FieldValues): ProcessRequest {
  refuseMisspelt(fields, Object.values(FIELDS).flat());
  const inputs = textsOf(fields, FIELDS.inputs);
  const sources = textsOf(fields, FIELDS.sources);
  const mappings = textsOf(fields, FIELDS.mapping);
  if (inputs === undefined) throw new Fault('request/invalid', 'inputFileURL is missing: the URL of the input file, or an array of them');
  if (mappings !== undefined && mappings.length > 1) {
    throw new Fault('request/invalid', `mappingURL is given ${mappings.length} times: one mapping file or directory was expected`);
  }
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
  return { inputs, sources, mapping: mappings?.[0] };
}

/** The files that a request to the graph writer names. @throws Fault request/invalid */
export function readWriteInputs(fields: FieldValues): readonly string[] {
  refuseMisspelt(fields, WRITER_FIELD);
  const inputs = textsOf(fields, WRITER_FIELD);
  if (inputs === undefined) {
    throw new Fault(
      'request/invalid',
      'inputFileURL (inputRdfURL in a query) is missing: the URL of a file of N-Quads, or an array of them',
    );
  }
  return inputs;
}

/** The texts of a field in order; undefined when it is absent (JSON null counts as absent). */
function textsOf(fields: FieldValues, spellings: readonly string[]): readonly string[] | undefined {
  const given = spellings.filter((name) => fields.get(name) !== undefined && fields.get(name) !== null);
  const [name] = given;
  if (name === undefined) return undefined;
  if (given.length > 1) throw new Fault('request/invalid', `${given.join(' and ')} are the same field in two spellings: give one of them`);
  const value = fields.get(name);
  const texts: readonly unknown[] = Array.isArray(value) ? value : [value];
  if (texts.length === 0) throw new Fault('request/invalid', `${name} is an empty array`);
  return texts.map((text, i) => {
    const place = Array.isArray(value) && texts.length > 1 ? `${name}, entry ${i + 1},` : name;
    if (typeof text !== 'string')
      throw new Fault('request/invalid', `${place} is ${text === null ? 'null' : typeof text}, a string was expected`);
    if (text.trim() === '') throw new Fault('request/invalid', `${place} is empty`);
    if (text.includes('\0')) throw new Fault('request/invalid', `${place} has a NUL character`);
    return text;
  });
}

function refuseMisspelt(fields: FieldValues, names: readonly string[]): void {
  for (const name of fields.keys()) {
    if (names.includes(name)) continue;
    const meant = names.find((one) => one.toLowerCase() === name.toLowerCase()) ?? nearest(name, names, 1)[0];
    if (meant !== undefined)
      throw new Fault('request/invalid', `There is no field ${JSON.stringify(name)}`, { hint: `Did you mean ${meant}?` });
  }
}
