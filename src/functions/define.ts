/** Makes the rows of the table of functions. */
import type {
  ArgumentTypes,
  Chance,
  ExampleValue,
  Failure,
  FunctionDefinition,
  Parameter,
  ParameterType,
  Result,
  Return,
} from './definition.ts';
import { aliasesOf, expand } from './names.ts';

type Argument<P> =
  P extends Parameter<infer T, infer N>
    ? T extends 'list' | 'any' | 'lazy'
      ? ArgumentTypes[T]
      : N extends 'argument' | 'nothing'
        ? ArgumentTypes[T] | undefined
        : ArgumentTypes[T]
    : never;

type Arguments<Ps extends readonly Parameter[]> = { -readonly [K in keyof Ps]: Argument<Ps[K]> };

type ShortExample = readonly [given: readonly ExampleValue[], gives: ExampleValue | Failure, of?: string];

interface Row<Ps extends readonly Parameter[]> {
  /** Prefixed name, and those of the same function in other vocabularies. */
  readonly names: readonly [string, ...string[]];
  readonly does: string;
  readonly takes: Ps;
  readonly gives: Return | readonly Return[];
  readonly on?: 'bytes';
  readonly random?: true;
  /** Throws for some values although the types of the parameters fit. */
  readonly fails?: true;
  readonly call: (...args: [...Arguments<Ps>, Chance]) => Result | readonly Result[];
  readonly examples: readonly ShortExample[];
}

const CHECKED: ReadonlySet<ParameterType> = new Set<ParameterType>(['integer', 'number', 'boolean']);

/** A row of the table; `call` is checked against the types of the parameters. */
export function define<const Ps extends readonly Parameter[]>(row: Row<Ps>): FunctionDefinition {
  const [name, ...others] = row.names;
  return {
    iri: expand(name),
    aliases: aliasesOf(name, others),
    name,
    does: row.does,
    parameters: row.takes,
    returns: Array.isArray(row.gives) ? row.gives : [row.gives as Return],
    on: row.on ?? 'characters',
    deterministic: row.random !== true,
    total: row.fails !== true && !row.takes.some(({ type }) => CHECKED.has(type)),
    // The compile step passes what `Arguments<Ps>` says, which is the same table.
    call: row.call as unknown as FunctionDefinition['call'],
    examples: row.examples.map(([given, gives, of]) => ({ given, gives, ...(of === undefined ? {} : { of }) })),
  };
}
