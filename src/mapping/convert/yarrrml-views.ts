/** Logical views of the normal form → those of YARRRML: an extension of ours. */
import type { Report } from '../model/diagnostics.ts';
import type { Annotation, Field, JoinCondition, LogicalSource, LogicalView, Mapping, ViewJoin } from '../model/model.ts';
import { viewsOf } from '../model/model.ts';
import { ANNOTATIONS } from '../yarrrml/view.ts';
import { FORMULATIONS } from './yarrrml-sources.ts';
import { cannot, type Fields, fieldsOf, isMarked, type Prefixes, Terms, type Value } from './yarrrml-terms.ts';

/** The views of a mapping, those that others are made of first. */
export function viewsInOrder(mapping: Mapping): readonly LogicalView[] {
  const ordered = new Set<LogicalView>();
  const add = (source: LogicalSource | LogicalView): void => {
    if (source.kind !== 'view') return;
    add(source.on);
    for (const { parent } of source.joins) add(parent);
    ordered.add(source);
  };
  for (const view of viewsOf(mapping)) add(view);
  return [...ordered];
}

/** The condition of a join. Undefined, with diagnostics, for what YARRRML cannot say. */
export function sayJoin({ child, parent }: JoinCondition, childTerms: Terms, parentTerms: Terms): Value | undefined {
  const parameters = [childTerms.parameter('str1', child, 's'), parentTerms.parameter('str2', parent, 'o')];
  return parameters.includes(undefined) ? undefined : fieldsOf({ function: 'equal', parameters: parameters as Value[] });
}

/** Says views, whose names are known. */
export class Views {
  readonly #prefixes: Prefixes;
  readonly #report: Report;
  readonly #annotations: readonly Annotation[];
  readonly #nameOf: (view: LogicalView) => string;

  constructor(prefixes: Prefixes, report: Report, annotations: readonly Annotation[], nameOf: (view: LogicalView) => string) {
    this.#prefixes = prefixes;
    this.#report = report;
    this.#annotations = annotations;
    this.#nameOf = nameOf;
  }

  /** @param source as it is said, or its name */
  say(view: LogicalView, source: Value | undefined): Fields {
    const joins = view.joins.map((join) => this.#join(join, view)).filter((join) => join !== undefined);
    const annotations = this.#annotationsOf(view);
    return fieldsOf({
      source,
      fields: this.#fields(view.fields, this.#terms(view)),
      joins: joins.length === 0 ? undefined : joins,
      annotations: annotations.length === 0 ? undefined : annotations,
    });
  }

  /** References name fields, or what the source has: never SQL identifiers. */
  #terms(view: LogicalView): Terms {
    return new Terms(this.#prefixes, this.#report, view);
  }

  #fields(fields: readonly Field[], terms: Terms): Value | undefined {
    if (fields.length === 0) return undefined;
    return new Map(fields.map((field): [string, Value] => [field.name, this.#field(field, terms) ?? '']));
  }

  #field(field: Field, terms: Terms): Value | undefined {
    const fields = this.#fields(field.fields, terms);
    if (field.kind === 'iterable') {
      const { formulation, iterator } = field;
      return fieldsOf({ referenceFormulation: formulation && FORMULATIONS[formulation], iterator, fields });
    }
    const value = this.#value(field.expression, terms);
    if (value === undefined || fields === undefined) return value;
    return value instanceof Map ? new Map([...value, ['fields', fields]]) : fieldsOf({ value, fields });
  }

  /** A text, or a map with a function. */
  #value(expression: Extract<Field, { kind: 'expression' }>['expression'], terms: Terms): Value | undefined {
    if (expression.kind === 'constant' && isMarked(expression.term))
      return cannot(this.#report, 'a field with a datatype or a language', expression.origin, 'write a plain text');
    const said = terms.say(expression, 'value');
    if (said?.kind !== 'text') return said?.fields;
    if (!said.text.endsWith('~iri')) return said.isIri ? `${said.text}~iri` : said.text;
    return cannot(this.#report, 'a field with a text that ends with ~iri', expression.origin);
  }

  #join({ kind, parent, conditions, fields }: ViewJoin, view: LogicalView): Value | undefined {
    const [own, others] = [this.#terms(view), this.#terms(parent)];
    const said = conditions.map((condition) => sayJoin(condition, own, others)).filter((one) => one !== undefined);
    return fieldsOf({
      view: this.#nameOf(parent),
      type: kind,
      condition: said.length === 1 ? said[0] : said,
      fields: this.#fields(
        fields.map((field) => ({ ...field, kind: 'expression', fields: [] })),
        others,
      ),
    });
  }

  /** One annotation of the mapping may be read as several. */
  #annotationsOf(view: LogicalView): readonly Value[] {
    const own = this.#annotations.filter((one) => one.view === view);
    return [...new Set(own.map(({ origin }) => origin))].map((origin) => {
      const parts = own.filter((one) => one.origin === origin);
      const { name, fields } = parts[0] as Annotation;
      const target = parts.find((one) => one.target !== undefined)?.target;
      const types = Object.keys(ANNOTATIONS).filter((type) => name.split(' and ').includes(`rml:${ANNOTATIONS[type]}Annotation`));
      return fieldsOf({
        type: types.length === 1 ? types[0] : types,
        fields: fields.map((field) => field.name),
        targetView: target && this.#nameOf(target.view),
        targetFields: target?.fields.map((field) => field.name),
      });
    });
  }
}
