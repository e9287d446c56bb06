/**
 * JSON Schema (2020-12, the dialect of OpenAPI 3.1) as the check of what comes in. The schema that a document shows is the one that is
 * compiled here, so the two cannot differ; a refusal names the field, what it is, and what it takes.
 */
import { Ajv2020, type ErrorObject } from 'ajv/dist/2020.js';
import { excerpt, Fault } from './fault.ts';
import { nearest } from './nearest.ts';
import { redactText } from './redact.ts';
import { DATASET_NAME, DATASET_NAME_SAYS } from './text.ts';

export type Schema = Readonly<Record<string, unknown>>;

/** Fields of an object that a schema has accepted. */
export type Fields = Readonly<Record<string, unknown>>;

/** A schema of an object with named fields. */
export interface FieldsSchema extends Schema {
  readonly type: 'object';
  readonly properties: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  /** A field whose name is nearly that of a known one is refused; others that are not known are left alone. */
  readonly 'x-misspelt'?: 'refused';
}

/** Of a text that is more than white space. */
export const NOT_BLANK = '\\S';
/** Of a text without NUL, which ends a text on its way to files and databases. */
export const NO_NUL = '^[^\\u0000]*$';
const SAID_OF: Readonly<Record<string, string>> = {
  [NOT_BLANK]: 'is empty',
  [NO_NUL]: 'has a NUL character',
  [DATASET_NAME.source]: `is no name of a dataset: ${DATASET_NAME_SAYS}`,
};

/** What a refusal calls the thing that is checked. */
export interface Subject {
  /** The object as a whole, such as `The request body`. */
  readonly whole: string;
  readonly field: (name: string) => string;
}

const ajv = new Ajv2020({ allowUnionTypes: true, verbose: true, useDefaults: true, formats: { password: true } });
/** `x-also`: other spellings of a field. */
ajv.addVocabulary(['x-also', 'x-misspelt']);

/**
 * A function that checks an object by `schema`, compiled once, and gives its known fields: under their own names, with defaults, without
 * those that are null, which counts as absent.
 *
 * @throws Fault request/invalid — from the function, for the first thing that is wrong
 */
export function fieldReader<T extends object = Fields>(schema: FieldsSchema, subject: Subject): (value: unknown) => T {
  const validate = ajv.compile(schema);
  const names = Object.keys(schema.properties);
  const known = names.flatMap((name) => [name, ...spellingsOf(schema.properties[name])]);
  return (value) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) throw notAnObject(value, schema, subject);
    const spelt = new Map<string, string>();
    const fields: Record<string, unknown> = {};
    for (const name of names) {
      const given = [name, ...spellingsOf(schema.properties[name])].filter((one) => isGiven(value, one));
      if (given.length > 1) throw invalid(`${given.join(' and ')} are the same field in two spellings: give one of them`);
      if (given[0] === undefined) continue;
      spelt.set(name, given[0]);
      fields[name] = (value as Record<string, unknown>)[given[0]];
    }
    const misspelt = (wanted: readonly string[]): Fault | undefined => {
      for (const name of Object.keys(value)) {
        const meant = known.includes(name) ? undefined : nearName(name, wanted);
        if (meant !== undefined) return invalid(`There is no field ${excerpt(name)}`, `Did you mean ${meant}?`);
      }
      return undefined;
    };
    const refused = schema['x-misspelt'] === 'refused' ? misspelt(known) : undefined;
    if (refused !== undefined) throw refused;
    if (validate(fields)) return fields as T;
    const [error] = validate.errors as [ErrorObject];
    if (error.keyword === 'required' && error.instancePath === '')
      throw misspelt([error.params.missingProperty as string]) ?? missing(error, schema, subject);
    throw wrong(error, (name) => subject.field(spelt.get(name) ?? name));
  };
}

/** Other names under which a field of this schema is taken. */
export const spellingsOf = (schema: Schema | undefined): readonly string[] => (schema?.['x-also'] as readonly string[] | undefined) ?? [];

/** The types that a schema takes. */
export const typesOf = ({ type }: Schema): readonly string[] => (type === undefined ? [] : ([type].flat() as string[]));

/** The known name that `name` most likely stands for. */
function nearName(name: string, known: readonly string[]): string | undefined {
  return known.find((one) => one.toLowerCase() === name.toLowerCase()) ?? nearest(name, known, 1)[0];
}

const isGiven = (value: object, name: string): boolean =>
  Object.hasOwn(value, name) && (value as Record<string, unknown>)[name] !== undefined && (value as Record<string, unknown>)[name] !== null;

const invalid = (message: string, hint?: string): Fault => new Fault('request/invalid', message, hint === undefined ? {} : { hint });

function notAnObject(value: unknown, { properties, required = Object.keys(properties) }: FieldsSchema, { whole }: Subject): Fault {
  const given = value === undefined ? 'empty' : shown(value);
  return invalid(`${whole} is ${given}; a JSON object with ${required.join(' and ')} was expected`);
}

function missing({ params }: ErrorObject, { properties }: FieldsSchema, subject: Subject): Fault {
  const name = params.missingProperty as string;
  const description = properties[name]?.description;
  return invalid(`${subject.field(name)} is missing${description === undefined ? '' : `: ${lowerFirst(String(description))}`}`);
}

/** What is wrong with the value of one field, or with one entry of it. */
function wrong({ keyword, params, instancePath, data, parentSchema = {} }: ErrorObject, fieldOf: (name: string) => string): Fault {
  const [name = '', index] = instancePath
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
  const subject = index === undefined ? fieldOf(name) : `${fieldOf(name)}, entry ${Number(index) + 1},`;
  switch (keyword) {
    case 'required':
      return invalid(`${subject} has no ${params.missingProperty}`);
    case 'pattern':
      return invalid(`${subject} ${SAID_OF[params.pattern as string] ?? `is ${shown(data)}, expected is ${params.pattern}`}`);
    case 'minLength':
    case 'maxLength': {
      const { minLength = 0, maxLength } = parentSchema as { readonly minLength?: number; readonly maxLength?: number };
      const { length } = data as string;
      if (length === 0 && maxLength === undefined) return invalid(`${subject} is empty`);
      return invalid(
        `${subject} has ${length} characters, expected are ${maxLength === undefined ? 'at least ' : ''}${rangeOf(minLength, maxLength)}`,
      );
    }
    case 'minItems':
      return invalid(`${subject} is an empty array`);
    case 'maxItems':
      return invalid(
        `${subject} is given ${(data as unknown[]).length} times, expected is ${params.limit === 1 ? 'once' : `at most ${params.limit} times`}`,
      );
    case 'enum':
      return invalid(
        `${subject} is ${shown(data)}, expected is ${expected(parentSchema)}`,
        hintOf(data, params.allowedValues as unknown[]),
      );
    default:
      // Not shown: what stands where true or false belongs is often the rest of something else.
      if (typesOf(parentSchema).join() === 'boolean') return invalid(`${subject} is neither true nor false`);
      return invalid(`${subject} is ${shown(data)}, expected is ${expected(parentSchema)}`);
  }
}

const hintOf = (data: unknown, allowed: readonly unknown[]): string | undefined => {
  const near = nearName(String(data), allowed.map(String));
  return near === undefined ? undefined : `Did you mean ${near}?`;
};

/** A value for a message: what secrets texts have is hidden. */
function shown(value: unknown): string {
  if (typeof value === 'string') return excerpt(redactText(value));
  if (Array.isArray(value)) return 'an array';
  if (typeof value === 'object' && value !== null) return 'an object';
  return typeof value === 'number' ? `the number ${value}` : String(value);
}

const NAMES: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  boolean: 'true or false',
  object: 'an object',
};

/** What a field takes, in words. */
function expected(schema: Schema): string {
  if (Array.isArray(schema.enum)) return `one of ${schema.enum.join(', ')}`;
  const names = typesOf(schema).flatMap((type) => {
    if (type === 'null') return [];
    if (type === 'integer')
      return [
        `an integer${schema.minimum === undefined ? '' : ` ${schema.maximum === undefined ? 'of at least' : 'from'} ${rangeOf(schema.minimum, schema.maximum)}`}`,
      ];
    return [type === 'array' ? 'an array of strings' : (NAMES[type] ?? type)];
  });
  const last = names.pop() as string;
  return names.length === 0 ? last : `${names.join(', ')} or ${last}`;
}

const rangeOf = (least: unknown, most: unknown): string => (most === undefined ? `${least}` : `${least} to ${most}`);

/** Before the rest of a sentence; abbreviations such as URL stay as they are. */
const lowerFirst = (text: string): string => (/^[A-Z][a-z ]/.test(text) ? text.charAt(0).toLowerCase() + text.slice(1) : text);
