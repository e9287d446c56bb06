/** What a request gives a route: parameters and JSON body, checked by the schemas of its row, which `/openapi.json` shows. */
import type { IncomingMessage } from 'node:http';
import { BODY } from '../queues/requests/process.ts';
import { Fault } from '../src/core/fault.ts';
import { type Fields, type FieldsSchema, fieldReader, type Schema, spellingsOf, typesOf } from '../src/core/schema.ts';
import { readJsonBody } from './body.ts';
import type { Parameter, Route, SchemaLike } from './route.ts';
import { SCHEMAS } from './schemas.ts';

/** What a request brings, before it is read. */
export interface Given {
  readonly query: URLSearchParams;
  readonly params: Readonly<Record<string, string>>;
  readonly request: IncomingMessage;
}

export interface Input {
  /** The parameters of a request by name, with defaults; what is not given is not there. @throws Fault request/invalid */
  readonly parameters: (given: Given) => Fields;
  /**
   * The fields of the JSON body; undefined: there is none, and none is needed.
   *
   * @throws Fault as `readJsonBody`; request/invalid
   */
  readonly body: (request: IncomingMessage, limitBytes: number) => Promise<Fields | undefined>;
}

/** Compiles the schemas of a route, once. */
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

/** A schema itself, without names of others. */
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
      // Of what is not known, the name may be a known one misspelt.
      values[name] = schema === undefined ? '' : valueOf(name, query.getAll(name), schema);
    }
    for (const { name, in: place } of parameters) {
      if (place === 'path') values[name] = params[name];
      if (place === 'header') values[name] = headerOf(request, name);
    }
    return read(values);
  };
}

const namesOf = ({ name, schema }: Parameter): readonly string[] => [
  name,
  ...(schema === undefined || typeof schema === 'string' ? [] : spellingsOf(schema)),
];

/** Texts of a query as the type that a schema takes, where they are of it. @throws Fault request/invalid — several, and one is taken */
function valueOf(name: string, texts: readonly string[], schema: Schema): unknown {
  const types = typesOf(schema);
  const [text = ''] = texts;
  if (types.includes('array')) return texts.length === 1 && types.includes('string') ? text : texts;
  if (texts.length > 1) throw new Fault('request/invalid', `The parameter ${name} is given ${texts.length} times, once was expected`);
  if (types.includes('integer') && /^-?\d{1,15}$/.test(text)) return Number(text);
  const word = text.trim().toLowerCase();
  return types.includes('boolean') && (word === 'true' || word === 'false') ? word === 'true' : text;
}

/** A header is a text, or the same in quotes. */
function headerOf({ headers }: IncomingMessage, name: string): string | undefined {
  const value = headers[name.toLowerCase()];
  return value === undefined
    ? undefined
    : String(value)
        .trim()
        .replace(/^"(.*)"$/, '$1');
}

/** A parameter that is not known is mostly the rest of a value whose `&` was not encoded. Its name is not repeated: it may be the end of a password. */
function refuseUnknown(query: URLSearchParams, parameters: readonly Parameter[]): void {
  const names = parameters.filter(({ in: place }) => place === 'query').map(({ name }) => name);
  if ([...query.keys()].every((name) => names.includes(name))) return;
  throw new Fault('request/invalid', `The request has a parameter that this route does not know; it takes ${names.join(', ')}`, {
    hint: 'Inside of a value, & is written %26, + is written %2B and # is written %23',
  });
}
