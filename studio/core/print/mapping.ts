/** A document → the statements of its mapping. Incomplete elements are left out; what cannot be said is reported. */

import type { Report } from '../../../src/mapping/model/diagnostics.ts';
import type { Graph } from '../../../src/mapping/model/graph.ts';
import type { RdfTerm } from '../../../src/mapping/model/model.ts';
import type { Attribute, Edge, Entity, Id, Input, Join, StudioDocument } from '../document.ts';
import { baseOf, partId } from '../elements/base.ts';
import { fieldsOf } from '../elements/expressions.ts';
import { iteratorOf } from '../elements/iterator.ts';
import { nameOf } from '../elements/names.ts';
import { edgesAt, inputOf, joinOf, recordOf, recordsOf } from '../elements/records.ts';
import { listsBelow, samePath } from '../levels.ts';
import { GraphWriter, iri, MADE, type Properties } from './graph.ts';
import { sourceProperties } from './inputs.ts';
import { referenceText } from './paths.ts';
import { constantOf, expressionProperties, OutOfReach, type Term, termProperties, type WriteReference } from './terms.ts';

/** Statements of a mapping, and which of its nodes stands for what. */
export interface MappingGraph {
  readonly graph: Graph;
  /** Triples maps by the names of their parts. */
  readonly parts: ReadonlyMap<string, RdfTerm>;
  /** Predicate object maps by their edges. */
  readonly pairs: ReadonlyMap<Id, RdfTerm>;
}

/** The statements in today's vocabulary; tables of the run's database are those of R2RML. */
export function mappingGraph(document: StudioDocument, report: Report): MappingGraph {
  const printer = new MappingPrinter(document, report);
  for (const entity of recordsOf(document, 'entity')) for (const part of entity.parts) printer.triplesMap(entity, part);
  const { writer, parts, pairs } = printer;
  return { graph: writer.graph, parts, pairs };
}

class MappingPrinter {
  readonly writer = new GraphWriter();
  readonly parts = new Map<string, RdfTerm>();
  readonly pairs = new Map<Id, RdfTerm>();
  readonly #document: StudioDocument;
  readonly #report: Report;
  readonly #base: string;

  constructor(document: StudioDocument, report: Report) {
    this.#document = document;
    this.#report = report;
    this.#base = baseOf(document.language, document.base);
  }

  triplesMap(entity: Entity, part: string): void {
    const input = inputOf(this.#document, entity.input);
    if (input === undefined) return;
    const reference = this.#reference(entity, input);
    const edges = edgesAt(this.#document, entity.id).filter((edge) => edge.from === entity.id && edge.part === part);
    this.#said(entity.id, () => {
      const subject = this.writer.blank([
        ...termProperties(this.writer, { value: entity.identifier, termType: entity.termType }, reference, false),
        ...(part === entity.parts[0] ? entity.classes.map((one) => ['class', iri(one)] as const) : []),
        ...this.#graphs(entity.graphs, reference),
      ]);
      const term = this.#term(part);
      this.parts.set(part, term);
      this.writer.describe(term, [...sourceProperties(this.writer, input, iteratorOf(input, entity.level)), ['subjectMap', subject]]);
      for (const edge of edges) {
        const pair = this.#said(edge.id, () => this.#pair(entity, input, edge, reference));
        if (pair === undefined) continue;
        this.pairs.set(edge.id, pair);
        this.writer.describe(term, [['predicateObjectMap', pair]]);
      }
    });
  }

  #term(part: string): RdfTerm {
    const id = partId(part, this.#base);
    return id.startsWith('_:') ? { kind: 'blank', value: id.slice(2) } : iri(id);
  }

  #reference(entity: Entity, input: Input): WriteReference {
    const iterator = iteratorOf(input, entity.level);
    return ({ path }) => referenceText(input.format, iterator, path);
  }

  /** undefined: the edge is incomplete. */
  #pair(entity: Entity, input: Input, edge: Edge, reference: WriteReference): RdfTerm | undefined {
    if (edge.predicates.length === 0) return undefined;
    const join = joinOf(this.#document, edge.id);
    if (edge.form === 'join' && (join === undefined || join.conditions.length === 0)) return undefined;
    const object = this.#object(entity, input, edge, join, reference);
    const properties: Properties = [
      ...edge.predicates.map((one) => ['predicate', iri(one)] as const),
      ...object,
      ...this.#graphs(edge.graphs, reference),
    ];
    return this.writer.blank(properties);
  }

  #object(entity: Entity, input: Input, edge: Edge, join: Join | undefined, reference: WriteReference): Properties {
    const to = this.#document.records.get(edge.to) as Entity | Attribute;
    if (to.kind === 'attribute') return this.#value(to, entity, input, reference);
    if (join !== undefined) return [['objectMap', this.#joined(to, join, reference)]];
    const parent = this.#term(to.parts[0] as string);
    const other = inputOf(this.#document, to.input) as Input;
    if (input.id === other.id && samePath(iteratorOf(input, entity.level), iteratorOf(other, to.level)))
      return [['objectMap', this.writer.blank([['parentTriplesMap', parent]])]];
    if (to.identifier.kind === 'fresh') throw new OutOfReach();
    return this.#value({ value: to.identifier, termType: to.termType }, entity, input, reference);
  }

  #value(term: Term, entity: Entity, input: Input, reference: WriteReference): Properties {
    const constant = term.termType === 'iri' || term.termType === 'literal' ? constantOf(term) : undefined;
    if (constant !== undefined) return [['object', constant]];
    const iterator = iteratorOf(input, entity.level);
    // Plain references would give every combination of their values.
    if (fieldsOf(term.value).filter(({ path }) => listsBelow(iterator, path) > 0).length > 1) throw new OutOfReach();
    return [['objectMap', this.writer.blank(termProperties(this.writer, term, reference, true))]];
  }

  #joined(to: Entity, { conditions }: Join, reference: WriteReference): RdfTerm {
    const other = this.#reference(to, inputOf(this.#document, to.input) as Input);
    const side = (name: 'child' | 'parent', value: Join['conditions'][number]['child'], of: WriteReference): Properties => {
      const properties = expressionProperties(this.writer, value, of);
      const [first] = properties;
      if (first?.[0] === 'reference') return [[name, first[1]]];
      return [[`${name}Map`, this.writer.blank(properties)]];
    };
    return this.writer.blank([
      ['parentTriplesMap', this.#term(to.parts[0] as string)],
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
      const message = `${nameOf(this.#document, id)} reads fields of several levels together, which a mapping says by a logical view. Drawing writes no views: use fields of one level, or write the view in the text`;
      this.#report.error('not-supported', MADE, message);
      return undefined;
    }
  }
}
