/** Options of the service that a command takes from its command line, and else from the environment. */
import { type OptionName, type OptionValues, optionRow, type Snapshot } from '../../src/config/options/options.ts';
import { parseOption, readEnvironment } from '../../src/config/parse.ts';
import type { Parsed } from '../command-line.ts';

/**
 * Those of the options whose variables are set. Variables of other options, which the command does not read, may have any text.
 *
 * @throws Fault config/invalid
 */
export function variablesOf<N extends OptionName>(...options: readonly N[]): Partial<Pick<Snapshot, N>> {
  const names = options.flatMap((option) => [option, ...(optionRow(option).aliases ?? [])]);
  return readEnvironment(Object.fromEntries(names.map((name) => [name, process.env[name]]))).values as Partial<Pick<Snapshot, N>>;
}

/**
 * The options of the service that the command line gives.
 *
 * @param flags command-line options and the options of the service that they set
 * @throws Fault config/invalid
 */
export function flagValues(parsed: Parsed, flags: readonly (readonly [flag: string, option: OptionName])[]): OptionValues {
  const values: Record<string, unknown> = {};
  for (const [flag, option] of flags) {
    const text = parsed.value(flag);
    if (text !== undefined) values[option] = parseOption(option, text);
  }
  return values as OptionValues;
}
