/**
 * The table of options. Environment variables, `configEntry` names, paths of the `/config` document and the page on options are made of it,
 * and it alone holds their defaults.
 */

import type { Secret } from '../../core/secret.ts';
import { FOLLOW_OPTIONS } from './follow.ts';
import { MAPPING_OPTIONS } from './mapping.ts';
import { MESSAGE_OPTIONS } from './messages.ts';
import { NAME_OPTIONS } from './names.ts';
import { OBJECT_STORAGE_OPTIONS } from './object-storage.ts';
import { PROCESS_OPTIONS } from './process.ts';
import { PROVENANCE_OPTIONS } from './provenance.ts';
import { QUEUE_OPTIONS } from './queue.ts';
import type { OptionRow } from './row.ts';
import { SQL_OPTIONS } from './sql.ts';
import { WRITER_OPTIONS } from './writer.ts';

/** The groups in the order of documents and messages. */
export const OPTIONS = {
  ...PROCESS_OPTIONS,
  ...QUEUE_OPTIONS,
  ...MAPPING_OPTIONS,
  ...SQL_OPTIONS,
  ...FOLLOW_OPTIONS,
  ...MESSAGE_OPTIONS,
  ...PROVENANCE_OPTIONS,
  ...NAME_OPTIONS,
  ...OBJECT_STORAGE_OPTIONS,
  ...WRITER_OPTIONS,
} as const satisfies Readonly<Record<string, OptionRow>>;

export type OptionName = keyof typeof OPTIONS;

export const OPTION_NAMES = Object.keys(OPTIONS) as readonly OptionName[];

/** Paths that stand at the root of the document instead of below the service's key. */
export const ROOT_PATHS: ReadonlySet<string> = new Set(['friendlyName']);

type ValueOf<R> = R extends { secret: true; type: infer T }
  ? T extends 'list'
    ? readonly Secret[]
    : Secret | undefined
  : R extends { type: 'enum'; values: readonly (infer V)[] }
    ? V
    : R extends { type: 'boolean'; default: infer D }
      ? boolean | Extract<D, undefined>
      : R extends { type: 'integer'; default: infer D }
        ? number | Extract<D, undefined>
        : R extends { type: 'list' }
          ? readonly string[]
          : R extends { default: infer D }
            ? string | Extract<D, undefined>
            : never;

/** Every option with its value, as one frozen object; a run keeps the one that it started with. */
export type Snapshot = { readonly [N in OptionName]: ValueOf<(typeof OPTIONS)[N]> } & { readonly [STARTED]?: Snapshot };

/** Not an option: the values with which the process was started. Values of the snapshot may have changed after the start. */
export const STARTED: unique symbol = Symbol('started');

/** Of a snapshot that no store has made, itself. */
export const startedWith = (snapshot: Snapshot): Snapshot => snapshot[STARTED] ?? snapshot;

/** Some options, with values that fit. */
export type OptionValues = { [N in OptionName]?: Snapshot[N] };

export function optionRow(name: OptionName): OptionRow {
  return OPTIONS[name];
}

export const DEFAULTS: Snapshot = Object.freeze(
  Object.fromEntries(OPTION_NAMES.map((name) => [name, OPTIONS[name].default])),
) as unknown as Snapshot;
