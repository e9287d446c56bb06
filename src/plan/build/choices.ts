/**
 * The terms of subject and object maps over the rows of a triples map, also where other triples maps give them: subjects of parents, and
 * quoted triples.
 *
 * A quoted triples map gives a term for each of its statement patterns. Those that are made of the same row are one term with several
 * triples. A pattern with a join is a separate *choice*: a term that exists for each pair of rows. So every join within a term is an inner
 * join, and joins of different terms stay apart: a statement is made of every subject and every object of its record.
 */
import type {
  JoinCondition,
  LogicalTarget,
  Expression as MappedExpression,
  ReferencingObjectMap,
  StarMap,
  TermMap,
  TriplesMap,
} from '../../mapping/model/model.ts';
import type { Expression, MapInfo, Project, QuotedTriple, RowTerm, Term } from '../algebra.ts';
import { Collections } from './collections.ts';
import { broughtBy, type JoinedTerm, joinedRows } from './joined-rows.ts';
import type { Builder } from './operators.ts';
import { expressionOf, identityOf, termOf } from './terms.ts';
import type { NamedRows } from './views.ts';

const RDF_TYPE = 'http://www.w3.org/1999/02/22-rdf-syntax-ns#type';

/** A term, and the joins that bring parts of it. An encoded term is what its only join brings. */
export interface Choice {
  readonly term: Term;
  readonly joins: readonly JoinedTerm[];
}

/** `rdf:type`, for a class. */
export const typeOf = ({ origin }: TermMap): RowTerm => ({
  kind: 'constant',
  origin,
  term: { kind: 'iri', value: RDF_TYPE },
  type: 'iri',
  base: '',
});

/** What choices are made of. */
export interface MapsAndRows {
  readonly triplesMaps: readonly TriplesMap[];
  /** For triples maps without their own. */
  readonly base: string;
  readonly builder: Builder;
  rowsOf(map: TriplesMap): NamedRows;
  infoOf(map: TriplesMap): MapInfo;
}

export class Choices {
  readonly #of: MapsAndRows;
  readonly #byId: ReadonlyMap<string, TriplesMap>;
  /** The right sides of the joins that a map needs, whatever rows are joined with them. */
  readonly #sides = new Map<ReferencingObjectMap | StarMap, readonly Project[]>();
  readonly #keys = new Map<TriplesMap, Expression[]>();
  readonly #collections = new Collections();

  constructor(of: MapsAndRows) {
    this.#of = of;
    this.#byId = new Map(of.triplesMaps.map((map) => [map.id, map]));
  }

  /** The keys of joins whose right side are other rows than those of the triples map itself, over its own rows. */
  keysElsewhere(map: TriplesMap): readonly Expression[] {
    return this.#keys.get(map) ?? [];
  }

  /** A term of a triples map over the rows of one with the same records. */
  term(of: TermMap, map: TriplesMap, over = map): RowTerm {
    const { rows, leaf } = this.#of.rowsOf(over);
    const base = map.baseIri ?? this.#of.base;
    if (of.gather === undefined) return termOf(of, leaf, base, identityOf(map.id, rows));
    const choices = (member: ReferencingObjectMap | StarMap) => this.objects(member, map, over, true);
    return this.#collections.head(of, of.gather, { map, base, rows, leaf, choices });
  }

  /** The subjects of a triples map over the rows of one with the same records. */
  subjects(map: TriplesMap, over = map): readonly Choice[] {
    return map.subject.kind === 'term' ? [{ term: this.term(map.subject, map, over), joins: [] }] : this.#quoted(map.subject, over);
  }

  /** @param counts whether each row that a join finds counts, also beside equal ones */
  objects(of: TermMap | ReferencingObjectMap | StarMap, map: TriplesMap, over = map, counts = false): readonly Choice[] {
    switch (of.kind) {
      case 'term':
        return [{ term: this.term(of, map, over), joins: [] }];
      case 'star':
        return this.#quoted(of, over);
      case 'referencing': {
        const parent = this.#mapOf(of.parent);
        if (of.conditions.length === 0 && of.all !== true) return this.subjects(parent, over);
        return this.#joined(of, over, parent, () => this.subjects(parent), counts);
      }
    }
  }

  /** The targets of an object map, or of the subject map that it refers to. */
  targetsOf(of: TermMap | ReferencingObjectMap | StarMap): readonly LogicalTarget[] | undefined {
    return of.kind === 'referencing' ? this.#mapOf(of.parent).subject.targets : of.targets;
  }

  #quoted(of: StarMap, over: TriplesMap): readonly Choice[] {
    const quoted = this.#mapOf(of.quoted);
    return of.conditions.length === 0
      ? this.#triplesOf(quoted, over)
      : this.#joined(of, over, quoted, () => this.#triplesOf(quoted, quoted));
  }

  /** The triples of a triples map as terms: first one term with all that the row gives itself, then one for each that needs joins. */
  #triplesOf(map: TriplesMap, over: TriplesMap): readonly Choice[] {
    const plain: QuotedTriple[] = [];
    const joined: Choice[] = [];
    const { origin } = map;
    for (const subject of this.subjects(map, over)) {
      for (const [predicate, object] of this.#predicatesAndObjects(map, over)) {
        const triple: QuotedTriple = { subject: subject.term, predicate, object: object.term };
        const joins = [...subject.joins, ...object.joins];
        if (joins.length === 0) plain.push(triple);
        else joined.push({ term: { kind: 'quoted', origin, triples: [triple] }, joins });
      }
    }
    return plain.length === 0 ? joined : [{ term: { kind: 'quoted', origin, triples: plain }, joins: [] }, ...joined];
  }

  *#predicatesAndObjects(map: TriplesMap, over: TriplesMap): Iterable<readonly [predicate: RowTerm, object: Choice]> {
    for (const type of map.subject.classes) yield [typeOf(type), { term: this.term(type, map, over), joins: [] }];
    for (const { predicates, objects } of map.predicateObjects) {
      for (const predicate of predicates)
        for (const object of objects.flatMap((one) => this.objects(one, map, over))) yield [this.term(predicate, map, over), object];
    }
  }

  /**
   * Terms of a parent, for the pairs of rows that meet the conditions. Each use has a separate join: subject and object of a statement may
   * be of different pairs.
   */
  #joined(
    of: ReferencingObjectMap | StarMap,
    over: TriplesMap,
    parent: TriplesMap,
    choices: () => readonly Choice[],
    counts = false,
  ): readonly Choice[] {
    const { builder, rowsOf } = this.#of;
    const { rows, leaf } = rowsOf(over);
    const identity = identityOf(over.id, rows);
    const conditions = sortedConditions(of.conditions);
    const sides = this.#sides.get(of) ?? choices().map((choice) => this.#sideOf(parent, conditions, choice, counts));
    this.#sides.set(of, sides);
    const keys = conditions.map((condition) => expressionOf(condition.child, leaf, identity));
    const name = of.kind === 'star' ? `triple of ${parent.name}` : `subject of ${parent.name}`;
    return sides.map((right) => {
      const join: JoinedTerm = { origin: of.origin, right, column: builder.column(name), keys };
      return { term: broughtBy(join), joins: [join] };
    });
  }

  /** The right side of a join with terms of a parent. */
  #sideOf(parent: TriplesMap, conditions: readonly JoinCondition[], { term, joins }: Choice, counts: boolean): Project {
    const { builder, rowsOf, infoOf } = this.#of;
    const { rows, leaf } = rowsOf(parent);
    const keys = conditions.map((condition) => expressionOf(condition.parent, leaf, identityOf(parent.id, rows)));
    if (joins.length === 0) return builder.project(rows, infoOf(parent), keys, term, counts);
    this.#keys.set(parent, [...this.keysElsewhere(parent), ...keys]);
    const joined = joinedRows(rows, joins, [term], keys, builder);
    return builder.project(joined.rows, infoOf(parent), keys.map(joined.key), joined.term(term), counts);
  }

  #mapOf(id: string): TriplesMap {
    return this.#byId.get(id) as TriplesMap;
  }
}

/** Conditions are unordered; a canonical order lets equal joins share an index. */
function sortedConditions(conditions: readonly JoinCondition[]): readonly JoinCondition[] {
  const meaning = ({ origin: _, ...rest }: MappedExpression): string => JSON.stringify(rest);
  return conditions.toSorted((a, b) => (meaning(a.parent) < meaning(b.parent) ? -1 : 1));
}
