/**
 * The normal form of a mapping → YARRRML: a mapping for each triples map.
 *
 * It means what `src/mapping/yarrrml` reads of it, apart from the dialect: legacy RML, or R2RML for tables of the run's database. What
 * YARRRML cannot say is an error at its place.
 *
 * @see https://rml.io/yarrrml/spec/
 */
import { Document, YAMLMap } from 'yaml';
import { XSD } from '../../core/value.ts';
import type { Report } from '../model/diagnostics.ts';
import type {
  FunctionExecution,
  LogicalSource,
  LogicalTarget,
  LogicalView,
  Mapping,
  PredicateObjectMap,
  ReferencingObjectMap,
  StarMap,
  TermMap,
  TriplesMap,
} from '../model/model.ts';
import { withMembers } from '../model/model.ts';
import { DEFAULT_BASE } from '../yarrrml/document.ts';
import { useOf } from './form.ts';
import { addPart, type Comments, commentOf, commentPairs, layOut } from './yarrrml-layout.ts';
import { saySource, sayTarget } from './yarrrml-sources.ts';
import { cannot, type Fields, fieldsOf, Prefixes, Terms, type Value } from './yarrrml-terms.ts';
import { sayJoin, Views, viewsInOrder } from './yarrrml-views.ts';

const RDF_TYPE = 'http://www.w3.org/1999/02/22-rdf-syntax-ns#type';

/** @param prefixes prefix → namespace; only those that are used are declared */
export function writeYarrrml(mapping: Mapping, prefixes: ReadonlyMap<string, string>, comments: Comments, report: Report): string {
  return new YarrrmlWriter(mapping, new Prefixes(prefixes), report).write(comments);
}

/** What YARRRML says of a triples map, part by part. */
export interface SaidMapping {
  readonly source: Value | undefined;
  /** undefined: a blank node for each record. */
  readonly subject: Value | undefined;
  readonly graphs: readonly Value[];
  readonly classes: readonly string[];
  /** In the order of its predicate object maps. */
  readonly pairs: readonly SaidPair[];
}

export interface SaidPair {
  readonly predicates: readonly Value[];
  readonly objects: readonly SaidObject[];
  readonly graphs: readonly Value[];
}

/**
 * What YARRRML says of triples maps, to be put into a text that stands.
 *
 * @param prefixes those that the text declares: no others are used
 * @param names of mappings, by the ids of triples maps
 */
export function sayMappings(
  mapping: Mapping,
  prefixes: ReadonlyMap<string, string>,
  names: ReadonlyMap<string, string>,
  report: Report,
): ReadonlyMap<string, SaidMapping> {
  return new YarrrmlWriter(mapping, new Prefixes(prefixes), report, names).say();
}

/** A predicate object in its shortest form. */
export function valueOfPair({ predicates, objects, graphs }: SaidPair): Value {
  const p = inList(predicates.length === 0 ? undefined : listOrOne(predicates)) ?? [];
  const mark = objects[0]?.mark;
  const isShort = graphs.length === 0 && isText(p) && objects.every((one) => typeof one.value === 'string' && one.mark === mark);
  if (isShort) return [p, listOrOne(objects.map(({ value }) => value)), ...(mark === undefined ? [] : [mark])];
  const o = objects.map(valueOfObject);
  return fieldsOf({
    p,
    // A list of one: an object that is a list is a value with its mark.
    o: o.length === 1 && !Array.isArray(o[0]) ? o[0] : o,
    graphs: graphs.length === 0 ? undefined : inList(listOrOne(graphs)),
  });
}

export const valueOfObject = ({ value, mark }: SaidObject): Value => (mark === undefined ? value : [value, mark]);

class YarrrmlWriter {
  readonly #mapping: Mapping;
  readonly #prefixes: Prefixes;
  readonly #report: Report;
  readonly #maps: ReadonlyMap<string, TriplesMap>;
  /** Id of a triples map → the name of its mapping. */
  readonly #names: ReadonlyMap<string, string>;
  readonly #views: Views;
  /** Of each view, the others that it is made of before it. */
  readonly #viewNames: ReadonlyMap<LogicalView, string>;
  readonly #sources: Section<LogicalSource>;
  readonly #targets: Section<LogicalTarget>;

  constructor(mapping: Mapping, prefixes: Prefixes, report: Report, given?: ReadonlyMap<string, string>) {
    this.#mapping = mapping;
    this.#prefixes = prefixes;
    this.#report = report;
    this.#maps = new Map(mapping.triplesMaps.map((map) => [map.id, map]));
    const names = new Names();
    this.#names =
      given ?? new Map(mapping.triplesMaps.map(({ id, name }) => [id, names.of(id.startsWith('_:') ? 'mapping' : localName(id, name))]));
    // Sources and views are named in one way.
    const inputs = new Names();
    const views = viewsInOrder(mapping);
    this.#viewNames = new Map(views.map((view) => [view, inputs.of(view.id.startsWith('_:') ? 'view' : localName(view.id, view.name))]));
    this.#views = new Views(prefixes, report, mapping.annotations, (view) => this.#viewNames.get(view) as string);
    this.#sources = new Section((source) => saySource(report, source), 'source', inputs);
    this.#targets = new Section((target) => sayTarget(report, target), 'target', new Names());
  }

  write(comments: Comments): string {
    const { triplesMaps } = this.#mapping;
    this.#checkShared();
    const pairs = triplesMaps.flatMap(({ origin, predicateObjects }) => [origin, ...predicateObjects.map((pair) => pair.origin)]);
    comments.assign([...[...this.#viewNames.keys()].map(({ origin }) => origin), ...pairs]);
    const uses = new Map<string, number>();
    for (const source of [...triplesMaps.map((map) => map.source), ...[...this.#viewNames.keys()].map(({ on }) => on)]) {
      const key = keyOf(source);
      uses.set(key, (uses.get(key) ?? 0) + 1);
    }
    const isShared = (source: LogicalSource | LogicalView): boolean => (uses.get(keyOf(source)) ?? 0) > 1;
    const document = new Document(new YAMLMap());
    const views = new YAMLMap();
    for (const [view, name] of this.#viewNames)
      addPart(document, views, name, this.#views.say(view, this.#source(view.on, isShared(view.on))), comments.above(view.origin));
    const mappings = new YAMLMap();
    for (const map of triplesMaps) {
      const name = this.#names.get(map.id) as string;
      const node = addPart(document, mappings, name, this.#triplesMap(map, isShared(map.source)), comments.above(map.origin));
      commentPairs(node, map, comments);
    }
    const contents = document.contents as unknown as YAMLMap;
    const base = this.#base();
    if (base !== undefined && base !== DEFAULT_BASE) contents.set('base', base);
    for (const [name, entries] of [
      ['prefixes', this.#prefixes.declared()],
      ['sources', this.#sources.named()],
      ['targets', this.#targets.named()],
    ] as const) {
      if (entries.length > 0)
        contents.set(name, document.createNode(new Map<string, unknown>(entries.map(([key, value]) => [key, layOut(document, value)]))));
    }
    if (views.items.length > 0) contents.set('views', views);
    contents.set('mappings', mappings);
    const heading = comments.heading();
    if (heading.length > 0) document.commentBefore = commentOf(heading);
    return document.toString({ lineWidth: 0, flowCollectionPadding: false });
  }

  say(): ReadonlyMap<string, SaidMapping> {
    this.#checkShared();
    return new Map(
      this.#mapping.triplesMaps.map((map): [string, SaidMapping] => {
        const terms = this.#terms(map);
        const { source, subject, predicateObjects } = map;
        const classes = subject.classes.map((one) => this.#object(one, terms, true)?.value);
        const said = {
          // Views are not drawn in a text of YARRRML: nothing is compared with their names.
          source: source.kind === 'view' ? undefined : this.#source(source, false),
          subject: this.#subject(subject, terms).s,
          graphs: this.#all(subject.graphs, (graph) => this.#term(graph, terms, 'graph')),
          classes: classes.filter((one) => typeof one === 'string'),
          pairs: predicateObjects.map((pair) => this.#saidPair(pair, terms)),
        };
        return [map.id, said];
      }),
    );
  }

  /** The IRI that those of all triples maps with an IRI begin with, if their rest is the name of the mapping. */
  #base(): string | undefined {
    const iris = [...this.#names].filter(([id]) => !id.startsWith('_:'));
    const [first] = iris;
    if (first === undefined) return undefined;
    const base = first[0].slice(0, -encodeURIComponent(first[1]).length);
    return iris.every(([id, name]) => id === base + encodeURIComponent(name)) ? base : undefined;
  }

  /** Results of one execution are the same, those of a second one of a random function are not. */
  #checkShared(): void {
    const seen = new Set<FunctionExecution>();
    const visit = (value: unknown): void => {
      if (typeof value !== 'object' || value === null) return;
      if ('deterministic' in value && 'inputs' in value) {
        const execution = value as FunctionExecution;
        if (seen.has(execution) && !execution.deterministic)
          cannot(this.#report, 'that two values come from one call of a function whose results vary', execution.origin);
        seen.add(execution);
      }
      for (const part of Object.values(value)) visit(part);
    };
    for (const { subject, predicateObjects } of this.#mapping.triplesMaps) visit([subject, predicateObjects]);
  }

  #terms({ source }: TriplesMap): Terms {
    return new Terms(this.#prefixes, this.#report, source);
  }

  #triplesMap(map: TriplesMap, isShared: boolean): Fields {
    const { origin, source, subject, predicateObjects } = map;
    const terms = this.#terms(map);
    if (map.baseIri !== undefined) cannot(this.#report, 'a base IRI of one triples map', origin, 'give it with --base');
    if (map.quotedOnly) cannot(this.#report, 'a triples map that is only quoted', origin);
    const said = this.#source(source, isShared);
    const pairs = [...this.#classes(subject.classes, terms), ...predicateObjects.map((pair) => valueOfPair(this.#saidPair(pair, terms)))];
    return fieldsOf({
      sources: said === undefined ? undefined : [said],
      ...this.#subject(subject, terms),
      graphs: inList(this.#several(subject.graphs, (graph) => this.#term(graph, terms, 'graph'))),
      po: pairs.length === 0 ? undefined : pairs,
    });
  }

  /** Files in their short form stand where they are used, and so does what is used once. A view has a name. */
  #source(source: LogicalSource | LogicalView, isShared: boolean): Value | undefined {
    if (source.kind === 'view') return this.#viewNames.get(source);
    const said = this.#sources.say(source);
    return said === undefined || !isShared || Array.isArray(said) ? said : this.#sources.name(source, said, nameOfSource(source));
  }

  #subject(subject: TriplesMap['subject'], terms: Terms): Readonly<Record<string, Value | undefined>> {
    if (!this.#isTerm(subject)) return {};
    const { expression } = subject;
    const condition = expression.kind === 'conditional' ? expression : undefined;
    const map = { ...subject, expression: condition?.value ?? expression };
    const isFresh = map.expression.kind === 'fresh';
    if (subject.termType === 'literal') cannot(this.#report, 'a subject that is a literal', subject.origin);
    return {
      s: isFresh && (subject.targets ?? []).length === 0 ? undefined : this.#term(map, terms, 'subject'),
      condition: condition === undefined ? undefined : terms.condition(condition.condition),
    };
  }

  #classes(classes: readonly TermMap[], terms: Terms): readonly Value[] {
    if (classes.length === 0) return [];
    const said = this.#all(classes, (one) => this.#object(one, terms, true));
    return [['a', listOrOne(said.map(({ value }) => value))]];
  }

  /** Values that stand alone where there is one. */
  #several<T>(items: readonly T[], say: (item: T) => Value | undefined): Value | undefined {
    return items.length === 0 ? undefined : listOrOne(this.#all(items, say));
  }

  #all<T, V>(items: readonly T[], say: (item: T) => V | undefined): readonly V[] {
    return items.map(say).filter((one) => one !== undefined);
  }

  /** Those of a datatype are those of its literal. */
  #targetsOf({ targets = [], datatype }: Partial<Pick<TermMap, 'targets' | 'datatype'>>): Value | undefined {
    return this.#several([...new Set([...targets, ...(datatype?.targets ?? [])])], (target) => {
      const said = this.#targets.say(target);
      return said === undefined ? undefined : this.#targets.name(target, said, target.path);
    });
  }

  /** Reports what is no term map that YARRRML has. */
  #isTerm(map: TermMap | ReferencingObjectMap | StarMap): map is TermMap {
    if (map.kind === 'star') cannot(this.#report, 'a quoted triple', map.origin);
    if (map.kind !== 'term') return false;
    if (withMembers(map).length > 1 || map.gather !== undefined) cannot(this.#report, 'a collection (rml:gather)', map.origin);
    if (!['iri', 'blank', 'literal'].includes(map.termType))
      cannot(this.#report, `the term type ${map.termType}`, map.origin, 'write rml:IRI');
    return map.gather === undefined;
  }

  /** A subject, predicate or graph. */
  #term(map: TermMap, terms: Terms, place: 'subject' | 'predicate' | 'graph'): Value | undefined {
    if (!this.#isTerm(map)) return undefined;
    const { expression, termType } = map;
    const targets = this.#targetsOf(map);
    const type = termType === 'blank' ? 'blank' : undefined;
    if (expression.kind === 'fresh') return fieldsOf({ type: 'blank', targets });
    if (place === 'predicate' && expression.kind === 'constant' && expression.term.value === RDF_TYPE && targets === undefined) return 'a';
    const said = terms.say(expression, useOf(map));
    if (said === undefined) return undefined;
    if (said.kind === 'call') return new Map([...said.fields, ...fieldsOf({ type, targets })]);
    const text = guarded(said.text);
    if (place === 'predicate' && text === 'a')
      return cannot(this.#report, 'the relative IRI a as a predicate, which is rdf:type', map.origin);
    return type === undefined && targets === undefined ? text : fieldsOf({ value: text, type, targets });
  }

  // ---------------------------------------------------------------- predicates and objects

  #saidPair({ predicates, objects, graphs }: PredicateObjectMap, terms: Terms): SaidPair {
    const isType = predicates.some(({ expression }) => expression.kind === 'constant' && expression.term.value === RDF_TYPE);
    return {
      objects: this.#all(objects, (object) => this.#anyObject(object, terms, isType)),
      predicates: this.#all(predicates, (predicate) => this.#term(predicate, terms, 'predicate')),
      graphs: this.#all(graphs, (graph) => this.#term(graph, terms, 'graph')),
    };
  }

  #anyObject(object: TermMap | ReferencingObjectMap | StarMap, terms: Terms, isType: boolean): SaidObject | undefined {
    if (object.kind !== 'referencing') return this.#object(object, terms, isType);
    const parent = this.#maps.get(object.parent) as TriplesMap;
    const condition = this.#several(object.conditions, (one) => sayJoin(one, terms, this.#terms(parent)));
    return { value: fieldsOf({ mapping: this.#names.get(object.parent), condition }), mark: undefined };
  }

  #object(map: TermMap | StarMap, terms: Terms, isType: boolean): SaidObject | undefined {
    if (!this.#isTerm(map)) return undefined;
    const { expression, termType } = map;
    const targets = this.#targetsOf(map);
    const conditional = expression.kind === 'conditional' ? expression : undefined;
    const condition = conditional === undefined ? undefined : terms.condition(conditional.condition);
    const value = conditional?.value ?? expression;
    const otherwise = isType ? 'iri' : 'literal';
    const type = termType === otherwise ? undefined : termType;
    if (value.kind === 'fresh') return { value: fieldsOf({ type: 'blank', targets, condition }), mark: undefined };
    const said = terms.say(value, useOf(map));
    if (said === undefined) return undefined;
    const marks = this.#marks(map, value, terms);
    if (said.kind === 'call')
      return { value: new Map([...said.fields, ...fieldsOf({ type, ...marks, targets, condition })]), mark: undefined };
    // In a list, a third text that ends with ~lang is a language.
    const isMark = typeof marks.language !== 'object' && marks.datatype?.endsWith('~lang') !== true;
    const isPlain = targets === undefined && condition === undefined && isMark;
    const text = guarded(said.text);
    if (!isPlain || termType === 'blank' || (termType === 'literal' && (isType || text !== said.text)))
      return {
        value: fieldsOf({ value: text, type: type ?? (text === said.text ? undefined : termType), ...marks, targets, condition }),
        mark: undefined,
      };
    if (termType === 'iri') return { value: isType ? text : `${said.text}~iri`, mark: undefined };
    return { value: text, mark: marks.datatype ?? (marks.language === undefined ? undefined : `${marks.language}~lang`) };
  }

  /** Datatype and language. */
  #marks({ language, datatype }: TermMap, value: TermMap['expression'], terms: Terms): Marks {
    if (value.kind === 'constant' && value.term.kind === 'literal') {
      const { term } = value;
      if (term.language !== undefined) return { language: term.language, datatype: undefined };
      if (term.datatype !== `${XSD}string`) return { language: undefined, datatype: terms.iri(term.datatype) };
    }
    return { language: this.#language(language, terms), datatype: this.#datatype(datatype, terms) };
  }

  #language(language: TermMap['language'], terms: Terms): string | Fields | undefined {
    if (language === undefined) return undefined;
    if (language.kind === 'constant') return language.term.value;
    const said = terms.say(language, 'text');
    return said?.kind === 'text' ? said.text : said?.fields;
  }

  #datatype(datatype: TermMap['datatype'], terms: Terms): string | undefined {
    if (datatype === undefined) return undefined;
    const said = terms.say(datatype.expression, 'encoded');
    if (said === undefined) return undefined;
    if (said.kind === 'text' && datatype.termType === 'iri') return said.text;
    return cannot(this.#report, 'a datatype of that kind', datatype.origin, 'write a constant, a reference or a template');
  }
}

interface Marks {
  readonly language: string | Fields | undefined;
  readonly datatype: string | undefined;
}

export interface SaidObject {
  readonly value: Value;
  /** The third item of a short pair, if the value is a text. */
  readonly mark: string | undefined;
}

/** The end of a text that says that it is an IRI is cut off once. */
const guarded = (text: string): string => (text.endsWith('~iri') ? `${text}~iri` : text);

const isText = (value: Value): boolean =>
  typeof value === 'string' || (Array.isArray(value) && value.every((one) => typeof one === 'string'));

const listOrOne = (values: readonly Value[]): Value => {
  const [only, ...others] = values;
  return only !== undefined && others.length === 0 && !Array.isArray(only) ? only : values;
};

/** The reference implementation takes a map of a graph or of a predicate only within a list. */
const inList = (value: Value | undefined): Value | undefined => (value instanceof Map ? [value] : value);

/** Equal for parts that are described alike. */
const keyOf = (part: unknown): string =>
  JSON.stringify(part, (key, value) => (['origin', 'iteratorOrigin', 'ids', 'id'].includes(key) ? undefined : value));

const localName = (iri: string, otherwise: string): string => {
  const end = iri.slice(Math.max(iri.lastIndexOf('/'), iri.lastIndexOf('#')) + 1);
  try {
    return decodeURIComponent(end) || otherwise;
  } catch {
    // A percent sign that encodes nothing is part of the name.
    return end;
  }
};

const nameOfSource = (source: LogicalSource): string =>
  source.kind === 'file' ? source.path : source.content.kind === 'table' ? source.content.name : 'query';

/** Names that are given once. */
class Names {
  readonly #given = new Set<string>();

  of(wanted: string): string {
    let name = wanted;
    for (let i = 2; this.#given.has(name); i++) name = `${wanted}${i}`;
    this.#given.add(name);
    return name;
  }
}

/** The parts of a section, each under one name. */
class Section<T> {
  readonly #say: (part: T) => Value | undefined;
  readonly #said = new Map<string, Value | undefined>();
  readonly #named = new Map<string, readonly [name: string, value: Value]>();
  readonly #names: Names;
  readonly #otherwise: string;

  constructor(say: (part: T) => Value | undefined, otherwise: string, names: Names) {
    this.#say = say;
    this.#otherwise = otherwise;
    this.#names = names;
  }

  /** Each part is said once, so that what it cannot say is reported once. */
  say(part: T): Value | undefined {
    const key = keyOf(part);
    if (!this.#said.has(key)) this.#said.set(key, this.#say(part));
    return this.#said.get(key);
  }

  /** The name of a part; `wanted`: a path, whose last segment makes a name. */
  name(part: T, value: Value, wanted: string): string {
    const key = keyOf(part);
    const known = this.#named.get(key);
    if (known !== undefined) return known[0];
    const segment = /([^/\\]*)[/\\]?$/.exec(wanted)?.[1] ?? '';
    const name = this.#names.of(segment.replace(/\.[^.]*$/, '').replace(/[^\w-]/g, '') || this.#otherwise);
    this.#named.set(key, [name, value]);
    return name;
  }

  named(): readonly (readonly [name: string, value: Value])[] {
    return [...this.#named.values()];
  }
}
