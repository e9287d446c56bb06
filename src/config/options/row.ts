/** What a row of the table of options says of an option. */
import { toBytes } from '../../core/text.ts';
import { iriProblem } from '../../nquads/check.ts';

export type OptionType = 'string' | 'boolean' | 'integer' | 'enum' | 'url' | 'list';

/** Which service's document shows the option; undefined: all of them. */
export type OptionScope = 'transformer' | 'writer';

/**
 * What a place is that an option names. While the process runs, a new value of *read*, *write* and *server* has to be within the reach of its
 * start: it is read, written, or asked for callers. *trusted*: servers of the operator, which callers do not name.
 */
export type OptionPlace = 'read' | 'write' | 'server' | 'trusted';

interface Row {
  /** Place in the `/config` JSON below `serviceTransformerConfig` or `serviceWriterConfig`; see `ROOT_PATHS` for the exceptions. */
  readonly path: string;
  readonly type: OptionType;
  /** undefined: the option may be absent, and `summary` says what that means. */
  readonly default: string | boolean | number | readonly string[] | undefined;
  readonly summary: string;
  /** Reads back as `******`. */
  readonly secret?: true;
  readonly place?: OptionPlace;
  /** How one that is not `live` is changed without a restart. */
  readonly instead?: string;
  readonly scope?: OptionScope;
  /** Further names and paths of the same option. */
  readonly aliases?: readonly string[];
  /** The common option whose place this one takes for one service. This one is shown at the path of the common one, and set by that path. */
  readonly own?: { readonly service: string; readonly of: string };
  readonly values?: readonly string[];
  readonly minimum?: number;
  readonly maximum?: number;
  /** What the text must match, and how messages describe that. */
  readonly pattern?: { readonly test: Pick<RegExp, 'test'>; readonly says: string };
}

/** Either it may be changed on a running instance, or it is read once, at start, and the row says why. */
export type OptionRow = Row & ({ readonly live: true; readonly start?: undefined } | { readonly live?: undefined; readonly start: string });

export const isAbsoluteIri = (text: string): boolean => iriProblem(toBytes(text)) === undefined;
export const ABSOLUTE_IRI = {
  test: { test: isAbsoluteIri },
  says: 'an absolute IRI, without angle brackets',
};

/** Defaults of options that may be absent, with the types of their values. */
export const none = undefined as string | undefined;
export const noNumber = undefined as number | undefined;
export const noList: readonly string[] = [];
