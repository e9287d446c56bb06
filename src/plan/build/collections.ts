/** Gather maps → collections: each once for a triples map and its rows, wherever it stands. */
import type { Gather, ReferencingObjectMap, StarMap, TermMap, TriplesMap } from '../../mapping/model/model.ts';
import type { Collect, Collection, Member, Operator, RowTerm, StatementPlace, Term } from '../algebra.ts';
import { termKey, unconditional } from '../expressions.ts';
import { type JoinedTerm, joinOf } from './joined-rows.ts';
import { expressionOf, identityOf, type LeafOf, termOf } from './terms.ts';

/** What a gather map is made over. */
export interface GatherScope {
  /** The triples map that has the gather map. */
  readonly map: TriplesMap;
  readonly base: string;
  /** Those of `map`, or of a triples map with the same records. */
  readonly rows: Operator;
  readonly leaf: LeafOf;
  /** Of a member that is not a term map; joins count the rows of their right sides. */
  readonly choices: (of: ReferencingObjectMap | StarMap) => readonly { readonly term: Term; readonly joins: readonly JoinedTerm[] }[];
}

export class Collections {
  /** The numbers of gather maps within their triples maps: equal over all rows. */
  readonly #numbers = new Map<string, Map<string, number>>();
  readonly #known = new Map<string, Map<Operator, Collection>>();

  /** The head of what a gather map makes. */
  head(of: TermMap, gather: Gather, scope: GatherScope): RowTerm {
    return { kind: 'head', origin: of.origin, collection: this.#collectionOf(of, gather, scope) };
  }

  #collectionOf(of: TermMap, gather: Gather, scope: GatherScope): Collection {
    const { map, base, rows, leaf } = scope;
    const key = `${map.id} ${gather.id}`;
    const overRows = this.#known.get(key) ?? new Map<Operator, Collection>();
    this.#known.set(key, overRows);
    const known = overRows.get(rows);
    if (known !== undefined) return known;
    const identity = identityOf(map.id, rows);
    const row = expressionOf(of.expression, leaf, identity);
    const isNamed = unconditional(row).kind !== 'row';
    const collection: Collection = {
      origin: of.origin,
      as: gather.as,
      number: this.#numberOf(map, gather),
      row: isNamed ? { kind: 'row', origin: of.origin, ...identity } : row,
      head: isNamed ? termOf(of, leaf, base, identity) : undefined,
      members: gather.members.flatMap((member) => this.#membersOf(member, scope)),
      strategy: gather.strategy,
      allowEmpty: gather.allowEmpty,
    };
    overRows.set(rows, collection);
    return collection;
  }

  #numberOf(map: TriplesMap, { id }: Gather): number {
    const known = this.#numbers.get(map.id) ?? new Map<string, number>();
    this.#numbers.set(map.id, known);
    const number = known.get(id) ?? known.size;
    known.set(id, number);
    return number;
  }

  #membersOf(of: Gather['members'][number], scope: GatherScope): readonly Member[] {
    const { map, base, rows, leaf, choices } = scope;
    if (of.kind === 'term') {
      if (of.gather !== undefined) return [{ kind: 'gather', collection: this.#collectionOf(of, of.gather, scope) }];
      return [{ kind: 'term', term: termOf(of, leaf, base, identityOf(map.id, rows)) }];
    }
    return choices(of).map(({ term, joins }): Member => {
      if (term.kind !== 'encoded') return { kind: 'term', term };
      const [join] = joins;
      if (join === undefined) throw new Error('a term that no join brings is gathered');
      return { kind: 'joined', join: joinOf(join, rows) };
    });
  }
}

/** The places of the collections of a triples map: those of the statements with their heads. */
export class CollectPlaces {
  readonly #places = new Map<Collection, Map<string, StatementPlace>>();

  /** Notes where a statement with a term stands. Heads of other triples maps are stated there. */
  add(term: Term, place: StatementPlace, map: string): void {
    if (term.kind !== 'head') return;
    const row = unconditional(term.collection.row);
    if (row.kind !== 'row' || row.map !== map) return;
    const { graph, target } = place;
    const known = this.#places.get(term.collection) ?? new Map<string, StatementPlace>();
    known.set(`${target?.id ?? ''} ${graph === undefined ? '' : termKey(graph)}`, place);
    this.#places.set(term.collection, known);
  }

  get collects(): readonly Collect[] {
    return [...this.#places].map(([collection, places]) => ({ collection, places: [...places.values()] }));
  }
}
