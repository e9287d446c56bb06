/** The `/config` document: options by their paths, secrets hidden, complete or restricted to some entries. */

import type { Secret } from '../core/secret.ts';
import { type DocumentService, effectiveValue, optionsOf, sharedOption } from './effective.ts';
import { DEFAULTS, type OptionName, optionRow, ROOT_PATHS, type Snapshot } from './options/options.ts';
import type { OptionScope } from './options/row.ts';
import { findOption, redactedValue } from './parse.ts';
import { VERSION } from './version.ts';

export type { DocumentService };

export type ConfigDocument = Readonly<Record<string, unknown>>;

const HIDDEN = '******';
const SERVICE_KEY: Readonly<Record<OptionScope, string>> = { transformer: 'serviceTransformerConfig', writer: 'serviceWriterConfig' };

/**
 * The document of one service. With `paths`, only those entries: option names, their paths, or the path of a group (`provenance`,
 * `provenance.kafka`), each with or without the service's key; also `version` and `applicationName`.
 *
 * @throws Fault config/unknown — an entry that does not exist, or belongs to another service
 */
export function configDocument(snapshot: Snapshot, service: DocumentService, paths?: readonly string[]): ConfigDocument {
  const wanted = paths === undefined ? undefined : new Set(paths.flatMap((entry) => entriesOf(entry, service)));
  const document: Record<string, unknown> = {};
  const put = (path: string, value: unknown): void => {
    if (wanted !== undefined && !wanted.has(path)) return;
    place(document, ROOT_PATHS.has(path) || Object.hasOwn(ROOT_VALUES, path) ? path : `${SERVICE_KEY[service.scope]}.${path}`, value);
  };
  for (const [path, value] of Object.entries(ROOT_VALUES)) put(path, value(service));
  for (const name of shownOptions(service)) put(optionRow(name).path, shownValue(name, snapshot, service));
  return document;
}

const ROOT_VALUES: Readonly<Record<string, (service: DocumentService) => string>> = {
  version: () => VERSION,
  applicationName: (service) => service.name,
};

/** An option of the service's own is shown at the path of the common one. */
const shownOptions = (service: DocumentService): readonly OptionName[] =>
  optionsOf(service).filter((name) => optionRow(name).own === undefined);

/** The paths that an entry of the request selects. */
function entriesOf(entry: string, service: DocumentService): readonly string[] {
  const path = entry.trim();
  if (Object.hasOwn(ROOT_VALUES, path)) return [path];
  if (!Object.hasOwn(DEFAULTS, path)) {
    const key = SERVICE_KEY[service.scope];
    const all = shownOptions(service).map((name) => optionRow(name).path);
    if (path === key) return all.filter((one) => !ROOT_PATHS.has(one));
    const above = `${path.startsWith(`${key}.`) ? path.slice(key.length + 1) : path}.`;
    const below = all.filter((one) => one.startsWith(above));
    if (below.length > 0) return below;
  }
  return [optionRow(sharedOption(findOption(path, optionsOf(service)))).path];
}

/** The value as shown: secrets and passwords inside URLs are hidden, lists are comma-separated text. */
export function shownValue(name: OptionName, snapshot: Snapshot, service: DocumentService): string | boolean | number | null {
  const value = effectiveValue(name, snapshot, service);
  if (value === undefined) return null;
  const text = Array.isArray(value) ? value.join(',') : (value as string | boolean | number | Secret);
  if (optionRow(name).secret) return text === '' ? '' : HIDDEN;
  return typeof text === 'string' ? redactedValue(name, text) : (text as boolean | number);
}

function place(document: Record<string, unknown>, path: string, value: unknown): void {
  const steps = path.split('.');
  const last = steps.pop() as string;
  let at = document;
  for (const step of steps) at = (at[step] ??= {}) as Record<string, unknown>;
  at[last] = value;
}
