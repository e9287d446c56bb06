/** `quadmill studio`: the service on this machine, with its studio in the browser. */
import { spawn } from 'node:child_process';
import { statSync } from 'node:fs';
import { basename, dirname, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { DEFAULTS, type OptionValues } from '../../src/config/options/options.ts';
import { type Command, commandOf, UsageError } from '../command-line.ts';
import { SALVAGE } from '../options/salvage.ts';
import { flagValues } from '../options/variables.ts';
import { printLine } from '../terminal.ts';
import { SERVE_FLAGS, serveUntilSignal } from './serve.ts';

const STUDIO: Command = {
  name: 'studio',
  usage: 'studio [MAPPING…] [options]',
  summary: 'Starts the service on this machine and opens its studio, where mappings are drawn. It ends with Ctrl-C.',
  options: {
    port: { short: 'p', value: 'PORT', summary: `port to listen on, default ${DEFAULTS.PORT}; 0 takes a free one` },
    'data-dir': { value: 'DIRECTORY', summary: `queue files, uploads and output, default ${DEFAULTS.DATA_DIR}` },
    salvage: SALVAGE,
    'no-open': { summary: 'print the address, and open no browser' },
  },
  notes: `Mappings are files of one directory, which the studio then reads and writes; the first one is opened.
Without any, the studio has those of the data directory. Every option of the service is an environment variable.

  quadmill studio
  quadmill studio mappings/shop.ttl`,
};

/** Resolves to the exit code. @throws UsageError, Fault — it could not start */
export const studio = commandOf(STUDIO, async (parsed) => {
  const { positionals } = parsed;
  // The log is for operators: a person who draws sees faults in the page.
  const quiet: OptionValues = process.env.LOG_LEVEL === undefined ? { LOG_LEVEL: 'warn' } : {};
  const options: OptionValues = { ...quiet, ...flagValues(parsed, SERVE_FLAGS), ...directoryOf(positionals) };
  return serveUntilSignal('all', options, {
    salvage: parsed.has('salvage'),
    listening(url) {
      const [first] = positionals;
      const address = `${url}/studio/${first === undefined ? '' : `#/files/${encodeURIComponent(basename(first))}`}`;
      printLine(`The studio is at ${address}\nEnd it with Ctrl-C.`);
      if (!parsed.has('no-open') && process.stderr.isTTY) openInBrowser(address);
    },
  });
});

/** @throws UsageError — a file that is missing, or files of several directories */
function directoryOf(files: readonly string[]): OptionValues {
  for (const file of files) {
    if (!statSync(file, { throwIfNoEntry: false })?.isFile()) throw new UsageError(`there is no file ${file}`);
  }
  const directories = [...new Set(files.map((file) => dirname(resolve(file))))];
  const [directory] = directories;
  if (directories.length > 1)
    throw new UsageError(`the mappings are in several directories: ${directories.join(', ')}; start one studio for each`);
  return directory === undefined ? {} : { SEMI_STRUCTURED_TRANSFORMER_MAPPINGS_DIR_URL: pathToFileURL(`${directory}/`).href };
}

const OPENERS: Partial<Record<NodeJS.Platform, readonly [program: string, ...args: string[]]>> = {
  darwin: ['open'],
  win32: ['cmd', '/c', 'start', ''],
};

/** The address is printed in any case, so a machine without a browser is no failure. */
function openInBrowser(address: string): void {
  const [program, ...args] = OPENERS[process.platform] ?? ['xdg-open'];
  const child = spawn(program, [...args, address], { stdio: 'ignore', detached: true });
  child.on('error', () => printLine('No browser was found: open the address yourself.'));
  child.unref();
}
