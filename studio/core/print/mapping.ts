/** A document → the statements of its mapping. Incomplete elements are left out; what cannot be said is reported. */

import type { Report } from '../../../src/mapping/model/diagnostics.ts';
import type { Graph } from '../../../src/mapping/model/graph.ts';
import type { RdfTerm } from '../../../src/mapping/model/model.ts';
import type { Attribute, Edge, Entity, Expression, FieldRef, Id, Input, Join, Path, StudioDocument } from '../document.ts';
import { baseOf, partId } from '../elements/base.ts';
import { fieldsOf } from '../elements/expressions.ts';
import { iteratorOf } from '../elements/iterator.ts';
import { nameOf } from '../elements/names.ts';
import { isNewInEachRow } from '../elements/random.ts';
import { edgesAt, inputOf, joinOf, recordOf, recordsOf } from '../elements/records.ts';
import { isFlat, listsBelow, samePath } from '../levels.ts';
import { GraphWriter, iri, MADE, type Properties } from './graph.ts';
import { sourceProperties } from './inputs.ts';
import { referenceText } from './paths.ts';
import { constantOf, expressionProperties, OutOfReach, type Term, termProperties, type WriteReference } from './terms.ts';
import { View } from './view.ts';

/** Statements of a mapping, and which of its nodes stands for what. */
export interface MappingGraph {
  readonly graph: Graph;
  /** Triples maps by the names of their parts. */
  readonly parts: ReadonlyMap<string, RdfTerm>;
  /** Predicate object maps by their edges. */
  readonly pairs: ReadonlyMap<Id, RdfTerm>;
}

/**
 * The statements in today's vocabulary; tables of the run's database are those of R2RML.
 *
 * @param hasViews whether the language has logical views. Without them, references of JSON lead to parents by `$^`
 */
export function mappingGraph(document: StudioDocument, report: Report, hasViews: boolean): MappingGraph {
  const printer = new MappingPrinter(document, report, hasViews);
  for (const entity of recordsOf(document, 'entity')) for (const part of entity.parts) printer.triplesMap(entity, part);
  const { writer, parts, pairs } = printer;
  return { graph: writer.graph, parts, pairs };
}

/** What a triples map reads, and how it refers to that. */
interface Records {
  readonly input: Input;
  /** Of the triples map, if it had no view. */
  readonly iterator: Path;
  readonly view: View | undefined;
  readonly reference: WriteReference;
}

class MappingPrinter {
  readonly writer = new GraphWriter();
  readonly parts = new Map<string, RdfTerm>();
  readonly pairs = new Map<Id, RdfTerm>();
  readonly #document: StudioDocument;
  readonly #report: Report;
  readonly #base: string;
  readonly #hasViews: boolean;
  /** By the names of triples maps. */
  readonly #records = new Map<string, Records>();

  constructor(document: StudioDocument, report: Report, hasViews: boolean) {
    this.#document = document;
    this.#report = report;
    this.#hasViews = hasViews;
    this.#base = baseOf(document.language, document.base);
  }

  triplesMap(entity: Entity, part: string): void {
    const records = this.#recordsOf(entity, part);
    if (records === undefined) return;
    const { reference } = records;
    this.#said(entity.id, () => {
      const subject = this.writer.blank([
        ...this.#term(records, { value: entity.identifier, termType: entity.termType }, false),
        ...(part === entity.parts[0] ? entity.classes.map((one) => ['class', iri(one)] as const) : []),
        ...this.#graphs(entity.graphs, reference),
      ]);
      const term = this.#nameOf(part);
      this.parts.set(part, term);
      this.writer.describe(term, [...this.#source(records), ['subjectMap', subject]]);
      for (const edge of this.#edgesOf(entity, part)) {
        const pair = this.#said(edge.id, () => this.#pair(records, edge));
        if (pair === undefined) continue;
        this.pairs.set(edge.id, pair);
        this.writer.describe(term, [['predicateObjectMap', pair]]);
      }
    });
  }

  /** Those that are complete. */
  #edgesOf({ id }: Entity, part: string): readonly Edge[] {
    return edgesAt(this.#document, id).filter(
      (edge) =>
        edge.from === id &&
        edge.part === part &&
        edge.predicates.length > 0 &&
        (edge.form !== 'join' || (joinOf(this.#document, edge.id)?.conditions.length ?? 0) > 0),
    );
  }

  /** undefined: its input is gone. */
  #recordsOf(entity: Entity, part: string): Records | undefined {
    const known = this.#records.get(part);
    const input = inputOf(this.#document, entity.input);
    if (known !== undefined || input === undefined) return known;
    const iterator = iteratorOf(input, entity.level);
    const reads = this.#readsOf(entity, part);
    const view =
      this.#hasViews && reads.some((one) => needsView(input, iterator, one))
        ? new View(input.format, iterator, reads.flatMap(pathsOf))
        : undefined;
    const plain: WriteReference = (read) =>
      typeof read === 'string' ? read : referenceText(input.format, iterator, read.path, !this.#hasViews);
    const records = { input, iterator, view, reference: view === undefined ? plain : (read: FieldRef | string) => view.nameOf(read) };
    this.#records.set(part, records);
    return records;
  }

  /** All that is read of the records of a triples map. */
  #readsOf(entity: Entity, part: string): readonly Expression[] {
    const graphs = (ids: readonly Id[]): readonly Expression[] => ids.flatMap((id) => recordOf(this.#document, 'graph', id)?.name ?? []);
    const own = this.#edgesOf(entity, part).flatMap((edge): readonly Expression[] => {
      const conditions = joinOf(this.#document, edge.id)?.conditions;
      const to = this.#document.records.get(edge.to) as Entity | Attribute;
      const value = to.kind === 'attribute' ? to.value : to.identifier;
      return [...(conditions === undefined ? [value] : conditions.map(({ child }) => child)), ...graphs(edge.graphs)];
    });
    const asParent =
      part === entity.parts[0]
        ? edgesAt(this.#document, entity.id).flatMap((edge) =>
            edge.to === entity.id ? (joinOf(this.#document, edge.id)?.conditions ?? []).map(({ parent }) => parent) : [],
          )
        : [];
    return [entity.identifier, ...graphs(entity.graphs), ...own, ...asParent];
  }

  #source({ input, iterator, view }: Records): Properties {
    const source = sourceProperties(this.writer, input, view?.iterator ?? iterator);
    const [only] = source;
    if (view === undefined || only?.[1] === undefined) return source;
    return [['logicalSource', this.writer.blank(view.properties(this.writer, only[1]), 'LogicalView')]];
  }

  #nameOf(part: string): RdfTerm {
    const id = partId(part, this.#base);
    return id.startsWith('_:') ? { kind: 'blank', value: id.slice(2) } : iri(id);
  }

  #pair(records: Records, edge: Edge): RdfTerm {
    const properties: Properties = [
      ...edge.predicates.map((one) => ['predicate', iri(one)] as const),
      ...this.#object(records, edge),
      ...this.#graphs(edge.graphs, records.reference),
    ];
    return this.writer.blank(properties);
  }

  #object(records: Records, edge: Edge): Properties {
    const to = this.#document.records.get(edge.to) as Entity | Attribute;
    if (to.kind === 'attribute') return this.#value(to, records);
    const join = joinOf(this.#document, edge.id);
    const other = this.#recordsOf(to, to.parts[0] as string);
    if (other === undefined) throw new OutOfReach('its input is not in the model any more');
    if (join !== undefined) return [['objectMap', this.#joined(to, join, records.reference, other.reference)]];
    const parent = this.#nameOf(to.parts[0] as string);
    const isSame = records.input.id === other.input.id && samePath(records.iterator, other.iterator);
    // Each view has separate rows, even if they equal those of another one.
    if (isSame && records.view === undefined && other.view === undefined)
      return [['objectMap', this.writer.blank([['parentTriplesMap', parent]])]];
    if (to.identifier.kind === 'fresh')
      throw new OutOfReach(
        `${to.name} is a blank node for each record, which others of its records alone can point at: give it an identifier`,
      );
    return this.#value({ value: to.identifier, termType: to.termType }, records);
  }

  #value(term: Term, records: Records): Properties {
    const constant = term.termType === 'iri' || term.termType === 'literal' ? constantOf(term) : undefined;
    if (constant !== undefined) return [['object', constant]];
    return [['objectMap', this.writer.blank(this.#term(records, term, true))]];
  }

  #term({ iterator, view, reference }: Records, term: Term, isObject: boolean): Properties {
    if (view !== undefined && isNewInEachRow(term.value))
      throw new OutOfReach(
        'it is new for each record, and its triples map has rows of a logical view: give it an identifier, or make another entity for what reads several fields of one list',
      );
    // Plain references would give every combination of their values.
    if (view === undefined && deeperThan(iterator, term.value) > 1)
      throw new OutOfReach(
        'it reads several fields of one list together, which a mapping says by a logical view, and only today’s RML has these: save the model as that, or use one field of the list',
      );
    return termProperties(this.writer, term, reference, isObject);
  }

  #joined(to: Entity, { conditions }: Join, reference: WriteReference, other: WriteReference): RdfTerm {
    const side = (name: 'child' | 'parent', value: Join['conditions'][number]['child'], of: WriteReference): Properties => {
      const properties = expressionProperties(this.writer, value, of);
      const [first] = properties;
      if (first?.[0] === 'reference') return [[name, first[1]]];
      return [[`${name}Map`, this.writer.blank(properties)]];
    };
    return this.writer.blank([
      ['parentTriplesMap', this.#nameOf(to.parts[0] as string)],
      ...conditions.map(
        ({ child, parent }) =>
          ['joinCondition', this.writer.blank([...side('child', child, reference), ...side('parent', parent, other)])] as const,
      ),
    ]);
  }

  #graphs(ids: readonly Id[], reference: WriteReference): Properties {
    return ids.flatMap((id): Properties => {
      const graph = recordOf(this.#document, 'graph', id);
      if (graph === undefined) return [];
      if (graph.name.kind === 'constant') return [['graph', iri(graph.name.value)]];
      return [['graphMap', this.writer.blank(termProperties(this.writer, { value: graph.name, termType: 'iri' }, reference, false))]];
    });
  }

  /** What cannot be said at the records of its triples map is left out, with an error. */
  #said<T>(id: Id, write: () => T): T | undefined {
    try {
      return write();
    } catch (error) {
      if (!(error instanceof OutOfReach)) throw error;
      this.#report.error('not-supported', MADE, `${nameOf(this.#document, id)} cannot be written: ${error.message}`);
      return undefined;
    }
  }
}

/** How many fields of an expression stand in lists below an iterator. */
const deeperThan = (iterator: Path, value: Expression): number =>
  fieldsOf(value).filter(({ path }) => listsBelow(iterator, path) > 0).length;

/** Whether plain references cannot say it: it reads several fields of lists together, or a field above the records of JSON. */
const needsView = ({ format }: Input, iterator: Path, value: Expression): boolean =>
  !isFlat(format) &&
  (deeperThan(iterator, value) > 1 ||
    fieldsOf(value).some(({ path }) => format !== 'parquet' && referenceText(format, iterator, path) === undefined));

/** What a view needs a field for. */
function pathsOf(value: Expression): readonly (FieldRef | string)[] {
  if (value.kind === 'written') return [value.text];
  return value.kind === 'call' ? value.arguments.flatMap((one) => pathsOf(one.value)) : fieldsOf(value);
}
