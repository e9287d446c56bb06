/** Requests made from the schemas that `/openapi.json` shows: what a schema takes the route takes, and what it does not is refused. */
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Validator } from '@seriousme/openapi-schema-validator';
import { mountRoutes } from '../../api/app.ts';
import type { Api, Parameter, SchemaLike } from '../../api/route.ts';
import { SCHEMAS } from '../../api/schemas.ts';
import type { FieldsSchema, Schema } from '../../src/core/schema.ts';
import { type FakeApi, startFakeApi, successReport } from '../support/service/fake.ts';

let directory: string;
let api: FakeApi;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'quadmill-schemas-'));
  await mkdir(join(directory, 'mappings', 'semi-structured-transformer'), { recursive: true });
  api = await startFakeApi({ DATA_DIR: directory, DB_CONNECT_SECONDS: 1 });
  api.runs.ends((id) => ({ state: 'completed', report: successReport(id) }));
});
afterAll(async () => {
  await api.close();
  await rm(directory, { recursive: true, force: true });
});

const resolved = (schema: SchemaLike = { type: 'string' }): Schema =>
  typeof schema === 'string' ? (SCHEMAS[schema as keyof typeof SCHEMAS] as Schema) : schema;
const typesOf = ({ type }: Schema): readonly string[] => [type].flat() as string[];

/** A value that the schema takes. */
function sampleOf(schema: Schema): unknown {
  if (Array.isArray(schema.examples)) return schema.examples[0];
  if (Array.isArray(schema.enum)) return schema.enum[0];
  const [type] = typesOf(schema);
  if (type === 'array') return [sampleOf(schema.items as Schema)];
  if (type === 'object') return objectOf(schema);
  if (type === 'integer') return schema.minimum ?? 1;
  return type === 'boolean' ? true : 'sample';
}

/** With what it requires. */
const objectOf = ({ properties = {}, required = [] }: Partial<FieldsSchema>): Readonly<Record<string, unknown>> =>
  Object.fromEntries(required.map((name) => [name, sampleOf(properties[name] as Schema)]));

/** Values that a keyword of the schema refuses. A query and a header can only carry text. */
const VIOLATIONS: Readonly<Record<string, (schema: Schema, body: boolean) => readonly unknown[]>> = {
  type: (schema, body) => {
    const types = typesOf(schema);
    const wrong = [
      types.includes('object') ? [] : { a: 1 },
      ...(types.includes('number') ? [] : types.includes('integer') ? [1.5] : [7]),
      ...(types.includes('boolean') ? [] : [true]),
    ];
    if (body) return wrong;
    return types.includes('string') || types.includes('array') ? [] : ['perhaps', '1.5', ''];
  },
  enum: () => ['none of them'],
  minimum: ({ minimum }) => [(minimum as number) - 1],
  maximum: ({ maximum }) => [(maximum as number) + 1],
  minLength: ({ minLength }) => ['x'.repeat((minLength as number) - 1)],
  maxLength: ({ maxLength }) => ['x'.repeat((maxLength as number) + 1)],
  pattern: ({ pattern }) => [pattern === '\\S' ? ' ' : 'a\0b'],
  minItems: (_, body) => (body ? [[]] : []),
  maxItems: ({ maxItems, ...schema }) => [Array((maxItems as number) + 1).fill(sampleOf(schema))],
  items: ({ items }, body) => violationsOf(items as Schema, body).map(([, value]) => [value]),
  properties: (schema, body) =>
    Object.entries(schema.properties as Readonly<Record<string, Schema>>).flatMap(([name, property]) =>
      violationsOf(property, body).map(([, value]) => ({ ...objectOf(schema), [name]: value })),
    ),
  required: (schema) => (schema.required as readonly string[]).map((name) => ({ ...objectOf(schema), [name]: undefined })),
  additionalProperties: () => [{ a: 7 }],
  allOf: (schema, body) => (schema.allOf as Schema[]).flatMap((one) => violationsOf(one, body).map(([, value]) => value)),
};
/** Keywords that refuse nothing by themselves. */
const ANNOTATIONS = ['description', 'default', 'examples', 'format', 'contentEncoding', 'x-also'];

function violationsOf(schema: Schema, body: boolean): readonly (readonly [keyword: string, value: unknown])[] {
  return Object.keys(schema)
    .filter((keyword) => !ANNOTATIONS.includes(keyword))
    .flatMap((keyword) => {
      const violate = VIOLATIONS[keyword];
      if (violate === undefined) throw new Error(`add a value to this test that the keyword ${keyword} refuses`);
      return violate(schema, body).map((value) => [keyword, value] as const);
    });
}

interface Request {
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly body: unknown;
}

/** Every route with something to check. The routes only look at the rest when they are called. */
const ROUTES = mountRoutes({} as Api, 'all')
  .map(({ route, prefix }) => ({
    name: `${route.method} ${prefix}${route.path}`,
    prefix,
    route,
    parameters: route.parameters ?? [],
    body: route.body?.type === 'application/json' ? (resolved(route.body.schema) as FieldsSchema) : undefined,
  }))
  .filter(({ parameters, body, route }) => (parameters.length > 0 || body !== undefined) && route.path !== '/sparql');
type Case = (typeof ROUTES)[number];

const required = ({ parameters, body }: Case): Request => ({
  parameters: Object.fromEntries(parameters.filter((one) => one.required).map((one) => [one.name, sampleOf(resolved(one.schema))])),
  body: body && Object.fromEntries((body.required ?? []).map((name) => [name, sampleOf(body.properties[name] as Schema)])),
});
const everything = ({ parameters, body }: Case): Request => ({
  parameters: Object.fromEntries(parameters.map((one) => [one.name, sampleOf(resolved(one.schema))])),
  body: body && Object.fromEntries(Object.entries(body.properties).map(([name, schema]) => [name, sampleOf(schema)])),
});

async function send({ route, prefix, parameters }: Case, request: Request) {
  const placed = (place: Parameter['in']): readonly (readonly [string, unknown])[] =>
    parameters
      .filter((one) => one.in === place && request.parameters[one.name] !== undefined)
      .map((one) => [one.name, request.parameters[one.name]]);
  const query = new URLSearchParams(
    placed('query').flatMap(([name, value]) => [value].flat().map((one): [string, string] => [name, String(one)])),
  );
  const path = placed('path').reduce((text, [name, value]) => text.replace(`{${name}}`, String(value)), route.path);
  const response = await fetch(`${api.url}${prefix}${path}?${query}`, {
    method: route.method,
    headers: {
      ...Object.fromEntries(placed('header').map(([name, value]) => [name, String(value)])),
      ...(request.body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(request.body === undefined ? {} : { body: JSON.stringify(request.body) }),
  });
  return { status: response.status, body: JSON.parse((await response.text()) || '{}') as { code?: string; detail?: string } };
}

/** Whether the request was refused for what its schemas say; later checks look for files, hosts and mappings. */
const LATER = /There is no option|update of whole graphs|no mappingURL|no file source|driver|both given|inputFileURL is missing/;
const isRefused = ({ body: { code, detail } }: Awaited<ReturnType<typeof send>>): boolean =>
  code === 'request/invalid' && !LATER.test(String(detail));

test('there are routes to check', () => expect(ROUTES.length).toBeGreaterThan(15));

describe.each(ROUTES.map((one) => [one.name, one] as const))('%s', (_, one) => {
  test('accepts what its schemas require, and everything that they allow', async () => {
    for (const request of [required(one), everything(one)]) {
      const answer = await send(one, request);
      expect([request, answer, isRefused(answer)]).toEqual([request, answer, false]);
    }
  });

  const parameters = one.parameters.flatMap(({ name, schema, in: place }) =>
    // Some values no header can carry, and an empty step is another path.
    violationsOf(resolved(schema), false)
      .filter(([, value]) => place === 'query' || (place === 'header' && value !== undefined))
      .map(([keyword, value]) => [name, keyword, value] as const),
  );
  for (const [name, keyword, value] of parameters) {
    test(`refuses the parameter ${name} that violates ${keyword}: ${JSON.stringify(value)?.slice(0, 40)}`, async () => {
      const request = required(one);
      const answer = await send(one, { ...request, parameters: { ...request.parameters, [name]: value } });
      expect(answer).toMatchObject({ status: 400, body: { code: 'request/invalid', detail: expect.stringContaining(name) } });
    });
  }

  for (const { name, in: place, required: needed, schema } of one.parameters) {
    if (place !== 'query') continue;
    if (needed) {
      test(`refuses to be without ${name}`, async () => {
        const answer = await send(one, { ...required(one), parameters: {} });
        expect(answer).toMatchObject({ status: 400, body: { code: 'request/invalid', detail: expect.stringContaining('is missing') } });
      });
    }
    if (!typesOf(resolved(schema)).includes('array')) {
      test(`refuses ${name} twice`, async () => {
        const request = required(one);
        const sample = sampleOf(resolved(schema));
        const answer = await send(one, { ...request, parameters: { ...request.parameters, [name]: [sample, sample] } });
        expect(answer).toMatchObject({ status: 400, body: { code: 'request/invalid', detail: expect.stringContaining('2 times') } });
      });
    }
  }

  const { body } = one;
  if (body === undefined) return;
  for (const [name, schema] of Object.entries(body.properties)) {
    for (const [keyword, value] of violationsOf(schema, true)) {
      test(`refuses the field ${name} that violates ${keyword}: ${JSON.stringify(value)?.slice(0, 40)}`, async () => {
        const answer = await send(one, { ...required(one), body: { ...(required(one).body as object), [name]: value } });
        expect(answer).toMatchObject({ status: 400, body: { code: 'request/invalid', detail: expect.stringContaining(name) } });
      });
    }
  }
  for (const name of body.required ?? [])
    test(`refuses a body without ${name}`, async () => {
      const answer = await send(one, { ...required(one), body: { ...(required(one).body as object), [name]: undefined } });
      expect(answer).toMatchObject({
        status: 400,
        body: { code: 'request/invalid', detail: expect.stringContaining(`${name} is missing`) },
      });
    });
  test.each([[[]], [7], ['text'], [null]])('refuses the body %j', async (value) => {
    const answer = await send(one, { ...required(one), body: value });
    expect(answer).toMatchObject({ status: 400, body: { code: 'request/invalid', detail: expect.stringContaining('a JSON object with') } });
  });
});

test('/openapi.json is a valid OpenAPI 3.1 document', async () => {
  const document = (await (await fetch(`${api.url}/openapi.json`)).json()) as Record<string, unknown>;
  const validator = new Validator();
  const { valid, errors } = await validator.validate(document);
  expect(errors ?? []).toEqual([]);
  expect([valid, validator.version]).toEqual([true, '3.1']);
  const broken = await new Validator().validate({ ...document, paths: { '/x': { get: { responses: 5 } } } });
  expect(broken.valid).toBe(false);
});
