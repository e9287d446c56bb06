/** Options for the inputs of a command and how to read them; they override the mapping. */
import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { DEFAULTS } from '../../src/config/options/options.ts';
import { WEB_OPTIONS, webAccessOf } from '../../src/config/run-defaults.ts';
import { contradictionIn, delimiterOf, quoteOf } from '../../src/core/input/csv-dialect.ts';
import { isEncoding, KNOWN_ENCODINGS } from '../../src/core/input/encoding-name.ts';
import { INPUT_FORMATS, type InputFormat } from '../../src/core/input/formats.ts';
import { type InputBinding, type InputOptions, STANDARD_INPUT } from '../../src/run/request.ts';
import type { WebAccess } from '../../src/storage/logins.ts';
import { type CommandOption, type Parsed, UsageError } from '../command-line.ts';
import { variablesOf } from './variables.ts';

export const INPUT_OPTIONS: Readonly<Record<string, CommandOption>> = {
  input: {
    short: 'i',
    value: '[NAME=]URL',
    multiple: true,
    summary: 'read the source that the mapping calls NAME from URL; without NAME the only source; - is standard input',
  },
  'input-format': {
    value: 'FORMAT',
    choices: INPUT_FORMATS,
    summary: 'format of the inputs, if their names do not show it or are wrong',
  },
  delimiter: {
    value: 'CHARACTER',
    summary: 'separator of the cells of CSV files, \\t for a tab; default by mapping and name, else a comma',
  },
  quote: {
    value: 'CHARACTER',
    summary: 'quotes of the cells of CSV files, empty for none; default by the mapping, else ", and none for cells between tabs',
  },
  encoding: { value: 'NAME', summary: 'encoding of the input files, such as windows-1252; default by mapping and file, else UTF-8' },
  'source-root': { value: 'DIRECTORY', summary: 'where relative sources of the mapping are; default as the mapping says' },
};

/** @throws UsageError */
export function inputsOf(parsed: Parsed): readonly InputBinding[] {
  const inputs = parsed.values('input').map(bindingOf);
  const count = inputs.filter(({ url }) => url === STANDARD_INPUT).length;
  if (count > 1) throw new UsageError(`--input - is given ${count} times, and standard input can be read once`);
  if (count === 1 && process.stdin.isTTY) {
    throw new UsageError('--input - reads standard input, which is a terminal here: pipe something into it, or name a file');
  }
  return inputs;
}

/** How sources are read from servers, from the service's variables: they hold logins. @throws Fault config/invalid */
export const webAccess = (): WebAccess => webAccessOf({ ...DEFAULTS, ...variablesOf(...WEB_OPTIONS) });

/** The first `=` ends the name, unless it is in the query of a URL without a name. */
function bindingOf(text: string): InputBinding {
  const equals = text.indexOf('=');
  if (text === '') throw new UsageError('--input is empty, expected is [NAME=]URL');
  if (equals === -1 || text.slice(0, equals).includes('?')) return { name: undefined, url: text };
  const [name, url] = [text.slice(0, equals), text.slice(equals + 1)];
  if (name === '' || url === '') throw new UsageError(`--input is '${text}', expected is NAME=URL`);
  return { name, url };
}

/** @throws UsageError */
export function inputOptionsOf(parsed: Parsed): InputOptions {
  const [delimiter, quote, encoding, root] = ['delimiter', 'quote', 'encoding', 'source-root'].map((name) => parsed.value(name));
  const read = delimiter === undefined ? undefined : delimiterOf(delimiter);
  if (read === undefined && delimiter !== undefined) {
    throw new UsageError(`--delimiter is ${JSON.stringify(delimiter)}, expected is one ASCII character, or \\t for a tab`);
  }
  const quoteChar = quote === undefined ? undefined : quoteOf(quote);
  if (quoteChar === undefined && quote !== undefined) {
    throw new UsageError(`--quote is ${JSON.stringify(quote)}, expected is one ASCII character, or nothing for no quotes`);
  }
  if (encoding !== undefined && !isEncoding(encoding)) {
    throw new UsageError(`--encoding is ${JSON.stringify(encoding)}, which is unknown; known are ${KNOWN_ENCODINGS}`);
  }
  if (root !== undefined && statSync(root, { throwIfNoEntry: false })?.isDirectory() !== true) {
    throw new UsageError(`--source-root is '${root}', which is not a directory`);
  }
  const csv = { ...(read === undefined ? {} : { delimiter: read }), ...(quoteChar === undefined ? {} : { quoteChar }) };
  const problem = read === undefined || quoteChar === undefined ? undefined : contradictionIn(csv);
  if (problem !== undefined) throw new UsageError(`the rows cannot be delimited: ${problem}`);
  return {
    format: parsed.value('input-format') as InputFormat | undefined,
    csv,
    encoding,
    sourceRoot: root === undefined ? undefined : resolve(root),
  };
}
