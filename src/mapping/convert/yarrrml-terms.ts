/** Expressions of the normal form → values of YARRRML: texts with references, and calls of functions. */
import { XSD } from '../../core/value.ts';
import { functionLibrary } from '../../functions/library.ts';
import type { Report } from '../model/diagnostics.ts';
import type { Expression, FunctionExecution, LogicalSource, LogicalView, Origin, TemplatePart } from '../model/model.ts';
import { headOf, PREDEFINED } from '../yarrrml/prefixes.ts';
import { valueOf } from '../yarrrml/value.ts';
import { hasTextsOnly, isReference, type Use } from './form.ts';

const GREL = 'http://users.ugent.be/~bjdmeest/function/grel.ttl#';
const IDLAB = 'https://w3id.org/imec/idlab/function#';
/** The function `equal`, whose parameters have other names. */
const EQUAL = `${IDLAB}equal`;
const OF_EQUAL: Readonly<Record<string, string>> = { [`${GREL}valueParameter`]: 'str1', [`${GREL}valueParameter2`]: 'str2' };

/** A YAML value. */
export type Value = string | readonly Value[] | Fields;
export type Fields = ReadonlyMap<string, Value>;

/** A map of the keys that have a value, in this order. */
export const fieldsOf = (entries: Readonly<Record<string, Value | undefined>>): Fields =>
  new Map(Object.entries(entries).filter((entry): entry is [string, Value] => entry[1] !== undefined));

/** Reports what YARRRML cannot say. */
export function cannot(report: Report, what: string, origin: Origin, hint?: string): undefined {
  report.error('not-supported', origin, `YARRRML cannot say ${what}`, hint);
}

/** The prefixes of a document that is written. */
export class Prefixes {
  readonly #used = new Set<string>();
  /** Those that a reader may know; the author's are the last. */
  readonly #known: ReadonlyMap<string, string>;
  readonly #longestFirst: readonly (readonly [prefix: string, namespace: string])[];

  constructor(prefixes: ReadonlyMap<string, string>) {
    this.#known = new Map([...Object.entries(PREDEFINED), ...prefixes]);
    // Of several for one namespace, that of the author, which is the last.
    this.#longestFirst = [...this.#known]
      .reverse()
      .filter(([prefix]) => prefix !== '')
      .sort(([, a], [, b]) => b.length - a.length);
  }

  /** Those that the document has to declare. */
  declared(): readonly (readonly [prefix: string, namespace: string])[] {
    return [...this.#known].filter(([prefix, namespace]) => this.#used.has(prefix) && PREDEFINED[prefix] !== namespace);
  }

  /** The value that reads as these parts. IRIs get a prefix, and a text that seems to begin with one has its colon escaped. */
  write(parts: readonly TemplatePart[], isIri: boolean): string {
    const short = isIri ? this.#shorten(parts) : undefined;
    if (short !== undefined) return short;
    const value = valueOf(parts);
    const { kind } = headOf(value, this.#known);
    return kind === 'prefix' || (kind === 'undeclared' && isIri) ? value.replace(':', '\\:') : value;
  }

  #shorten([first, ...others]: readonly TemplatePart[]): string | undefined {
    if (first?.kind !== 'text') return undefined;
    for (const [prefix, namespace] of this.#longestFirst) {
      if (!first.text.startsWith(namespace)) continue;
      const text = first.text.slice(namespace.length);
      const rest = valueOf(text === '' ? others : [{ kind: 'text', text }, ...others]);
      // Behind these, a colon ends no prefix.
      if (rest === '' || /^(?:\/\/|\s)/.test(rest)) continue;
      this.#used.add(prefix);
      return `${prefix}:${rest}`;
    }
    return undefined;
  }
}

/** What an expression is in YARRRML. */
export type Said =
  | { readonly kind: 'text'; readonly text: string; readonly isIri: boolean }
  | { readonly kind: 'call'; readonly fields: Fields };

/** Whether a source is a table of the run's database, whose references are SQL identifiers in YARRRML. */
export const isTable = (source: LogicalSource): boolean => source.kind === 'sql' && source.connection === undefined;

/** Writes the expressions of one triples map. */
export class Terms {
  readonly #prefixes: Prefixes;
  readonly #report: Report;
  /** Whether references become SQL identifiers: columns have names, and the table that YARRRML describes has identifiers. */
  readonly #quotes: boolean;
  /** Whether values have no natural datatypes in YARRRML. */
  readonly #textsOnly: boolean;

  constructor(prefixes: Prefixes, report: Report, source: LogicalSource | LogicalView) {
    this.#prefixes = prefixes;
    this.#report = report;
    this.#quotes = source.kind === 'sql' && source.references === 'labels' && isTable(source);
    this.#textsOnly = source.kind !== 'view' && hasTextsOnly({ dialect: 'legacy', source });
  }

  iri(value: string): string {
    return this.#prefixes.write([{ kind: 'text', text: value }], true);
  }

  /** Undefined, with a diagnostic, for what YARRRML cannot say. */
  say(expression: Expression, as: Use): Said | undefined {
    const isIri = as === 'encoded';
    switch (expression.kind) {
      case 'constant':
        return this.#constant(expression.term, expression.origin);
      case 'reference':
        return this.#text([expression], isIri, expression.origin);
      case 'template':
        if (expression.parts.length === 1 && expression.parts[0]?.kind === 'reference' && !isReference(expression, as, this.#textsOnly))
          return cannot(this.#report, 'a template of one reference alone', expression.origin, 'write a reference, or text beside it');
        return this.#text(expression.parts, isIri, expression.origin);
      case 'fresh':
        return cannot(this.#report, 'a blank node without a value here', expression.origin);
      case 'call':
        if (!isFirstResult(expression)) return cannot(this.#report, 'a result of a function other than its first', expression.origin);
        return this.#call(expression.execution);
      case 'conditional': {
        const { origin, condition, value } = expression;
        // An argument is a text, in which the values of a template are not encoded for an IRI.
        if (isIri && value.kind === 'template')
          return cannot(this.#report, 'a condition of this template', origin, 'write it on the subject or the object');
        const input = (parameter: string, given: Expression) => ({ origin, parameter: IDLAB + parameter, value: given });
        const inputs = [input('strBoolean', condition), input('str', value)];
        return this.#call({ origin, function: `${IDLAB}trueCondition`, deterministic: true, inputs });
      }
    }
  }

  /** The function of a condition. */
  condition(condition: Expression): Fields | undefined {
    const said = this.say(condition, 'value');
    if (said?.kind !== 'text') return said?.fields;
    return cannot(this.#report, 'a condition that is no function', condition.origin, 'compare the value: idlab-fn:equal');
  }

  /** A parameter with its value. `side`: of the record that it comes from, in a join. */
  parameter(name: string, value: Expression, side?: 's' | 'o'): Value | undefined {
    // An argument of a function is a text, whatever its datatype.
    if (side !== undefined && value.kind === 'constant' && isMarked(value.term))
      return cannot(this.#report, 'a join by a constant with a datatype or a language', value.origin, 'write a plain text');
    const said = this.say(value, 'value');
    if (said === undefined) return undefined;
    const given = [name, said.kind === 'call' ? said.fields : said.isIri ? `${said.text}~iri` : said.text];
    if (said.kind === 'text' && !said.isIri && said.text.endsWith('~iri')) {
      if (side === undefined) return fieldsOf({ parameter: name, value: `${said.text}~iri`, type: 'literal' });
      return cannot(this.#report, 'a join by a text that ends with ~iri', value.origin);
    }
    return side === undefined ? given : [...given, side];
  }

  #constant(term: Extract<Expression, { kind: 'constant' }>['term'], origin: Origin): Said | undefined {
    if (term.kind === 'blank') return cannot(this.#report, 'a constant blank node', origin);
    const isIri = term.kind === 'iri';
    return { kind: 'text', text: this.#prefixes.write([{ kind: 'text', text: term.value }], isIri), isIri };
  }

  #text(parts: readonly TemplatePart[], isIri: boolean, origin: Origin): Said | undefined {
    if (parts.some((part) => part.kind === 'reference' && part.reference.trim() === ''))
      return cannot(this.#report, 'a reference of blanks', origin);
    const quoted = parts.map((part) =>
      part.kind === 'reference' && this.#quotes ? { ...part, reference: `"${part.reference.replaceAll('"', '""')}"` } : part,
    );
    return { kind: 'text', text: this.#prefixes.write(quoted, isIri), isIri: false };
  }

  #call({ function: iri, inputs }: FunctionExecution): Said | undefined {
    const isEqual = iri === EQUAL;
    const parameters = inputs.map(({ parameter, value }) =>
      this.parameter((isEqual ? OF_EQUAL[parameter] : undefined) ?? this.iri(parameter), value),
    );
    if (parameters.some((one) => one === undefined)) return undefined;
    const fields = { function: isEqual ? 'equal' : this.iri(iri), parameters: parameters as Value[] };
    return { kind: 'call', fields: fieldsOf(fields) };
  }
}

/** Whether it is the result that a call gives which names none. */
function isFirstResult({ execution, returns }: Extract<Expression, { kind: 'call' }>): boolean {
  const first = functionLibrary().findFunction(execution.function)?.returns[0];
  return returns === undefined || returns === first?.iri || first?.aliases.includes(returns) === true;
}

/** Whether a constant is a literal with a datatype other than xsd:string, or a language. */
export const isMarked = (term: Extract<Expression, { kind: 'constant' }>['term']): boolean =>
  term.kind === 'literal' && (term.language !== undefined || term.datatype !== `${XSD}string`);
