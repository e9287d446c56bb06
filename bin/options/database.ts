/** The database options of a command; the service's environment variables are the defaults. */
import { readFileSync } from 'node:fs';
import { DEFAULTS } from '../../src/config/options/options.ts';
import { sqlLimitsOf } from '../../src/config/run-defaults.ts';
import { Fault } from '../../src/core/fault.ts';
import { Secret } from '../../src/core/secret.ts';
import type { DatabaseAccess, SqlLimits } from '../../src/run/request.ts';
import type { CommandOption, Parsed } from '../command-line.ts';
import { variablesOf } from './variables.ts';

/** Other users of the machine can read the command line, so passwords come from a file or a variable. */
export const LOGIN_OPTIONS: Readonly<Record<string, CommandOption>> = {
  'db-user': { value: 'NAME', summary: 'user of the database, default the variable DB_USER' },
  'db-password-file': { value: 'FILE', summary: "file with the user's password, default the variable DB_PASSWORD" },
};

export const DATABASE_OPTIONS: Readonly<Record<string, CommandOption>> = {
  'jdbc-url': { value: 'URL', summary: 'database of sources for which the mapping names none, default the variable JDBC_URL' },
  ...LOGIN_OPTIONS,
};

/** @throws Fault config/invalid — the password file cannot be read */
export function databaseOf(parsed: Parsed, jdbcUrl = parsed.value('jdbc-url') ?? process.env.JDBC_URL): DatabaseAccess | undefined {
  if (jdbcUrl === undefined || jdbcUrl === '') return undefined;
  const file = parsed.value('db-password-file');
  return {
    jdbcUrl,
    user: parsed.value('db-user') ?? process.env.DB_USER,
    password: file === undefined ? Secret.of(process.env.DB_PASSWORD) : readPassword(file),
  };
}

/** Time limits of statements, locks and logins, from the service's variables. @throws Fault config/invalid */
export const sqlLimits = (): SqlLimits =>
  sqlLimitsOf({ ...DEFAULTS, ...variablesOf('DB_CONNECT_SECONDS', 'SQL_TIME_LIMIT_SECONDS', 'SQL_LOCK_SECONDS') });

export function readPassword(file: string): Secret {
  try {
    return new Secret(readFileSync(file, 'utf8').replace(/\r?\n$/, ''));
  } catch (error) {
    throw new Fault('config/invalid', `The password file ${file} cannot be read: ${(error as Error).message}`, { cause: error });
  }
}
