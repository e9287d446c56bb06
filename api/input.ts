/** The input of a request to a route: parameters and JSON body, validated by the schemas of the route, which `/openapi.json` shows. */
import type { IncomingMessage } from 'node:http';
import { BODY } from '../queues/requests/process.ts';
import { Fault } from '../src/core/fault.ts';
import { type Fields, type FieldsSchema, fieldReader, type Schema, spellingsOf, typesOf } from '../src/core/schema.ts';
import { readJsonBody } from './body.ts';
import type { Parameter, Route, SchemaLike } from './route.ts';
import { SCHEMAS } from './schemas.ts';

/** The raw request. */
export interface Given {
  readonly query: URLSearchParams;
  readonly params: Readonly<Record<string, string>>;
  readonly request: IncomingMessage;
}

export interface Input {
  /** The parameters of a request by name, with defaults; missing ones are absent. @throws Fault request/invalid */
  readonly parameters: (given: Given) => Fields;
  /**
   * The fields of the JSON body; undefined: no body, and none is required.
   *
   * @throws Fault as `readJsonBody`; request/invalid
   */
  readonly body: (request: IncomingMessage, limitBytes: number) => Promise<Fields | undefined>;
}

/** Compiles the schemas of a route once. */
export function inputOf({ parameters = [], unknownParameters, misspelt, body }: Route): Input {
  const read = parameters.length === 0 ? () => ({}) : parameterReader(parameters, misspelt);
  const readBody = body?.type === 'application/json' ? fieldReader(resolved(body.schema) as FieldsSchema, BODY) : undefined;
  return {
    parameters: (given) => {
      if (unknownParameters === 'refused') refuseUnknown(given.query, parameters);
      return read(given);
    },
    body: async (request, limitBytes) => {
      if (readBody === undefined) throw new Error('this route has no JSON body');
      const value = await readJsonBody(request, limitBytes);
      return value === undefined && body?.required !== true ? undefined : readBody(value);
    },
  };
}

/** The schema itself, with all references resolved. */
const resolved = (schema: SchemaLike): Schema => (typeof schema === 'string' ? SCHEMAS[schema as keyof typeof SCHEMAS] : schema);

const TEXT = { type: 'string' } as const;

function parameterReader(parameters: readonly Parameter[], misspelt: 'refused' | undefined): (given: Given) => Fields {
  const schemaOf = ({ description, schema }: Parameter): Schema => ({ ...resolved(schema ?? TEXT), description });
  const places = new Map(parameters.map(({ name, in: place }) => [name, place]));
  const read = fieldReader(
    {
      type: 'object',
      properties: Object.fromEntries(parameters.map((parameter) => [parameter.name, schemaOf(parameter)])),
      required: parameters.filter(({ required }) => required).map(({ name }) => name),
      ...(misspelt === undefined ? {} : { 'x-misspelt': misspelt }),
    },
    {
      whole: 'The request',
      field: (name) => `The ${places.get(name) === 'header' ? 'header' : 'parameter'} ${name}`,
    },
  );
  const schemas = new Map(parameters.flatMap((parameter) => namesOf(parameter).map((name) => [name, schemaOf(parameter)])));
  return ({ query, params, request }) => {
    const values: Record<string, unknown> = {};
    for (const name of new Set(query.keys())) {
      const schema = places.get(name) === 'header' ? undefined : schemas.get(name);
      // An unknown name may be a misspelt known one.
      values[name] = schema === undefined ? '' : valueOf(name, query.getAll(name), schema);
    }
    for (const { name, in: place } of parameters) {
      if (place === 'path') values[name] = valueOf(name, [params[name] ?? ''], schemas.get(name) as Schema);
      if (place === 'header') values[name] = headerOf(request, name);
    }
    return read(values);
  };
}

const namesOf = ({ name, schema }: Parameter): readonly string[] => [
  name,
  ...(schema === undefined || typeof schema === 'string' ? [] : spellingsOf(schema)),
];

/**
 * Converts query texts to the type of the schema, where they have that type. @throws Fault request/invalid — several values where one is
 * expected
 */
function valueOf(name: string, texts: readonly string[], schema: Schema): unknown {
  const types = typesOf(schema);
  const [text = ''] = texts;
  if (types.includes('array')) return texts.length === 1 && types.includes('string') ? text : texts;
  if (texts.length > 1) throw new Fault('request/invalid', `The parameter ${name} is given ${texts.length} times, once was expected`);
  if (types.includes('integer') && /^-?\d{1,15}$/.test(text)) return Number(text);
  const word = text.trim().toLowerCase();
  return types.includes('boolean') && (word === 'true' || word === 'false') ? word === 'true' : text;
}

/** A header is a text, possibly quoted. */
function headerOf({ headers }: IncomingMessage, name: string): string | undefined {
  const value = headers[name.toLowerCase()];
  return value === undefined
    ? undefined
    : String(value)
        .trim()
        .replace(/^"(.*)"$/, '$1');
}

/**
 * An unknown parameter is usually the rest of a value whose `&` was not encoded. Its name is not repeated: it may be the end of a password.
 */
function refuseUnknown(query: URLSearchParams, parameters: readonly Parameter[]): void {
  const names = parameters.filter(({ in: place }) => place === 'query').map(({ name }) => name);
  if ([...query.keys()].every((name) => names.includes(name))) return;
  throw new Fault('request/invalid', `The request has a parameter that this route does not know; it takes ${names.join(', ')}`, {
    hint: 'Inside of a value, & is written %26, + is written %2B and # is written %23',
  });
}
