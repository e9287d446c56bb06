/** Text → option values: by name or path, from the environment. Faults name the option and the accepted values. */

import { excerpt, Fault } from '../core/fault.ts';
import { didYouMean, editDistance } from '../core/nearest.ts';
import { redact, redactText } from '../core/redact.ts';
import { Secret } from '../core/secret.ts';
import { DEFAULTS, OPTION_NAMES, type OptionName, type OptionValues, optionRow, type Snapshot } from './options/options.ts';
import type { OptionRow } from './options/row.ts';

const SERVICE_KEYS = /^service(Transformer|Writer)Config\./;
/** By name, path and alias. */
const byEntry: ReadonlyMap<string, OptionName> = new Map(OPTION_NAMES.flatMap((name) => entriesOf(name).map((entry) => [entry, name])));

function entriesOf(name: OptionName): readonly string[] {
  const { path, aliases = [] } = optionRow(name);
  return [name, path, ...aliases];
}

/**
 * Finds an option by its name, its path in the document (with or without the service's key), or an alias of either.
 *
 * @param among options to choose from, such as those of a service
 * @throws Fault config/unknown — suggests the nearest names
 */
export function findOption(entry: string, among: readonly OptionName[] = OPTION_NAMES): OptionName {
  const found = byEntry.get(entry.replace(SERVICE_KEYS, ''));
  if (found !== undefined && among.includes(found)) return found;
  const near = didYouMean(entry, among.flatMap(entriesOf));
  const message = found === undefined ? `There is no option ${excerpt(entry)}` : `The option ${excerpt(entry)} is not one of this service`;
  throw new Fault('config/unknown', message, { hint: near === undefined ? 'GET /config shows every option' : capital(near) });
}

/**
 * Parses `text` as a value of the option; surrounding white space is ignored. Lists are comma-separated. Values of secret options are
 * `Secret`s.
 *
 * @throws Fault config/invalid — names the option, the text (unless secret) and what is expected; config/unknown
 */
export function parseOption<N extends OptionName>(name: N, text: string): Snapshot[N] {
  const row = optionRow(findOption(name));
  const value = parseText(name, text, row);
  return (row.secret === true ? hidden(value) : value) as Snapshot[N];
}

function hidden(value: PlainValue): unknown {
  if (typeof value === 'object') return Object.freeze(value.map((one) => new Secret(one)));
  return typeof value === 'string' ? new Secret(value) : value;
}

/** The text of an option as it is shown. One that names no place may be an IRI. */
export const redactedValue = (name: string, text: string): string => (isPlace(name) ? redact(text) : redactText(text));

const isPlace = (name: string): boolean => Object.hasOwn(DEFAULTS, name) && optionRow(name as OptionName).place !== undefined;

type PlainValue = string | number | boolean | readonly string[] | undefined;

function parseText(name: OptionName, text: string, row: OptionRow): PlainValue {
  const given = text.trim();
  const refuse = (expected: string, refused = given): never => {
    const said = row.secret ? '' : ` ${excerpt(redactedValue(name, refused))}`;
    throw new Fault('config/invalid', `The option ${name} does not take the value${said}: expected ${expected}`);
  };
  const check = (one: string): string => {
    if (row.pattern !== undefined && !row.pattern.test.test(one)) refuse(row.pattern.says, one);
    return one;
  };
  switch (row.type) {
    case 'boolean': {
      const word = given.toLowerCase();
      if (word === 'true' || word === '1' || word === 'yes' || word === 'on') return true;
      if (word === 'false' || word === '0' || word === 'no' || word === 'off') return false;
      return refuse('true or false');
    }
    case 'integer': {
      const { minimum = Number.MIN_SAFE_INTEGER, maximum = Number.MAX_SAFE_INTEGER } = row;
      const value = /^[+-]?\d+$/.test(given) ? Number(given) : Number.NaN;
      if (!Number.isSafeInteger(value) || value < minimum || value > maximum) {
        return refuse(row.maximum === undefined ? `an integer, at least ${minimum}` : `an integer from ${minimum} to ${maximum}`);
      }
      return value;
    }
    case 'enum': {
      const values = row.values ?? [];
      const value = values.find((one) => one.toLowerCase() === given.toLowerCase());
      return value ?? refuse(`one of ${values.join(', ')}`);
    }
    case 'list':
      return Object.freeze(
        given
          .split(',')
          .map((one) => one.trim())
          .filter((one) => one !== '')
          .map(check),
      );
    case 'url':
      if (/[\s<>"]/.test(given)) return refuse('a URL or a path, without spaces and quotes');
      // An empty text unsets an option that may be absent.
      return given === '' ? row.default : check(given);
    case 'string':
      return given === '' ? row.default : check(given);
  }
}

export interface EnvironmentReading {
  readonly values: OptionValues;
  /** Variables that look like misspelt options: logged, but not an error, since they may belong to another program. */
  readonly suspects: readonly { readonly name: string; readonly hint: string }[];
  /** Ignored aliases, because the option's own name is set to another value. */
  readonly overruled: readonly { readonly name: string; readonly by: OptionName }[];
}

/**
 * The options that environment variables set. An empty variable counts as absent; other variables are ignored.
 *
 * @throws Fault config/invalid
 */
export function readEnvironment(environment: Readonly<Record<string, string | undefined>>): EnvironmentReading {
  const values: Record<string, unknown> = {};
  const suspects: { name: string; hint: string }[] = [];
  const overruled: { name: string; by: OptionName }[] = [];
  for (const [name, text] of Object.entries(environment)) {
    if (text === undefined || text.trim() === '') continue;
    const by = aliased.get(name);
    if (Object.hasOwn(DEFAULTS, name)) values[name] = parseOption(name as OptionName, text);
    else if (by !== undefined) {
      const own = environment[by]?.trim() ?? '';
      if (own === '') values[by] = parseOption(by, text);
      else if (own !== text.trim()) overruled.push({ name, by });
    } else if (name.length >= 7 && OPTION_NAMES.some((option) => option.length >= 7 && nearly(name, option))) {
      suspects.push({ name, hint: didYouMean(name, OPTION_NAMES) ?? '' });
    }
  }
  return { values: values as OptionValues, suspects, overruled };
}

const aliased: ReadonlyMap<string, OptionName> = new Map(
  OPTION_NAMES.flatMap((name) => (optionRow(name).aliases ?? []).map((alias) => [alias, name])),
);

function nearly(name: string, option: string): boolean {
  return Math.abs(name.length - option.length) <= 2 && editDistance(name, option) <= 2;
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
