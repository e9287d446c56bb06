/** The arguments of a call as SQL, by the parameters of the function. */
import type { FunctionDefinition, Parameter } from '../../functions/definition.ts';
import { functionLibrary } from '../../functions/library.ts';
import type { Expression } from '../../plan/algebra.ts';
import { type Definer, type Row, type Value, valueOf } from '../row.ts';
import { areEqual, type Condition, concat, isNull, NULL, not, raw, type Sql, text, when } from '../sql.ts';
import type { FunctionName } from './definitions.ts';

export type Call = Extract<Expression, { kind: 'call' }>;

/** The value of an argument. */
export type Evaluate = (expression: Expression, row: Row) => Value;

/** What a mapping asks for that no SQL gives. */
export class NotInSql extends Error {}

/** The arguments of a call, by the position of their parameters. */
export class Arguments {
  readonly #definition: FunctionDefinition;
  readonly #given: ReadonlyMap<Parameter, readonly { readonly value: Value; readonly constant: string | undefined }[]>;
  readonly #definitions: Definer;

  constructor(definition: FunctionDefinition, { execution: { inputs } }: Call, row: Row, evaluate: Evaluate) {
    const given = new Map<Parameter, { value: Value; constant: string | undefined }[]>();
    inputs.forEach(({ parameter: iri, value }, at) => {
      const parameter = functionLibrary().parameterOf(definition, iri) as Parameter;
      const one = { value: evaluate(value, row.beside(at)), constant: value.kind === 'constant' ? value.text : undefined };
      const all = given.get(parameter) ?? [];
      all.push(one);
      given.set(parameter, all);
    });
    this.#definition = definition;
    this.#given = given;
    this.#definitions = row.definitions;
    for (const [{ name, type, needs }, all] of given) {
      const isTaken = needs === 'value' && !['any', 'list', 'lazy'].includes(type);
      if (!isTaken && all.some(({ value }) => value.isSeveral))
        throw new NotInSql(`a reference with several values for ${name}, which takes none or all of them`);
    }
  }

  get isSeveral(): boolean {
    return [...this.#given.values()].flat().some(({ value }) => value.isSeveral);
  }

  #parameter(at: number): Parameter {
    return this.#definition.parameters[at] as Parameter;
  }

  #inputs(at: number) {
    return this.#given.get(this.#parameter(at)) ?? [];
  }

  /** The text of an argument; null where it has no value. */
  text(at: number): Sql {
    const { default: instead } = this.#parameter(at);
    const [input] = this.#inputs(at);
    if (input === undefined) return instead === undefined ? NULL : text(instead);
    if (instead === undefined || input.constant !== undefined) return input.value.canonical;
    return this.either(input.value, valueOf(text(instead))).canonical;
  }

  /** Those of all parameters. */
  get texts(): readonly Sql[] {
    return this.#definition.parameters.map((_, at) => this.text(at));
  }

  /** All values of an argument that takes them. */
  values(at: number): readonly Value[] {
    return this.#inputs(at).map(({ value }) => value);
  }

  /** The value of an argument that may have several. */
  value(at: number): Value {
    const [value = NOTHING, other] = this.values(at);
    if (other !== undefined) throw new NotInSql(`several values for ${this.#parameter(at).name}`);
    return value;
  }

  /** The texts of an argument that must be the same for every record. */
  constants(at: number): readonly string[] {
    const { name, default: instead } = this.#parameter(at);
    const inputs = this.#inputs(at);
    if (inputs.length === 0 && instead !== undefined) return [instead];
    return inputs.map(({ constant }) => {
      if (constant === undefined) throw new NotInSql(`${name}, which is no constant`);
      return constant;
    });
  }

  /** undefined: it is left out. */
  constant(at: number): string | undefined {
    return this.constants(at)[0];
  }

  /** A constant, for a parameter of the type `INT`. */
  integer(at: number): Sql {
    const given = this.constant(at);
    if (given === undefined) return raw('CAST(NULL AS INT)');
    const most = 2 ** 30;
    return raw(String(Math.max(-most, Math.min(most, Number(given)))));
  }

  /** The first of two values that is there. */
  either(first: Value, second: Value): Value {
    return chosen(not(isNull(first.canonical)), first, second);
  }

  call(name: FunctionName, ...to: readonly Sql[]): Sql {
    return this.#definitions.call(name, ...to);
  }

  isTrue(sql: Sql): Condition {
    return areEqual(this.call('boolean', sql), text('true'));
  }

  isBlank(sql: Sql): Condition {
    return areEqual(this.call('trim', sql), text(''));
  }
}

export const NOTHING: Value = valueOf(NULL);
const plain = (sql: Sql): Sql => concat(text('"'), { kind: 'apply', name: 'literal', to: [sql] }, text('"'));

/** One value or the other. */
export function chosen(condition: Condition, then: Value, otherwise: Value): Value {
  const literal = (value: Value): Sql => value.literal ?? plain(value.written);
  return {
    written: when(condition, then.written, otherwise.written),
    canonical: when(condition, then.canonical, otherwise.canonical),
    literal: then.literal === undefined && otherwise.literal === undefined ? undefined : when(condition, literal(then), literal(otherwise)),
    isSeveral: false,
  };
}
