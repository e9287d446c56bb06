/** The parameters of the routes that connect to a database chosen by the caller: validated, and never repeated in a message. */

import { Fault } from '../../../src/core/fault.ts';
import { type Fields, NO_NUL, NOT_BLANK } from '../../../src/core/schema.ts';
import { Secret } from '../../../src/core/secret.ts';
import type { DatabaseAddress } from '../../../src/sql/database.ts';
import { parseJdbcUrl } from '../../../src/sql/jdbc/jdbc.ts';
import type { Parameter } from '../../route.ts';

const text = { type: 'string', pattern: NO_NUL } as const;
const values = { type: 'array', items: { ...text, examples: ['5'] } } as const;
const keys = {
  type: 'array',
  items: { type: 'string', allOf: [{ pattern: NOT_BLANK }, { pattern: NO_NUL }], examples: ['connectTimeout'] },
} as const;
const FLAG = { type: 'boolean', default: false } as const;

export const CONNECTION_PARAMETERS: readonly Parameter[] = [
  {
    name: 'url',
    in: 'query',
    required: true,
    description:
      'JDBC URL of the database, such as jdbc:postgresql://host:5432/database, jdbc:sqlserver://host;databaseName=database, jdbc:oracle:thin:@//host:1521/service or jdbc:sqlite:/path/to/file.db; percent-encoded, so that a & in it is %26',
    schema: { ...text, minLength: 1, examples: ['jdbc:postgresql://host:5432/database'] },
  },
  {
    name: 'jdbc',
    in: 'query',
    description:
      'The driver: a product (postgresql, mysql, mariadb, sqlite, duckdb) or a JDBC driver class; left out: by the scheme of the URL',
    schema: { ...text, examples: ['postgresql'] },
  },
  { name: 'user', in: 'query', description: 'User of the database', schema: text },
  {
    name: 'password',
    in: 'query',
    description: 'Password of that user: the Base64 (or base64url) of its UTF-8 bytes',
    schema: { ...text, format: 'password', contentEncoding: 'base64', examples: ['c2VjcmV0'] },
  },
  { name: 'jdbcParamKey', in: 'query', description: 'Name of a further parameter of the JDBC URL; may be repeated', schema: keys },
  { name: 'jdbcParamValue', in: 'query', description: 'Its value: the n-th value belongs to the n-th key', schema: values },
];

export const QUERY_PARAMETERS: readonly Parameter[] = [
  ...CONNECTION_PARAMETERS,
  {
    name: 'query',
    in: 'query',
    required: true,
    description: 'One SQL query, run read-only',
    schema: { ...text, minLength: 1, examples: ['SELECT 1'] },
  },
  {
    name: 'returnCSV',
    in: 'query',
    description: 'true: CSV with a header row; false or left out: a JSON object',
    schema: FLAG,
  },
];

/** The values of both sets of parameters. */
interface ConnectionFields {
  readonly url: string;
  readonly jdbc?: string;
  readonly user?: string;
  readonly password?: string;
  readonly jdbcParamKey?: readonly string[];
  readonly jdbcParamValue?: readonly string[];
}

/**
 * The database named by a request.
 *
 * @throws Fault request/invalid, database/driver (see `parseJdbcUrl`)
 */
export function readAddress(parameters: Fields): DatabaseAddress {
  const { url, jdbc, user, password, jdbcParamKey, jdbcParamValue } = parameters as unknown as ConnectionFields;
  return parseJdbcUrl({
    url,
    driver: unlessEmpty(jdbc),
    user: unlessEmpty(user),
    password: Secret.of(passwordOf(unlessEmpty(password))),
    parameters: readPairs(jdbcParamKey, jdbcParamValue),
    trusted: false,
  });
}

export interface DatabaseQuery {
  readonly query: string;
  readonly returnCSV: boolean;
}

function readPairs(keys: readonly string[] = [], values: readonly string[] = []): readonly (readonly [string, string])[] {
  if (keys.length !== values.length) {
    throw new Fault(
      'request/invalid',
      `jdbcParamKey and jdbcParamValue are paired by position, but there are ${keys.length} and ${values.length} of them`,
    );
  }
  return keys.map((key, i) => [key, values[i] as string]);
}

/**
 * Decodes the Base64 password. A `+` that the client forgot to encode arrives as a space; line ends written by `base64` are ignored.
 *
 * @throws Fault request/invalid — not Base64, or not UTF-8
 */
function passwordOf(base64: string | undefined): string | undefined {
  if (base64 === undefined) return undefined;
  const digits = base64
    .replace(/[\r\n]/g, '')
    .replace(/[ -]/g, '+')
    .replace(/_/g, '/')
    .replace(/={1,2}$/, '');
  const bytes = Buffer.from(digits, 'base64');
  // Node ignores characters that are not Base64, so the bytes are encoded again and compared.
  const password = bytes.toString('base64').replace(/=+$/, '') === digits ? utf8Of(bytes) : undefined;
  if (password === undefined) {
    throw new Fault('request/invalid', 'The parameter password is not the Base64 of UTF-8 text', {
      hint: "Encode the password, for example with: printf %s 'PASSWORD' | base64",
    });
  }
  if (password.includes('\0')) throw new Fault('request/invalid', 'The parameter password has a NUL character');
  return password;
}

function utf8Of(bytes: Buffer): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

const unlessEmpty = (text: string | undefined): string | undefined => (text === '' ? undefined : text);
