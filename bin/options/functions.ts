/** The custom functions of a command. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DEFAULTS } from '../../src/config/options/options.ts';
import type { FunctionFiles } from '../../src/custom-functions/files.ts';
import type { OpenedFunctions } from '../../src/custom-functions/open.ts';
import type { CommandOption, Parsed } from '../command-line.ts';
import { UsageError } from '../command-line.ts';
import { webAccess } from './inputs.ts';
import { variablesOf } from './variables.ts';

export const FUNCTION_OPTIONS: Readonly<Record<string, CommandOption>> = {
  functions: { value: 'FILE', summary: 'FnO description, in Turtle, of functions of your own: docs/custom-functions.md' },
  'functions-jar': { value: 'FILE', summary: 'their code, where the description names no file: a JAR or a JavaScript module' },
};

/**
 * A copy of the functions, which is removed when the process ends; undefined: the command line names none.
 *
 * @throws UsageError, Fault functions/invalid
 */
export async function functionFilesOf(parsed: Parsed): Promise<FunctionFiles | undefined> {
  const description = parsed.value('functions');
  const code = parsed.value('functions-jar');
  if (description === undefined) {
    if (code !== undefined) throw new UsageError('--functions-jar has the code of functions: describe them with --functions');
    return undefined;
  }
  const { fetchFunctions } = await import('../../src/custom-functions/fetch.ts');
  const directory = mkdtempSync(join(tmpdir(), 'quadmill-functions-'));
  process.once('exit', () => rmSync(directory, { recursive: true, force: true }));
  const { version } = await fetchFunctions({ description, code }, directory, {
    workingDirectory: process.cwd(),
    s3: webAccess().s3,
  });
  const options = { ...DEFAULTS, ...variablesOf('CUSTOM_FUNCTION_SECONDS', 'CUSTOM_FUNCTION_MEMORY_MB') };
  return {
    directory: join(directory, version),
    limits: { seconds: options.CUSTOM_FUNCTION_SECONDS, memoryMb: options.CUSTOM_FUNCTION_MEMORY_MB },
  };
}

/** For commands that call none. The code is not started. */
export async function openedFunctionsOf(parsed: Parsed): Promise<OpenedFunctions | undefined> {
  const files = await functionFilesOf(parsed);
  return files && (await import('../../src/custom-functions/open.ts')).openFunctions(files);
}
