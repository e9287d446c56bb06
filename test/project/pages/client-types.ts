/** `client/types.ts`, made of the schemas of `/openapi.json`. */
import { SCHEMAS } from '../../../api/schemas.ts';

type Schema = Readonly<Record<string, unknown>>;

export function clientTypes(): string {
  const types = Object.entries(SCHEMAS as Readonly<Record<string, Schema>>).map(
    ([name, schema]) => `export type ${name} = ${typeOf(schema)};\n`,
  );
  return `/** Bodies of requests and answers. Made by \`npm run docs\` from the schemas of \`/openapi.json\`. */\n\n${types.join('\n')}`;
}

/** @throws Error — a keyword that says more than this knows */
function typeOf(schema: Schema): string {
  const { $ref, const: constant, enum: values, oneOf, type } = schema;
  if (typeof $ref === 'string') return $ref.replace('#/components/schemas/', '');
  if (constant !== undefined) return JSON.stringify(constant);
  if (Array.isArray(values)) return values.map((value) => JSON.stringify(value)).join(' | ');
  if (Array.isArray(oneOf)) return oneOf.map((one) => typeOf(one as Schema)).join(' | ');
  return [type]
    .flat()
    .map((one) => typeNamed(one, schema))
    .join(' | ');
}

function typeNamed(type: unknown, schema: Schema): string {
  switch (type) {
    case 'string':
    case 'boolean':
    case 'number':
    case 'null':
      return type;
    case 'integer':
      return 'number';
    case 'array':
      return `ReadonlyArray<${typeOf(schema.items as Schema)}>`;
    case 'object':
      return objectOf(schema);
    default:
      throw new Error(`No type for ${JSON.stringify(schema)}`);
  }
}

function objectOf({ properties, required = [], additionalProperties }: Schema): string {
  if (properties === undefined && additionalProperties === undefined) return 'Readonly<Record<string, unknown>>';
  if (properties === undefined) return `Readonly<Record<string, ${typeOf(additionalProperties as Schema)}>>`;
  const fields = Object.entries(properties as Readonly<Record<string, Schema>>).map(([name, schema]) => {
    const comment = schema.description === undefined ? '' : `/** ${String(schema.description)} */\n`;
    const optional = (required as readonly string[]).includes(name) ? '' : '?';
    return `${comment}readonly ${name}${optional}: ${typeOf(schema)};`.replaceAll('\n', '\n  ');
  });
  return fields.length === 0 ? '{}' : `{\n  ${fields.join('\n  ')}\n}`;
}
