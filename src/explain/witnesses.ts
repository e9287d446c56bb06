/**
 * Which rows make a statement: the rules that can make it, with further statements that say where each row comes from.
 *
 * A *witness* is a triples map with one rule of the mapping. Its other statements have special predicates (`WITNESS`): the positions of
 * the record, of its items and of joined records, and the values that the rule reads. A rule with a join has two witnesses, one for its
 * children and one for its parents, which state their join keys: their reader joins the few rows that matter. So each row is mapped
 * exactly as in a run, with its own position, and nothing but the wanted rules is made.
 */
import type { Origin } from '../mapping/model/model.ts';
import type { Cell, Column, Emit, Expression, Join, MapInfo, MapRules, Operator, Project, RowTerm, Scan, Term } from '../plan/algebra.ts';
import { ownTermsOf } from '../plan/build/joined-rows.ts';
import type { Builder } from '../plan/build/operators.ts';
import { collectionTerms, expressionsOf, type Leaf, leafKey, nameOf } from '../plan/expressions.ts';
import { isObjectOf } from '../plan/scans.ts';

/** IRI of a witness's predicates: `place/0`, `item/0`, `value/0`, `key/0`, `child`, `parent`. */
export const WITNESS = 'urn:quadmill:witness:';

/** States where a row comes from, and the values that are read of it. */
export interface RowWitness {
  readonly rules: MapRules;
  /** The triples map whose rows these are. */
  readonly map: MapInfo;
  /** Where the rows come from: the record first, then records that views have joined to it. */
  readonly places: readonly Place[];
  /** Names of the values that are read. */
  readonly values: readonly string[];
}

export interface Witness extends RowWitness {
  readonly of: Made;
  /** `rule`: makes the statement itself, as a rule or as part of a collection. `child`, `parent`: the sides of its join. */
  readonly kind: 'rule' | 'child' | 'parent';
  /** The number of keys of the join. */
  readonly keys: number;
}

/** What may make a statement: a rule of the mapping, or the collections of a triples map. */
export type Made = Emit | MapRules['collects'];

const isEmit = (made: Made): made is Emit => 'predicate' in made;

/** The record of a source, and the items within it. */
export interface Place {
  readonly scan: Scan;
  /** Names of the iterated fields. */
  readonly items: readonly string[];
}

interface LocatedRows {
  readonly rows: Operator;
  readonly places: readonly (Place & { readonly position: Column; readonly indexes: readonly Column[] })[];
}

/**
 * @param maps all triples maps of the mapping, as `buildRules` makes them: joins are not pushed down, since pairs of rows have no positions
 * @param wanted what they make
 */
export function witnessesOf(
  maps: readonly MapRules[],
  wanted: readonly { readonly rules: MapRules; readonly of: Made }[],
  builder: Builder,
): readonly Witness[] {
  const locate = locator(builder);
  return wanted.flatMap(({ rules, of }) => {
    const { input, object } = isEmit(of) ? of : { input: undefined, object: undefined };
    if (input === undefined || !isObjectOf(input, object)) return [witness('rule', rules, of, locate(rules.rows), maps)];
    const parent = maps.find(({ map }) => map === input.right.map);
    if (parent === undefined) throw new Error('the parent of a join is no triples map');
    return [witness('child', rules, of, locate(rules.rows), maps), witness('parent', parent, of, locate(input.right.input), maps)];
  });
}

/** Tells all rows of a triples map, also those that make no statement or are rejected, and the values that all of its rules read. */
export function rowWitness(rules: MapRules, builder: Builder): RowWitness {
  const { rows, places } = locator(builder)(rules.rows);
  const { origin } = rules.subject;
  const own = rules.emits.flatMap(({ input, predicate, object, graph }) => [
    ...[predicate, ...(graph === undefined ? [] : [graph])].flatMap(expressionsOf),
    ...(isObjectOf(input, object) ? input.on.map(({ left }) => left) : object.kind === 'encoded' ? [] : expressionsOf(object)),
  ]);
  const gathered = rules.collects.flatMap(({ collection }) => collectionTerms(collection)).flatMap(expressionsOf);
  const values = readValues([...expressionsOf(rules.subject), ...own, ...gathered]);
  const emits = tellers(rows, places, values, origin);
  const subject = iri(`${WITNESS}row`, origin);
  return {
    rules: { map: { ...rules.map }, rows, subject, emits, collects: [], checks: [] },
    map: rules.map,
    places: placesOf(places),
    values: [...values.keys()],
  };
}

const placesOf = (places: LocatedRows['places']): readonly Place[] => places.map(({ scan, items }) => ({ scan, items }));

/** A statement of a witness's own. */
const told = (rows: Operator, what: string, object: RowTerm): Emit => ({
  input: rows,
  predicate: iri(WITNESS + what, object.origin),
  object,
  graph: undefined,
  target: undefined,
});

/** The statements of a witness that say where a row comes from, and its values. */
function tellers(rows: Operator, places: LocatedRows['places'], values: ReadonlyMap<string, Expression>, origin: Origin): readonly Emit[] {
  const cell = (column: Column): RowTerm => literal({ kind: 'cell', origin, column } satisfies Cell, origin);
  return [
    ...places.flatMap(({ position, indexes }, i) => [
      told(rows, `place/${i}`, cell(position)),
      ...indexes.map((index, k) => told(rows, `item/${i}/${k}`, cell(index))),
    ]),
    ...[...values.values()].map((value, i) => told(rows, `value/${i}`, text(value))),
  ];
}

function witness(kind: Witness['kind'], rules: MapRules, of: Made, { rows, places }: LocatedRows, maps: readonly MapRules[]): Witness {
  const emit = isEmit(of) ? of : undefined;
  const join = kind === 'rule' ? undefined : (emit?.input as Join);
  const subject = kind === 'parent' ? (join?.right.columns[0]?.value as Term) : rules.subject;
  const { origin } = subject;
  const keys = join === undefined ? [] : kind === 'child' ? join.on.map(({ left }) => left) : join.right.keys.map(({ value }) => value);
  const terms: readonly Term[] =
    kind === 'parent' || emit === undefined
      ? [subject, ...(emit === undefined ? rules.collects.flatMap(({ collection }) => collectionTerms(collection)) : [])]
      : [
          subject,
          emit.predicate,
          ...(emit.object.kind === 'encoded' ? [] : [emit.object]),
          ...(emit.graph === undefined ? [] : [emit.graph]),
        ];
  const values = readValues([...terms.flatMap(expressionsOf), ...keys]);
  const own: Emit[] =
    kind === 'rule'
      ? [...(emit === undefined ? [] : [{ ...emit, input: rows, target: undefined }])]
      : kind === 'child'
        ? [{ ...(emit as Emit), input: rows, object: iri(`${WITNESS}child`, origin), target: undefined }]
        : [told(rows, 'parent', iri(`${WITNESS}parent`, origin))];
  const emits = [...own, ...keys.map((key, i) => told(rows, `key/${i}`, text(key))), ...tellers(rows, places, values, origin)];
  // A record that another rule rejects makes nothing here either.
  const checks = [...rules.checks, ...checkedTerms(rules.subject), ...rules.emits.flatMap(checksOf), ...parentKeys(rules, maps).map(text)];
  const map: MapInfo = { ...rules.map };
  // The head of a collection is known where its members are.
  const gathers = emit === undefined || [subject, emit.predicate, emit.object].some(({ kind: one }) => one === 'head');
  return {
    rules: { map, rows, subject, emits, collects: gathers ? rules.collects : [], checks },
    of,
    kind,
    map: rules.map,
    places: placesOf(places),
    values: [...values.keys()],
    keys: keys.length,
  };
}

const iri = (value: string, origin: Origin): RowTerm => ({ kind: 'constant', origin, term: { kind: 'iri', value }, type: 'iri', base: '' });

const XSD_STRING = 'http://www.w3.org/2001/XMLSchema#string';

const literal = (value: Expression, origin: Origin): RowTerm => ({
  kind: 'literal',
  origin,
  value,
  language: undefined,
  datatype: undefined,
});

/** The values of an expression as the source writes them. */
const text = (value: Expression): RowTerm => ({ ...literal(value, value.origin), datatype: iri(XSD_STRING, value.origin) }) as RowTerm;

/** The terms of the row itself that may be invalid. */
const checkedTerms = (term: Term): readonly RowTerm[] =>
  ownTermsOf(term).flatMap((one) => (one.kind === 'head' ? collectionTerms(one.collection) : [one]));

function checksOf({ input, predicate, object, graph }: Emit): readonly RowTerm[] {
  const keys = isObjectOf(input, object) ? input.on.map(({ left }) => text(left)) : [];
  return [...[predicate, object, ...(graph === undefined ? [] : [graph])].flatMap(checkedTerms), ...keys];
}

/** The keys of the joins in which a triples map is the parent: they can reject a record as well. */
const parentKeys = ({ map }: MapRules, maps: readonly MapRules[]): readonly Expression[] =>
  maps.flatMap(({ emits }) =>
    emits.flatMap(({ input, object }) =>
      isObjectOf(input, object) && input.right.map === map ? input.right.keys.map(({ value }) => value) : [],
    ),
  );

/** What expressions read, by name, each evaluated where the expression evaluates it. */
function readValues(expressions: readonly Expression[]): ReadonlyMap<string, Expression> {
  const found = new Map<string, Expression>();
  const keys = new Set<string>();
  const add = (expression: Expression, guard: (value: Expression) => Expression): void => {
    switch (expression.kind) {
      case 'read':
      case 'cell': {
        if (keys.has(leafKey(expression))) return;
        keys.add(leafKey(expression));
        found.set(nameOfLeaf(expression), guard(expression));
        return;
      }
      case 'template':
        for (const part of expression.parts) if (typeof part !== 'string') add(part, guard);
        return;
      case 'call':
        for (const { value } of expression.execution.inputs) add(value, guard);
        return;
      case 'conditional': {
        const { origin, condition } = expression;
        add(condition, guard);
        add(expression.value, (value) => guard({ kind: 'conditional', origin, condition, value }));
        return;
      }
      default:
    }
  };
  for (const expression of expressions) add(expression, (value) => value);
  return found;
}

const nameOfLeaf = (leaf: Leaf): string => (leaf.kind === 'cell' ? leaf.column.name : nameOf(leaf));

/** The same rows, with the positions of the records that joins of views have brought. The same operator gives the same rows. */
function locator(builder: Builder): (rows: Operator) => LocatedRows {
  const known = new Map<Operator, LocatedRows>();
  const locate = (rows: Operator): LocatedRows => {
    const before = known.get(rows);
    if (before !== undefined) return before;
    const located = locatedBy(rows);
    known.set(rows, located);
    return located;
  };
  const locatedBy = (rows: Operator): LocatedRows => {
    switch (rows.kind) {
      case 'scan':
        return { rows, places: [{ scan: rows, position: rows.index, items: [], indexes: [] }] };
      case 'join': {
        const left = locate(rows.left);
        const right = locate(rows.right.input);
        // The first place is that of the left side's record.
        const told: Project['columns'][number][] = [];
        const shown: Column[] = [];
        const cellOf = (column: Column, name: string): Column => {
          const joined = builder.column(name);
          told.push({ column: builder.column(name), value: { kind: 'cell', origin: rows.origin, column } });
          shown.push(joined);
          return joined;
        };
        const places = right.places.map((place) => ({
          ...place,
          position: cellOf(place.position, 'position'),
          indexes: place.indexes.map((index) => cellOf(index, 'index')),
        }));
        const project: Project = { ...rows.right, input: right.rows, columns: [...rows.right.columns, ...told] };
        return {
          rows: { ...rows, left: left.rows, right: project, columns: [...rows.columns, ...shown] },
          places: [...left.places, ...places],
        };
      }
      default: {
        const input = locate(rows.input);
        const [first, ...others] = input.places as [LocatedRows['places'][number], ...LocatedRows['places'][number][]];
        const place =
          rows.kind === 'unnest' ? { ...first, items: [...first.items, rows.item.name], indexes: [...first.indexes, rows.index] } : first;
        return { rows: { ...rows, input: input.rows }, places: [place, ...others] };
      }
    }
  };
  return locate;
}
