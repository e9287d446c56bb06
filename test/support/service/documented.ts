/** Answers of a service, compared with what its `/openapi.json` says of them. */
import { Ajv2020 } from 'ajv/dist/2020.js';

export interface OpenApi {
  readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly responses: Readonly<Record<string, Described>> }>>>>;
}
interface Described {
  readonly content?: Readonly<Record<string, { readonly schema: object }>>;
}

/** @returns for an answer, what of it the document does not have: nothing, if they agree */
export function differencesFrom(document: OpenApi): (method: string, url: string, response: Response) => Promise<readonly unknown[]> {
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  ajv.addSchema(document, 'openapi');
  const names = Object.keys(document.paths);
  return async (method, url, response) => {
    const asked = new URL(url).pathname;
    const path = names.find((name) => new RegExp(`^${name.replace(/\{\w+\}/g, '[^/]+')}$`).test(asked)) ?? '';
    const { responses = {} } = document.paths[path]?.[method.toLowerCase()] ?? {};
    const type = (response.headers.get('content-type') ?? '').replace(/;.*/, '');
    const described = type === 'application/problem+json' ? responses.default : responses[response.status];
    const schema = described?.content?.[type]?.schema;
    if (described === undefined || (schema === undefined && type !== '')) return [[method, asked, response.status, type]];
    if (schema === undefined || !type.endsWith('json')) return [];
    const validate = ajv.compile(JSON.parse(JSON.stringify(schema).replaceAll('"#/', '"openapi#/')) as object);
    return validate(await response.clone().json()) ? [] : [[method, asked, response.status, validate.errors]];
  };
}
