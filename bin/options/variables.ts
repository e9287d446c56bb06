/** Options of the service that a command takes from the environment, where its command line does not say otherwise. */
import { type OptionName, optionRow, type Snapshot } from '../../src/config/options/options.ts';
import { readEnvironment } from '../../src/config/parse.ts';

/**
 * Those of the options whose variables are set. Variables of other options, which the command does not read, may have any text.
 *
 * @throws Fault config/invalid
 */
export function variablesOf<N extends OptionName>(...options: readonly N[]): Partial<Pick<Snapshot, N>> {
  const names = options.flatMap((option) => [option, ...(optionRow(option).aliases ?? [])]);
  return readEnvironment(Object.fromEntries(names.map((name) => [name, process.env[name]]))).values as Partial<Pick<Snapshot, N>>;
}
