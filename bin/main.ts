/** The command line: finds the command and loads only what it needs. What `run` needs is always there: it is compiled beforehand (`build/bundle.ts`). */

import { didYouMean } from '../src/core/nearest.ts';
import { UsageError } from './command-line.ts';
import { run } from './commands/run.ts';
import { EXIT, failed } from './exit.ts';
import { printError } from './terminal.ts';

interface CommandEntry {
  readonly summary: string;
  /** Resolves to the exit code. */
  readonly start: (argv: readonly string[]) => Promise<number>;
}

const COMMANDS: Readonly<Record<string, CommandEntry>> = {
  init: {
    summary: 'write a mapping to start from, by the first records of files',
    start: async (argv) => (await import('./commands/init.ts')).init(argv),
  },
  run: { summary: 'map files to RDF by mappings', start: run },
  check: {
    summary: 'print all errors and warnings of mappings',
    start: async (argv) => (await import('./commands/check.ts')).check(argv),
  },
  convert: {
    summary: 'write a mapping in another mapping language',
    start: async (argv) => (await import('./commands/mappings/convert.ts')).convert(argv),
  },
  explain: {
    summary: 'show how a mapping would be executed',
    start: async (argv) => (await import('./commands/explain.ts')).explain(argv),
  },
  compile: {
    summary: 'write a mapping as a job of Apache Spark or DuckDB',
    start: async (argv) => (await import('./commands/mappings/compile.ts')).compile(argv),
  },
  'direct-mapping': {
    summary: 'map the tables of a database to RDF without a mapping',
    start: async (argv) => (await import('./commands/direct-mapping.ts')).directMapping(argv),
  },
  functions: {
    summary: 'list the functions that a mapping may call',
    start: async (argv) => (await import('./commands/functions.ts')).functions(argv),
  },
  write: { summary: 'write N-Quads to a graph database', start: async (argv) => (await import('./commands/write.ts')).write(argv) },
  dataset: {
    summary: 'read, check and shorten a graph that runs keep in versions',
    start: async (argv) => (await import('./datasets/dataset.ts')).dataset(argv),
  },
  follow: {
    summary: 'keep a graph fresh by the changes of databases and topics',
    start: async (argv) => (await import('./commands/follow.ts')).follow(argv),
  },
  diff: {
    summary: 'print the difference between two files of statements',
    start: async (argv) => (await import('./datasets/diff.ts')).diff(argv),
  },
  licence: { summary: 'make or show a licence', start: async (argv) => (await import('./commands/licence.ts')).licence(argv) },
  studio: {
    summary: 'draw mappings in a browser',
    start: async (argv) => (await import('./commands/studio.ts')).studio(argv),
  },
  serve: {
    summary: 'start the service',
    start: async (argv) => (await import('./commands/serve.ts')).serve(argv),
  },
};

/** Returns the exit code. If it is not 0, the reason was printed on standard error. */
export async function main(argv: readonly string[]): Promise<number> {
  const [name, ...rest] = argv;
  if (name === undefined || name === '--help' || name === '-h' || name === 'help') {
    process.stdout.write(help());
    return name === undefined ? EXIT.usage : EXIT.done;
  }
  if (name === '--version' || name === '-V' || name === 'version') {
    process.stdout.write(`${(await import('../src/config/version.ts')).VERSION}\n`);
    return EXIT.done;
  }
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (command === undefined) {
    const hint = didYouMean(name, [...Object.keys(COMMANDS), '--help', '--version']);
    printError(`there is no command '${name}'; ${hint ?? 'see quadmill --help'}`);
    return EXIT.usage;
  }
  try {
    return await command.start(rest);
  } catch (error) {
    if (error instanceof UsageError) {
      printError(`${error.message} (see quadmill ${name} --help)`);
      return EXIT.usage;
    }
    return failed(error);
  }
}

const help = (): string => `usage: quadmill COMMAND [options]

Turns files and databases into knowledge graphs, by declarative RDF mappings (RML, R2RML), and writes these to graph databases.

${Object.entries(COMMANDS)
  .map(([name, { summary }]) => `  ${name.padEnd(14)} ${summary}`)
  .join('\n')}

  --help     show this text; quadmill COMMAND --help that of a command
  --version  show the version
`;
