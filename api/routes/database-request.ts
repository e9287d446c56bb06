/** The parameters of the routes that reach a database of the caller's choice: checked, and never repeated in a message. */
import { Fault } from '../../src/core/fault.ts';
import type { DatabaseAddress } from '../../src/sql/database.ts';
import { parseJdbcUrl } from '../../src/sql/jdbc/jdbc.ts';
import { optionalParameter, type Parameter, requiredParameter } from '../route.ts';

const texts = { type: 'array', items: { type: 'string' } } as const;

export const CONNECTION_PARAMETERS: readonly Parameter[] = [
  {
    name: 'url',
    in: 'query',
    required: true,
    description: 'JDBC URL of the database, such as jdbc:postgresql://host:5432/database; percent-encoded, so that a & in it is %26',
  },
  {
    name: 'jdbc',
    in: 'query',
    description: 'The driver: a product (postgresql, mysql, mariadb) or a JDBC driver class; left out: by the scheme of the URL',
  },
  { name: 'user', in: 'query', description: 'User of the database' },
  {
    name: 'password',
    in: 'query',
    description: 'Password of that user: the Base64 (or base64url) of its UTF-8 bytes',
    schema: { type: 'string', format: 'password', contentEncoding: 'base64' },
  },
  { name: 'jdbcParamKey', in: 'query', description: 'Name of a further parameter of the JDBC URL; may be repeated', schema: texts },
  { name: 'jdbcParamValue', in: 'query', description: 'Its value: the n-th value belongs to the n-th key', schema: texts },
];

export const QUERY_PARAMETERS: readonly Parameter[] = [
  ...CONNECTION_PARAMETERS,
  { name: 'query', in: 'query', required: true, description: 'One SQL query; it can read only' },
  {
    name: 'returnCSV',
    in: 'query',
    description: 'true: CSV with a header row; false or left out: a JSON object',
    schema: { type: 'boolean', default: false },
  },
];

/**
 * The database that a request names.
 *
 * @throws Fault request/invalid, database/driver (see `parseJdbcUrl`)
 */
export function readAddress(query: URLSearchParams): DatabaseAddress {
  const url = requiredParameter(query, 'url', 'the JDBC URL of the database');
  return parseJdbcUrl({
    url,
    driver: unlessEmpty(optionalParameter(query, 'jdbc')),
    user: unlessEmpty(optionalParameter(query, 'user')),
    password: passwordOf(unlessEmpty(optionalParameter(query, 'password'))),
    parameters: readPairs(query),
    trusted: false,
  });
}

export interface DatabaseQuery {
  readonly sql: string;
  readonly csv: boolean;
}

/** @throws Fault request/invalid */
export function readQuery(query: URLSearchParams): DatabaseQuery {
  const sql = requiredParameter(query, 'query', 'the SQL of one query');
  const csv = (optionalParameter(query, 'returnCSV') ?? 'false').trim().toLowerCase();
  if (csv !== 'true' && csv !== 'false') throw new Fault('request/invalid', 'The parameter returnCSV is neither true nor false');
  return { sql, csv: csv === 'true' };
}

/**
 * Refuses parameters that the route does not know, because one is mostly the rest of a URL or query whose `&` was not encoded, and
 * leaving it out could leave out a condition, or TLS. Its name is not repeated: it may be the end of a password.
 *
 * @throws Fault request/invalid — also for a NUL, which ends a text on its way to a database
 */
export function refuseOtherParameters(query: URLSearchParams, known: readonly Parameter[]): void {
  const names = known.map(({ name }) => name);
  for (const [name, value] of query) {
    if (!names.includes(name)) {
      throw new Fault('request/invalid', `The request has a parameter that this route does not know; it takes ${names.join(', ')}`, {
        hint: 'Inside of a value, & is written %26, + is written %2B and # is written %23',
      });
    }
    if (value.includes('\0')) throw new Fault('request/invalid', `The parameter ${name} has a NUL character`);
  }
}

function readPairs(query: URLSearchParams): readonly (readonly [string, string])[] {
  const keys = query.getAll('jdbcParamKey');
  const values = query.getAll('jdbcParamValue');
  if (keys.length !== values.length) {
    throw new Fault(
      'request/invalid',
      `jdbcParamKey and jdbcParamValue are paired by position, but there are ${keys.length} and ${values.length} of them`,
    );
  }
  const empty = keys.findIndex((key) => key.trim() === '');
  if (empty !== -1) throw new Fault('request/invalid', `jdbcParamKey number ${empty + 1} is empty`);
  return keys.map((key, i) => [key, values[i] as string]);
}

/**
 * The password behind its Base64. Its `+`, which clients forget to encode, arrives as a space; line ends that `base64` writes are left out.
 *
 * @throws Fault request/invalid — not Base64, or not of UTF-8
 */
function passwordOf(base64: string | undefined): string | undefined {
  if (base64 === undefined) return undefined;
  const digits = base64
    .replace(/[\r\n]/g, '')
    .replace(/[ -]/g, '+')
    .replace(/_/g, '/')
    .replace(/={1,2}$/, '');
  const bytes = Buffer.from(digits, 'base64');
  // Node leaves out what is no Base64, so only Base64 comes back as it was.
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
