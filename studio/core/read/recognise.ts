/**
 * The normal form of a mapping → elements. A triples map is a part of an entity; those with one input, level and subject are one entity. An
 * object is an edge to an entity if it has the expression of its identifier, and an attribute otherwise.
 */
import { localNameOf } from '../../../src/infer/names.ts';
import type {
  LogicalSource,
  Mapping,
  Origin,
  PredicateObjectMap,
  ReferencingObjectMap,
  StarMap,
  TermMap,
  TriplesMap,
} from '../../../src/mapping/model/model.ts';
import { DEFAULT_GRAPH_IRIS } from '../../../src/mapping/model/model.ts';
import type { Anchor, Edge, Element, Entity, Expression, Id, Input, Path, StudioDocument } from '../document.ts';
import { partOf } from '../elements/base.ts';
import { fieldsOf, sameExpression } from '../elements/expressions.ts';
import { formOf } from '../elements/form.ts';
import { isAbsoluteIri } from '../elements/iris.ts';
import { iteratorOf } from '../elements/iterator.ts';
import { recordOf } from '../elements/records.ts';
import { areChain, deepestOf, iterationOf, levelOf, listsBelow, samePath } from '../levels.ts';
import { checkEdge } from '../rules/link.ts';
import { isRefusal } from '../rules/verdict.ts';
import type { Places } from '../text/places.ts';
import type { Apart } from './apart.ts';
import { inputName, readInput } from './inputs.ts';
import { jsonPathReader, type ReadPath, xmlListKey, xPathReader } from './paths.ts';
import { constantOf, readExpression, readTerm, type Scope, type Term } from './terms.ts';
import { Undrawn } from './undrawn.ts';
import { iteratorTexts, readView, sourceOf } from './views.ts';

const RDF_TYPE = 'http://www.w3.org/1999/02/22-rdf-syntax-ns#type';

export interface Context {
  /** Names of triples maps are relative to it. */
  readonly base: string;
  /** Where IRIs that the text writes without a scheme begin; undefined: the text declares a base. */
  readonly relative: string | undefined;
  readonly places: Places;
  readonly apart: Apart;
}

/** A triples map that is drawn. */
interface Part {
  readonly map: TriplesMap;
  readonly entity: Id;
  readonly name: string;
  readonly scope: Scope;
}

/** An edge that the rules have yet to allow, and the attribute or join that goes with it. */
interface Drawn {
  readonly id: Id;
  readonly origin: Origin;
  readonly more: readonly Id[];
}

export class Recognition {
  readonly #mapping: Mapping;
  readonly #context: Context;
  readonly #records = new Map<Id, Element>();
  readonly #anchors = new Map<Id, Anchor[]>();
  /** What an input reads → its id. */
  readonly #inputs = new Map<string, Id>();
  /** Input, term type and identifier → entities, in their order. */
  readonly #entities = new Map<string, Id[]>();
  /** Input → keys of the iterators of its document. */
  readonly #lists = new Map<Id, Set<string>>();
  /** Id of a triples map → what is drawn of it. */
  readonly #parts = new Map<string, Part>();
  readonly #drawn: Drawn[] = [];
  /** Name of a triples map → which entity it was drawn of, where several have one subject. */
  readonly #apart: ReadonlyMap<string, number>;
  #made = 0;

  constructor(mapping: Mapping, context: Context) {
    this.#mapping = mapping;
    this.#context = context;
    this.#apart = new Map(context.apart.flatMap((parts, i) => parts.map((part): [string, number] => [part, i])));
  }

  recognise(
    prefixes: Readonly<Record<string, string>>,
  ): Pick<StudioDocument, 'records'> & { readonly anchors: ReadonlyMap<Id, readonly Anchor[]> } {
    for (const [name, iri] of Object.entries(prefixes))
      if (isAbsoluteIri(iri)) this.#put({ kind: 'prefix', id: this.#id('prefix'), name, iri });
    const { triplesMaps, annotations } = this.#mapping;
    for (const map of triplesMaps) this.#addInput(map);
    for (const map of triplesMaps) this.#addPart(map);
    for (const part of this.#parts.values()) for (const pair of part.map.predicateObjects) this.#addPair(part, pair);
    this.#settle();
    for (const { origin, name } of annotations) this.#keep(undefined, origin, `a structural annotation (${name})`);
    return { records: this.#records, anchors: this.#anchors };
  }

  #addInput({ source }: TriplesMap): void {
    const read = sourceOf(source);
    const described = read && readInput(read);
    if (read === undefined || described === undefined || described instanceof Undrawn) return;
    const key = JSON.stringify(described);
    let id = this.#inputs.get(key);
    if (id === undefined) {
      id = this.#id('input');
      const taken = new Set([...this.#records.values()].flatMap((one) => (one.kind === 'input' ? [one.name] : [])));
      const name = inputName(described.location);
      let free = name;
      for (let i = 2; taken.has(free); i++) free = `${name} ${i}`;
      this.#put({ kind: 'input', id, name: free, ...described }, read.origin);
      this.#inputs.set(key, id);
    }
    for (const text of read.kind === 'file' && read.formulation === 'xml' ? iteratorTexts(source) : []) {
      const list = xmlListKey(text);
      if (list !== undefined) this.#lists.set(id, (this.#lists.get(id) ?? new Set()).add(list));
    }
  }

  #addPart(map: TriplesMap): void {
    const drawn = this.#readPart(map);
    if (drawn instanceof Undrawn) this.#keep(undefined, map.origin, drawn.reason, true);
    else this.#parts.set(map.id, drawn);
  }

  #readPart(map: TriplesMap): Part | Undrawn {
    const { source, subject, baseIri, quotedOnly } = map;
    if (baseIri !== undefined) return new Undrawn('a separate base');
    if (isViewOfYarrrml(map)) return new Undrawn('a logical view of YARRRML');
    if (map.dialect !== this.#mapping.triplesMaps.find((one) => !isViewOfYarrrml(one))?.dialect) return new Undrawn('another dialect');
    const read = sourceOf(source);
    if (read === undefined) return new Undrawn('a view on a logical view');
    if (quotedOnly === true || subject.kind === 'star') return new Undrawn('quoted triples');
    const described = readInput(read);
    if (described instanceof Undrawn) return described;
    const input = this.#records.get(this.#inputs.get(JSON.stringify(described)) as Id) as Input;
    const iterator = this.#iterator(read, map.dialect, input);
    if (iterator === undefined) return new Undrawn('an iterator that is not drawn');
    const reader = (of: Path): ReadPath => this.#reader(map, input, of);
    const names = source.kind === 'view' ? readView(source, iterator, reader) : undefined;
    if (names instanceof Undrawn) return names;
    const path: ReadPath = names === undefined ? reader(iterator) : (name) => names.paths.get(name);
    const around: Scope = { input: input.id, iterator, path, names, relative: this.#context.relative };
    const term = readTerm(subject, around);
    if (term instanceof Undrawn) return term;
    if (term.value.kind === 'written') return new Undrawn('a subject with a path that is not drawn');
    const levels = fieldsOf(term.value).map(({ path: one }) => levelOf(one));
    if (!areChain(levels)) return new Undrawn('a subject of objects that are side by side');
    const level = deepestOf(levels) ?? iterator;
    const own = iteratorOf(input, level);
    if (!(names?.iterators ?? [iterator]).some((one) => samePath(own, one)))
      return new Undrawn('a subject that is not of the level of the iterator');
    const scope: Scope = { ...around, iterator: own };
    const classes: string[] = [];
    for (const one of subject.classes) {
      const iri = constantOf(one.expression);
      if (iri === undefined || (one.targets?.length ?? 0) > 0) return new Undrawn('a class that is not constant');
      if (!isAbsoluteIri(iri)) return new Undrawn('an IRI that is not absolute');
      classes.push(iri);
    }
    const graphs = this.#graphs(subject.graphs, scope);
    if (graphs instanceof Undrawn) return graphs;
    const name = partOf(map.id, this.#context.base);
    const key = entityKey(input.id, term);
    const alike = this.#entities.get(key) ?? [];
    const same = alike
      .map((id) => this.#records.get(id) as Entity)
      .find(
        (one) =>
          term.value.kind !== 'fresh' &&
          samePath(one.level, level) &&
          one.parts.every((part) => !this.#areApart(part, name)) &&
          JSON.stringify(one.graphs) === JSON.stringify(graphs) &&
          classes.every((iri) => one.classes.includes(iri)),
      );
    const entity: Entity =
      same === undefined
        ? {
            kind: 'entity',
            id: this.#id('entity'),
            name: localNameOf(map.name) || map.name,
            input: input.id,
            level,
            identifier: term.value,
            termType: term.termType,
            classes,
            graphs,
            parts: [name],
          }
        : { ...same, parts: [...same.parts, name] };
    this.#put(entity, map.origin, true);
    if (same === undefined) this.#entities.set(key, [...alike, entity.id]);
    return { map, entity: entity.id, name, scope };
  }

  #areApart(one: string, other: string): boolean {
    const [a, b] = [this.#apart.get(one), this.#apart.get(other)];
    return a !== undefined && b !== undefined && a !== b;
  }

  #iterator(source: LogicalSource, dialect: TriplesMap['dialect'], { id, format }: Input): Path | undefined {
    if (source.kind !== 'file') return [];
    const { iterator, formulation } = source;
    if (formulation === 'csv' || formulation === 'parquet') return iterator === undefined ? [] : undefined;
    if (formulation === 'json') {
      if (iterator === undefined) return format === 'jsonl' ? [{ each: true }] : [];
      return jsonPathReader([], dialect === 'legacy')(iterator);
    }
    return iterator === undefined || !iterator.startsWith('/') ? undefined : xPathReader([], this.#lists.get(id) ?? new Set())(iterator);
  }

  #reader({ dialect }: TriplesMap, { id, format }: Input, iterator: Path): ReadPath {
    if (format === 'json' || format === 'jsonl') return jsonPathReader(iterator, dialect === 'legacy');
    if (format === 'xml') return xPathReader(iterator, this.#lists.get(id) ?? new Set());
    return (name) => [{ name }];
  }

  #graphs(maps: readonly TermMap[], scope: Scope): readonly Id[] | Undrawn {
    const ids: Id[] = [];
    for (const map of maps) {
      const term = readTerm(map, scope);
      if (term instanceof Undrawn) return term;
      if (term.termType !== 'iri') return new Undrawn('a graph of another term type');
      if (term.value.kind === 'written' || fieldsOf(term.value).some(({ path }) => this.#isDeeper(path, scope)))
        return new Undrawn('a graph of a list');
      const name: Expression =
        term.value.kind === 'constant' && DEFAULT_GRAPH_IRIS.has(term.value.value)
          ? { kind: 'constant', value: [...DEFAULT_GRAPH_IRIS][0] as string }
          : term.value;
      const known = [...this.#records.values()].find((one) => one.kind === 'graph' && sameExpression(one.name, name));
      const id = known?.id ?? this.#id('graph');
      if (known === undefined) this.#put({ kind: 'graph', id, name }, map.origin);
      ids.push(id);
    }
    return ids;
  }

  /** Whether a path leads through lists below the iterator. */
  #isDeeper(path: Path, { iterator }: Scope): boolean {
    return listsBelow(iterator, path) > 0;
  }

  #addPair(part: Part, pair: PredicateObjectMap): void {
    const refused = this.#readPair(part, pair);
    if (refused !== undefined) this.#keep(part.entity, pair.origin, refused.reason);
  }

  /** Adds what is drawn of a predicate object map; a reason to keep all of it as text. */
  #readPair(part: Part, pair: PredicateObjectMap): Undrawn | undefined {
    const predicates: string[] = [];
    for (const one of pair.predicates) {
      const iri = (one.targets?.length ?? 0) > 0 ? undefined : constantOf(one.expression);
      if (iri === undefined) return new Undrawn('a predicate that is not constant');
      if (!isAbsoluteIri(iri)) return new Undrawn('an IRI that is not absolute');
      predicates.push(iri);
    }
    const graphs = this.#graphs(pair.graphs, part.scope);
    if (graphs instanceof Undrawn) return graphs;
    for (const object of pair.objects) {
      const origin = pair.objects.length === 1 ? pair.origin : object.origin;
      const refused = this.#addObject(part, { predicates, graphs, origin }, object);
      if (refused !== undefined) this.#keep(part.entity, origin, refused.reason);
    }
    return undefined;
  }

  #addObject(
    part: Part,
    { predicates, graphs, origin }: { predicates: readonly string[]; graphs: readonly Id[]; origin: Origin },
    object: TermMap | ReferencingObjectMap | StarMap,
  ): Undrawn | undefined {
    if (object.kind === 'star') return new Undrawn('quoted triples');
    const edge = { kind: 'edge', id: this.#id('edge'), from: part.entity, predicates, graphs, part: part.name } as const;
    if (object.kind === 'referencing') return this.#addReference(part, edge, object, origin);
    const term = readTerm(object, part.scope);
    if (term instanceof Undrawn) return term;
    const isType = predicates.length === 1 && predicates[0] === RDF_TYPE && graphs.length === 0;
    if (isType && term.value.kind === 'constant' && term.termType === 'iri' && isAbsoluteIri(term.value.value))
      return this.#addClass(part.entity, term.value.value, origin);
    const fields = fieldsOf(term.value).map(({ path }) => path);
    if (part.scope.names === undefined && fields.filter((path) => this.#isDeeper(path, part.scope)).length > 1)
      return new Undrawn('several paths through lists, of which every combination is meant');
    if (!areChain(fields.map((path) => iterationOf(levelOf(path))))) return new Undrawn('fields of lists that are side by side');
    const entity = this.#identified(part, term);
    if (entity !== undefined) return this.#addEdge({ ...edge, to: entity }, origin);
    const { value, termType, datatype, language } = term;
    const id = this.#id('attribute');
    const literal = { ...(datatype !== undefined && { datatype }), ...(language !== undefined && { language }) };
    this.#addEdge({ ...edge, to: id }, origin, [{ kind: 'attribute', id, value, termType, ...literal }]);
    return this.#anchor(id, this.#context.places.nodeAt(object.origin));
  }

  #addClass(entity: Id, iri: string, origin: Origin): undefined {
    const found = this.#records.get(entity) as Entity;
    if (!found.classes.includes(iri)) this.#put({ ...found, classes: [...found.classes, iri] });
    this.#anchor(entity, this.#context.places.nodeAt(origin));
  }

  /** The entity whose identifier an object is. */
  #identified({ scope }: Part, { value, termType }: Term): Id | undefined {
    if (termType === 'literal' || value.kind === 'fresh' || value.kind === 'written') return undefined;
    return this.#entities.get(entityKey(scope.input, { value, termType }))?.[0];
  }

  #addReference(
    part: Part,
    edge: Omit<Edge, 'to' | 'form'>,
    { parent, conditions, all }: ReferencingObjectMap,
    origin: Origin,
  ): Undrawn | undefined {
    const other = this.#parts.get(parent);
    if (other === undefined) return new Undrawn('an edge to a triples map that is kept as text');
    if (all === true) return new Undrawn('all pairs of two inputs');
    if (conditions.length === 0) return this.#addEdge({ ...edge, to: other.entity }, origin);
    const read = conditions.map(({ child, parent: value }) => ({
      child: readExpression(child, part.scope),
      parent: readExpression(value, other.scope),
    }));
    const drawn = read.flatMap((one) => {
      const { child, parent: value } = one;
      return child instanceof Undrawn || value instanceof Undrawn ? [] : [{ child, parent: value }];
    });
    if (drawn.length < read.length) return new Undrawn('a join condition that is not drawn');
    const join = { kind: 'join', id: this.#id('join'), edge: edge.id, conditions: drawn } as const;
    return this.#addEdge({ ...edge, to: other.entity }, origin, [join], 'join');
  }

  /** Draws an edge and what comes with it, until `#settle` has asked the rules. */
  #addEdge(edge: Omit<Edge, 'form'>, origin: Origin, more: readonly Element[] = [], form: Edge['form'] = 'same'): undefined {
    for (const record of more) this.#put(record);
    this.#put({ ...edge, form }, origin);
    this.#drawn.push({ id: edge.id, origin, more: more.map(({ id }) => id) });
  }

  /** Gives edges their forms. Those that the rules refuse stay text; R2 and R3 may be broken. */
  #settle(): void {
    const document = this.#document();
    const formed: Edge[] = [];
    const refused: Drawn[] = [];
    for (const drawn of this.#drawn) {
      const edge = recordOf(document, 'edge', drawn.id) as Edge;
      const form = this.#allowed(document, edge);
      if (form === undefined) refused.push(drawn);
      else formed.push({ ...edge, form });
    }
    for (const edge of formed) this.#records.set(edge.id, edge);
    const left = refused.map((drawn) => ({ drawn, taken: [drawn.id, ...drawn.more].map((id) => this.#take(id)) }));
    // Of edges that repeat each other, the first is drawn.
    for (const { drawn, taken } of left) {
      for (const { record } of taken) this.#records.set(record.id, record);
      const edge = this.#records.get(drawn.id) as Edge;
      const form = this.#allowed({ ...document, records: new Map(this.#records) }, edge);
      if (form === undefined) {
        for (const { record } of taken) this.#records.delete(record.id);
        this.#keep(edge.from, drawn.origin, 'an edge that the rules of the canvas do not allow');
      } else {
        this.#records.set(edge.id, { ...edge, form });
        for (const { record, anchors } of taken) if (anchors !== undefined) this.#anchors.set(record.id, anchors);
      }
    }
  }

  #take(id: Id): { readonly record: Element; readonly anchors: Anchor[] | undefined } {
    const taken = { record: this.#records.get(id) as Element, anchors: this.#anchors.get(id) };
    this.#records.delete(id);
    this.#anchors.delete(id);
    return taken;
  }

  /** undefined: the rules refuse the edge. */
  #allowed(document: StudioDocument, edge: Edge): Edge['form'] | undefined {
    const link = checkEdge(document, edge);
    // Conditions that the rules do not know, or that they ask for.
    if (!isRefusal(link)) return (edge.form === 'join') === (link.form === 'join') ? link.form : undefined;
    if (link.rule !== 'R2' && link.rule !== 'R3') return undefined;
    return edge.form === 'join' ? 'join' : this.#formOf(edge);
  }

  #formOf(edge: Edge): Edge['form'] {
    const from = this.#records.get(edge.from) as Entity;
    const to = this.#records.get(edge.to);
    const format = (this.#records.get(from.input) as Input).format;
    const value: Expression = to?.kind === 'entity' ? to.identifier : to?.kind === 'attribute' ? to.value : { kind: 'fresh' };
    return formOf({ base: from.level, value: from.identifier, format }, { levels: to?.kind === 'entity' ? [to.level] : [], value });
  }

  #keep(of: Id | undefined, origin: Origin, reason: string, isWhole = false): void {
    const { places } = this.#context;
    const anchor = (isWhole ? places.statementAt(origin) : places.nodeAt(origin)) ?? places.statementAt(origin) ?? { from: 0, to: 0 };
    const id = this.#id('text');
    this.#put({ kind: 'text', id, of, anchor, reason: `Kept as text: ${reason}` });
    this.#anchor(id, anchor);
  }

  #id(kind: Element['kind']): Id {
    this.#made++;
    return `${kind}-${this.#made}`;
  }

  #put(record: Element, origin?: Origin, isWhole = false): void {
    this.#records.set(record.id, record);
    if (origin === undefined) return;
    const { places } = this.#context;
    this.#anchor(record.id, isWhole ? places.statementAt(origin) : places.nodeAt(origin));
  }

  #anchor(id: Id, anchor: Anchor | undefined): undefined {
    if (anchor !== undefined) this.#anchors.set(id, [...(this.#anchors.get(id) ?? []), anchor]);
  }

  #document(): StudioDocument {
    return { records: new Map(this.#records), language: 'rml', expert: false, text: { text: '', anchors: new Map() } };
  }
}

/** Views are drawn in today's RML: in a text of YARRRML their mappings have another dialect than the others, which drawing does not write. */
const isViewOfYarrrml = ({ source, origin }: TriplesMap): boolean => source.kind === 'view' && origin.key !== undefined;

const entityKey = (input: Id, { value, termType }: Term): string => JSON.stringify([input, termType, value]);
