/** Options of a command as a table, used for parsing, `--help` and suggestions. */
import { type ParseArgsConfig, parseArgs } from 'node:util';
import { didYouMean } from '../src/core/nearest.ts';
import { EXIT } from './exit.ts';

export interface CommandOption {
  readonly short?: string;
  /** Placeholder of the value in the help text; undefined: a switch without value. */
  readonly value?: string;
  readonly multiple?: boolean;
  readonly summary: string;
  /** The only values that are accepted. */
  readonly choices?: readonly string[];
}

export interface Command {
  readonly name: string;
  /** `run MAPPING… [options]`. */
  readonly usage: string;
  /** One or two sentences. */
  readonly summary: string;
  readonly options: Readonly<Record<string, CommandOption>>;
  /** Additional help text, such as examples and exit codes. */
  readonly notes?: string;
}

/** The command line is invalid; exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

export interface Parsed {
  readonly positionals: readonly string[];
  /** The value of an option; the last one if it is repeated. */
  value(name: string): string | undefined;
  values(name: string): readonly string[];
  has(name: string): boolean;
}

const HELP: CommandOption = { short: 'h', summary: 'show this text' };

/** @throws UsageError — unknown option, missing or invalid value */
export function parseCommandLine(command: Command, argv: readonly string[]): Parsed {
  const table: Readonly<Record<string, CommandOption>> = { ...command.options, help: HELP };
  const options: NonNullable<ParseArgsConfig['options']> = {};
  for (const [name, { short, value }] of Object.entries(table)) {
    options[name] = { type: value === undefined ? 'boolean' : 'string', multiple: true, ...(short === undefined ? {} : { short }) };
  }
  const { values, positionals } = parse(command, argv, options);
  const all = (name: string): readonly string[] => ((values[name] ?? []) as (string | boolean)[]).map(String);
  for (const [name, option] of Object.entries(table)) {
    if (all(name).length > 1 && option.value !== undefined && !option.multiple) {
      throw new UsageError(`--${name} is given ${all(name).length} times, once is enough`);
    }
    for (const value of option.choices === undefined ? [] : all(name)) {
      if (option.choices?.includes(value)) continue;
      const hint = didYouMean(value, option.choices ?? []);
      throw new UsageError(`--${name} is '${value}', expected is one of ${option.choices?.join(', ')}${hint ? `; ${hint}` : ''}`);
    }
  }
  return { positionals, value: (name) => all(name).at(-1), values: all, has: (name) => all(name).length > 0 };
}

function parse(command: Command, argv: readonly string[], options: NonNullable<ParseArgsConfig['options']>) {
  try {
    return parseArgs({ args: [...argv], options, allowPositionals: true, strict: true });
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const unknown = /'(-[^']+)'/.exec(message)?.[1];
    if (code === 'ERR_PARSE_ARGS_UNKNOWN_OPTION' && unknown !== undefined) {
      const hint = didYouMean(
        unknown,
        Object.keys(options).map((name) => `--${name}`),
      );
      throw new UsageError(`${command.name} has no option ${unknown}${hint ? `; ${hint}` : ''}`);
    }
    if (code?.startsWith('ERR_PARSE_ARGS')) throw new UsageError(message.split('\n', 1)[0] as string);
    throw error;
  }
}

/**
 * A command as a function of its arguments that resolves to the exit code. With `--help` it prints the help text instead.
 *
 * @throws UsageError — from parsing, besides what `act` throws
 */
export const commandOf =
  (command: Command, act: (parsed: Parsed) => Promise<number>) =>
  async (argv: readonly string[]): Promise<number> => {
    const parsed = parseCommandLine(command, argv);
    if (!parsed.has('help')) return act(parsed);
    process.stdout.write(helpOf(command));
    return EXIT.done;
  };

/** The help text of a command. */
export function helpOf(command: Command): string {
  const rows = Object.entries({ ...command.options, help: HELP }).map(([name, { short, value, summary, choices, multiple }]) => ({
    left: `${short === undefined ? '    ' : `-${short}, `}--${name}${value === undefined ? '' : ` ${value}`}`,
    right: `${summary}${choices === undefined ? '' : `: ${choices.join(', ')}`}${multiple ? ' (may be repeated)' : ''}`,
  }));
  const width = Math.max(...rows.map((row) => row.left.length));
  const options = rows.map(({ left, right }) => `  ${left.padEnd(width)}  ${right}`).join('\n');
  return `usage: quadmill ${command.usage}\n\n${command.summary}\n\n${options}\n${command.notes === undefined ? '' : `\n${command.notes}\n`}`;
}

/** The value of an option as an integer. @throws UsageError */
export function numberOf(parsed: Parsed, name: string, min: number): number | undefined {
  const text = parsed.value(name);
  if (text === undefined) return undefined;
  const number = Number(text);
  if (!/^\d+$/.test(text) || number < min) throw new UsageError(`--${name} is '${text}', expected is a whole number of at least ${min}`);
  return number;
}
