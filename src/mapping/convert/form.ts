/**
 * The normal forms of a mapping and of what it was converted to, part by part: equal where both make the same statements.
 *
 * What languages say in different ways, with one meaning, has one form here. Each way stands in `Forms` with the reason why it means the same.
 */

import { XSD } from '../../core/value.ts';
import { functionLibrary } from '../../functions/library.ts';
import type {
  Annotation,
  Expression,
  Field,
  FunctionExecution,
  JoinCondition,
  LogicalSource,
  LogicalTarget,
  LogicalView,
  Mapping,
  Origin,
  PredicateObjectMap,
  SubjectMap,
  TermMap,
  TriplesMap,
  ViewJoin,
} from '../model/model.ts';
import { DEFAULT_GRAPH_IRIS, hasEmptyCells, namesTypedColumns, referredBy } from '../model/model.ts';

const RDF_TYPE = 'http://www.w3.org/1999/02/22-rdf-syntax-ns#type';
const IDLAB = 'https://w3id.org/imec/idlab/function#';

/** What of the first mapping is not in the second as it was, in the words of the first: none if both make the same statements. */
export function differences(
  before: Mapping,
  after: Mapping,
  { withoutConnections, withoutEmptyCells = false }: { readonly withoutConnections: boolean; readonly withoutEmptyCells?: boolean },
): readonly { readonly what: string; readonly origin: Origin }[] {
  const given = new Forms(before, after, withoutConnections);
  const made = new Forms(after, after, withoutConnections);
  const found: { what: string; origin: Origin }[] = [];
  const compare = (what: string, origin: Origin, one: unknown, other: unknown): void => {
    if (JSON.stringify(one) !== JSON.stringify(other)) found.push({ what, origin });
  };
  before.triplesMaps.forEach((map, i) => {
    const other = after.triplesMaps[i];
    if (other === undefined) {
      found.push({ what: `the triples map ${map.name}`, origin: map.origin });
      return;
    }
    // The older dialects have another rule for empty cells: the conversion reports them as a warning.
    const across = withoutEmptyCells || map.dialect !== 'rml' || other.dialect !== 'rml';
    compare('the logical source', map.source.origin, given.source(map.source, across), made.source(other.source, across));
    compare(`the triples map ${map.name}`, map.origin, given.head(map), made.head(other));
    compare('the subject map', map.subject.origin, given.subject(map), made.subject(other));
    const [pairs, others] = [withClasses(map), withClasses(other)];
    pairs.forEach((pair, at) => {
      const same = others[at];
      const form = same === undefined ? undefined : made.pair(same, other);
      compare('the predicate object map', pair.origin, given.pair(pair, map), form);
    });
    if (others.length > pairs.length) found.push({ what: `the triples map ${map.name}`, origin: map.origin });
  });
  before.annotations.forEach((annotation, i) => {
    const other = after.annotations[i];
    compare(
      `a structural annotation (${annotation.name})`,
      annotation.origin,
      given.annotation(annotation),
      other && made.annotation(other),
    );
  });
  const [first] = before.triplesMaps;
  if (first !== undefined && (after.triplesMaps.length > before.triplesMaps.length || after.annotations.length > before.annotations.length))
    found.push({ what: 'the mapping', origin: first.origin });
  return found;
}

/** Classes of a subject are objects of rdf:type in its graphs: YARRRML has no other way to say them. */
function withClasses({ subject, predicateObjects }: TriplesMap): readonly PredicateObjectMap[] {
  const { classes, origin } = subject;
  if (classes.length === 0) return predicateObjects;
  const expression = { kind: 'constant', origin, term: { kind: 'iri', value: RDF_TYPE } } as const;
  const type: TermMap = { kind: 'term', origin, termType: 'iri', expression, language: undefined, datatype: undefined };
  return [{ origin: classes[0]?.origin ?? origin, predicates: [type], objects: classes, graphs: [] }, ...predicateObjects];
}

/** What references refer to: the source of a triples map, or what a view is on. */
type Within = Pick<TriplesMap, 'id' | 'source'>;

class Forms {
  /** Id of a triples map → its place among all. */
  readonly #index: ReadonlyMap<string, number>;
  readonly #maps: readonly TriplesMap[];
  /** Whose dialect decides how a value is read. */
  readonly #after: readonly TriplesMap[];
  readonly #withoutConnections: boolean;

  constructor({ triplesMaps }: Mapping, { triplesMaps: after }: Mapping, withoutConnections: boolean) {
    this.#maps = triplesMaps;
    this.#index = new Map(triplesMaps.map(({ id }, i) => [id, i]));
    this.#after = after;
    this.#withoutConnections = withoutConnections;
  }

  head({ baseIri, quotedOnly }: TriplesMap): unknown {
    return [baseIri, quotedOnly];
  }

  /** @param withoutEmptyCells whether it does not count that an empty text means null in cells */
  source(source: LogicalSource | LogicalView, withoutEmptyCells = false): unknown {
    if (source.kind === 'view') return this.#view(source);
    // The quotes of identifiers are compared with the references.
    if (source.kind === 'sql')
      return plain({ ...source, references: undefined, connection: this.#withoutConnections ? undefined : source.connection });
    const { csv } = source;
    const nulls = withoutEmptyCells && hasEmptyCells(source) ? source.nulls.filter((text) => text !== '') : source.nulls;
    // Nothing said of CSV is what is usual.
    return plain({ ...source, nulls, csv: csv !== undefined && Object.values(csv).every((one) => one === undefined) ? undefined : csv });
  }

  #view({ on, fields, joins }: LogicalView): unknown {
    const values = { id: '', source: on };
    const field = (one: Field): unknown =>
      one.kind === 'iterable'
        ? [one.name, one.formulation, one.iterator, one.fields.map(field)]
        : [one.name, this.#expression(one.expression, values), one.fields.map(field)];
    const join = ({ kind, parent, conditions, fields: joined }: ViewJoin): unknown => {
      const others = { id: '', source: parent };
      return [
        kind,
        this.source(parent),
        conditions.map((condition) => this.#join(condition, values, others)),
        joined.map(({ name, expression }) => [name, this.#expression(expression, others)]),
      ];
    };
    return [this.source(on), fields.map(field), joins.map(join)];
  }

  annotation({ kind, view, fields, target }: Annotation): unknown {
    const names = (of: Annotation['fields']): readonly string[] => of.map(({ name }) => name);
    return [kind, this.source(view), names(fields), target === undefined ? undefined : [this.source(target.view), names(target.fields)]];
  }

  subject(map: TriplesMap): unknown {
    const { subject } = map;
    const { classes: _, graphs, ...own } = subject;
    return [this.#map(own as SubjectMap, map), inAnyOrder(graphs.map((graph) => this.#graph(graph, map)))];
  }

  pair({ predicates, objects, graphs }: PredicateObjectMap, map: TriplesMap): unknown {
    const all = (of: PredicateObjectMap['objects']): unknown => {
      const forms = inAnyOrder(of.map((one) => this.#map(one, map)));
      // A constant that stands there twice is one statement. Two blank nodes of a record are two.
      return forms.filter((form, i) => form !== forms[i - 1] || /"fresh"|"call"/.test(form));
    };
    return [all(predicates), all(objects), inAnyOrder(graphs.map((graph) => this.#graph(graph, map)))];
  }

  /** Each vocabulary has a name for the default graph, and all of them are known in each. */
  #graph(map: TermMap, within: TriplesMap): unknown {
    const { expression } = map;
    return expression.kind === 'constant' && DEFAULT_GRAPH_IRIS.has(expression.term.value) ? 'default' : this.#map(map, within);
  }

  #map(map: PredicateObjectMap['objects'][number], within: TriplesMap): unknown {
    if (map.kind !== 'term') {
      const parent = this.#maps[this.#index.get(referredBy(map)) ?? -1] as TriplesMap;
      const conditions = map.conditions.map((condition) => this.#join(condition, within, parent));
      // Maps of different dialects refer to all records in different ways, and a mapping of one dialect has one way.
      return [map.kind, this.#index.get(referredBy(map)), conditions, map.kind === 'star' ? targets(map.targets) : map.all];
    }
    const { termType, gather } = map;
    const { language, datatype, expression } = withoutMarks(map);
    return {
      termType,
      expression: this.#expression(expression, within, useOf(map)),
      language: language && this.#expression(language, within),
      // Targets of a datatype are those of the literal.
      datatype: datatype && this.#map({ ...datatype, targets: [] }, within),
      targets: targets([...(map.targets ?? []), ...(datatype?.targets ?? [])]),
      gather: gather && { ...gather, id: undefined, members: gather.members.map((member) => this.#map(member, within)) },
    };
  }

  #join({ child, parent }: JoinCondition, within: Within, other: Within): unknown {
    return [this.#expression(child, within), this.#expression(parent, other)];
  }

  #expression(expression: Expression, within: Within, as: Use = 'value'): unknown {
    switch (expression.kind) {
      case 'constant': {
        const { kind, value } = expression.term;
        return expression.term.kind === 'literal'
          ? [kind, value, expression.term.datatype === `${XSD}string` ? undefined : expression.term.datatype, expression.term.language]
          : [kind, value];
      }
      case 'reference':
        return ['reference', columnOf(expression.reference, within)];
      case 'template': {
        const [only] = expression.parts;
        if (only?.kind === 'reference' && isReference(expression, as, this.#hasTextsOnly(within)))
          return ['reference', columnOf(only.reference, within)];
        return [
          'template',
          expression.parts.map((part) => (part.kind === 'text' ? part.text : { reference: columnOf(part.reference, within) })),
        ];
      }
      case 'fresh':
        return 'fresh';
      case 'conditional':
        return ['conditional', this.#expression(expression.condition, within), this.#expression(expression.value, within, as)];
      case 'call':
        return this.#call(expression.execution, expression.returns, within, as);
    }
  }

  /** The dialect of what it was converted to decides how values are read. */
  #hasTextsOnly({ id }: Within): boolean {
    const map = this.#after[this.#index.get(id) ?? -1];
    return map !== undefined && hasTextsOnly(map);
  }

  /** Legacy RML has conditions as a function. A call gives its first result if it names none. Arguments are texts, without a datatype. */
  #call({ function: iri, inputs }: FunctionExecution, returns: string | undefined, within: Within, as: Use): unknown {
    const argument = (value: Expression): unknown =>
      value.kind === 'constant' ? ['constant', value.term.value] : this.#expression(value, within);
    const of = (parameter: string): Expression | undefined => inputs.find((input) => input.parameter === IDLAB + parameter)?.value;
    const [condition, value] = [of('strBoolean'), of('str')];
    if (iri === `${IDLAB}trueCondition` && condition !== undefined && value !== undefined && inputs.length === 2)
      return ['conditional', this.#expression(condition, within), this.#expression(asArgument(value), within, as)];
    const first = functionLibrary().findFunction(iri)?.returns[0];
    const isFirst = returns === undefined || returns === first?.iri || first?.aliases.includes(returns) === true;
    return ['call', iri, isFirst ? undefined : returns, inputs.map((input) => [input.parameter, argument(input.value)])];
  }
}

/** The language or the datatype of a constant under a condition may stand at the constant, or at the term map. */
function withoutMarks({ origin, expression, language, datatype }: TermMap): Pick<TermMap, 'expression' | 'language' | 'datatype'> {
  const value = expression.kind === 'conditional' ? expression.value : undefined;
  if (
    expression.kind !== 'conditional' ||
    value?.kind !== 'constant' ||
    value.term.kind !== 'literal' ||
    language !== undefined ||
    datatype !== undefined
  )
    return { expression, language, datatype };
  const { term } = value;
  const plainTerm = { ...term, datatype: `${XSD}string`, language: undefined };
  const constant = { ...value, term: plainTerm };
  const without = { ...expression, value: constant };
  if (term.language !== undefined)
    return { expression: without, language: { kind: 'constant', origin, term: { ...plainTerm, value: term.language } }, datatype };
  if (term.datatype === plainTerm.datatype) return { expression, language, datatype };
  const iri = { kind: 'constant', origin, term: { kind: 'iri', value: term.datatype } } as const;
  return {
    expression: without,
    language,
    datatype: { kind: 'term', origin, termType: 'iri', expression: iri, language: undefined, datatype: undefined },
  };
}

/** Each predicate stands with each object in each graph, so their order says nothing: Turtle lists constants apart from term maps. */
const inAnyOrder = (forms: readonly unknown[]): readonly string[] => forms.map((form) => JSON.stringify(form)).sort();

/** A constant literal is a text in an argument. */
const asArgument = (value: Expression): Expression =>
  value.kind === 'constant' && value.term.kind === 'literal'
    ? { ...value, term: { ...value.term, datatype: `${XSD}string`, language: undefined } }
    : value;

/** Whether values have no natural datatypes: those of files in legacy RML, apart from workbooks. */
export const hasTextsOnly = ({ dialect, source }: Pick<TriplesMap, 'dialect' | 'source'>): boolean =>
  dialect !== 'rml' && source.kind === 'file' && !namesTypedColumns(source);

/** What becomes of a value: its text is encoded for an IRI; its text and its datatype count; its text alone counts. */
export type Use = 'encoded' | 'value' | 'text';

/** The text of a database depends on the datatype that the literal has. */
export const useOf = ({ termType, language }: Pick<TermMap, 'termType' | 'language'>): Use =>
  termType === 'blank' || language !== undefined ? 'text' : termType === 'literal' ? 'value' : 'encoded';

/** Whether a template is one reference alone, and means what the reference means. */
export const isReference = ({ parts }: Extract<Expression, { kind: 'template' }>, as: Use, textsOnly: boolean): boolean =>
  parts.length === 1 && parts[0]?.kind === 'reference' && (as === 'text' || (as === 'value' && textsOnly));

const targets = (of: readonly LogicalTarget[] = []): readonly string[] => [...new Set(of.map((target) => JSON.stringify(plain(target))))];

/** The column that a reference names: without its quotes where references are SQL identifiers. */
const columnOf = (reference: string, { source }: Within): string =>
  source.kind === 'sql' && source.references === 'identifiers' && /^".*"$/s.test(reference)
    ? reference.slice(1, -1).replaceAll('""', '"')
    : reference;

const NAMES: ReadonlySet<string> = new Set(['origin', 'iteratorOrigin', 'ids', 'id']);

/** Without places and names of nodes. */
const plain = (part: unknown): unknown => JSON.parse(JSON.stringify(part, (key, value) => (NAMES.has(key) ? undefined : value)));
