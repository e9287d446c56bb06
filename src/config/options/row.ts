/** What a row of the table of options says of an option. */

export type OptionType = 'string' | 'boolean' | 'integer' | 'enum' | 'url' | 'list';

/** Which service's document shows the option; undefined: all of them. */
export type OptionScope = 'transformer' | 'writer';

export interface OptionRow {
  /** Place in the `/config` JSON below `serviceTransformerConfig` or `serviceWriterConfig`; see `ROOT_PATHS` for the exceptions. */
  readonly path: string;
  readonly type: OptionType;
  /** undefined: the option may be absent, and `summary` says what that means. */
  readonly default: string | boolean | number | readonly string[] | undefined;
  readonly summary: string;
  /** Reads back as `******`. */
  readonly secret?: true;
  /** May be changed on a running instance. The others are read once, at start. */
  readonly live?: true;
  /** How one that is not `live` is changed without a restart. */
  readonly instead?: string;
  readonly scope?: OptionScope;
  /** Nothing reads it yet: it cannot be set while running, and is warned of where the environment sets it. */
  readonly effect?: 'none yet';
  /** Other names and paths of the same option. */
  readonly aliases?: readonly string[];
  /** What one service has in place of an option that all of them have. Shown at the path of that option, and set by it. */
  readonly own?: { readonly service: string; readonly of: string };
  readonly values?: readonly string[];
  readonly minimum?: number;
  readonly maximum?: number;
  /** What the text must look like, and how to say it. */
  readonly pattern?: { readonly test: Pick<RegExp, 'test'>; readonly says: string };
}

/** Defaults of options that may be absent, with the types of their values. */
export const none = undefined as string | undefined;
export const noNumber = undefined as number | undefined;
export const noList: readonly string[] = [];
