/** `/openapi.json`, generated from the table of routes. @see https://spec.openapis.org/oas/v3.1.1.html */
import { VERSION } from '../src/config/version.ts';
import { PROBLEM_TYPE } from './problem.ts';
import type { MountedRoute, Parameter, ReplyDescription, Route, SchemaLike } from './route.ts';
import { SCHEMAS } from './schemas.ts';

/** `mounted` is called for each request, because this route is one of the mounted routes. */
export function openApiRoute(mounted: () => readonly MountedRoute[]): Route {
  return {
    method: 'GET',
    path: '/openapi.json',
    role: undefined,
    summary: 'This interface as an OpenAPI document',
    replies: { 200: { description: 'The document', schema: { type: 'object' } } },
    handle: async () => ({ status: 200, body: openApiDocument(mounted()) }),
  };
}

function openApiDocument(mounted: readonly MountedRoute[]): Readonly<Record<string, unknown>> {
  const paths: Record<string, Record<string, unknown>> = {};
  for (const one of mounted) {
    const path = (paths[one.prefix + one.route.path] ??= {});
    path[one.route.method.toLowerCase()] = operationOf(one);
  }
  return {
    openapi: '3.1.0',
    info: { title: 'Quadmill', version: VERSION, description: 'Turns files into knowledge graphs, by declarative RDF mappings' },
    paths,
    components: { schemas: SCHEMAS, securitySchemes: { token: { type: 'http', scheme: 'bearer' } } },
  };
}

function operationOf({ route, service, prefix }: MountedRoute): Readonly<Record<string, unknown>> {
  const { method, path, role, summary, parameters, body, replies } = route;
  const name = path.replace(/[{}]/g, '').split('/').filter(Boolean).join('-');
  return {
    operationId: [method.toLowerCase(), prefix === '' ? undefined : service, name].filter((part) => part !== undefined).join('-'),
    summary,
    tags: [service ?? 'operators'],
    ...(role === undefined ? {} : { description: `Needs the role ${role} where tokens are in use.`, security: [{ token: [] }] }),
    ...(parameters === undefined ? {} : { parameters: parameters.map(parameterOf) }),
    ...(body === undefined ? {} : { requestBody: { required: body.required, content: contentOf(body.type, body.schema) } }),
    responses: {
      ...Object.fromEntries(Object.entries(replies).map(([status, reply]) => [status, responseOf(reply)])),
      default: { description: 'The problem', content: { [PROBLEM_TYPE]: { schema: schemaOf('Problem') } } },
    },
  };
}

function parameterOf({ schema, required, ...rest }: Parameter): Readonly<Record<string, unknown>> {
  return { ...rest, required: required ?? false, schema: schemaOf(schema ?? { type: 'string' }) };
}

function responseOf({ description, type, schema, texts = [] }: ReplyDescription): Readonly<Record<string, unknown>> {
  if (schema === undefined) return { description };
  return { description, content: { ...contentOf(type ?? 'application/json', schema), ...contentOf(texts, { type: 'string' }) } };
}

/** The same schema for each media type. */
const contentOf = (types: string | readonly string[], schema: SchemaLike): Readonly<Record<string, unknown>> =>
  Object.fromEntries([types].flat().map((type) => [type, { schema: schemaOf(schema) }]));

/** A name becomes a reference, also as the items of an array one level down. */
function schemaOf(schema: SchemaLike): unknown {
  if (typeof schema === 'string') return { $ref: `#/components/schemas/${schema}` };
  return JSON.parse(JSON.stringify(schema), (key, value) =>
    key === 'items' && typeof value === 'string' ? schemaOf(value) : value,
  ) as unknown;
}
