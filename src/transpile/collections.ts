/**
 * Collections of a plan → queries of their lines. Each record has another node, so no two collections have a line in common.
 *
 * Members are rows: their numbers are those of a window over the node, by the member of the mapping and the place of the value in its array.
 */
import type { Collection, Term } from '../plan/algebra.ts';
import type { MapPlan } from '../plan/plan.ts';
import type { Dialect } from './dialects/dialect.ts';
import type { SqlRow } from './rows.ts';
import { concat, every, isNull, not, printSql, type Sql, text, unionOf, when } from './sql.ts';
import { headSql, memberSql, NIL, nodeSql, termSql } from './terms.ts';

/** The rows of a triples map that have a subject. */
export interface SubjectRows {
  /** In FROM. */
  readonly view: string;
  readonly row: SqlRow;
  /** Behind FROM and what the row adds to it. */
  readonly where: string;
  /** Whether a record has several, one for each value of its subject. */
  readonly areSeveral: boolean;
}

const RDF = 'http://www.w3.org/1999/02/22-rdf-syntax-ns#';
const CLASSES: Readonly<Record<Collection['as'], string>> = { list: 'List', bag: 'Bag', seq: 'Seq', alt: 'Alt' };

export interface CollectionQuery {
  /** 0 is that of the run, n the n-th logical target. */
  readonly output: number;
  /** Whether no other query, and no rule, gives one of its lines. */
  readonly isDistinct: boolean;
  readonly query: string;
}

export function collectionQueries({ collects }: MapPlan, rows: SubjectRows, dialect: Dialect): readonly CollectionQuery[] {
  const all = collects.flatMap(({ collection, places, overlapping }) =>
    chainsIn(collection).flatMap((chain) => places.map(({ graph, output }) => ({ chain, graph, output, overlapping }))),
  );
  return all.flatMap(({ chain, graph, output, overlapping }) => {
    const isOnce = all.filter((other) => other.chain[0] === chain[0] && other.output === output).length === 1;
    return queriesOf(chain, graph, rows, dialect).map((query) => ({ output, isDistinct: isOnce && !overlapping, query }));
  });
}

/** A collection and those around it, from the inside. */
type Chain = readonly [Collection, ...Collection[]];

/** A collection and those within it. */
const chainsIn = (collection: Collection, around: readonly Collection[] = []): readonly Chain[] => [
  [collection, ...around],
  ...collection.members.flatMap((member) => (member.kind === 'gather' ? chainsIn(member.collection, [collection, ...around]) : [])),
];

function queriesOf([collection, ...around]: Chain, graph: Term | undefined, rows: SubjectRows, dialect: Dialect): readonly string[] {
  const print = (sql: Sql): string => printSql(sql, dialect);
  const row = rows.row.copy();
  // A collection has members if one within it has, so what counts of those around is their condition.
  const isMade = every(...around.map((one) => not(isNull(nodeSql(one, row.beside('r'))))));
  const within = (sql: Sql): Sql => (around.length === 0 ? sql : when(isMade, sql));
  const node = within(nodeSql(collection, row.beside('r')));
  const inGraph = graph === undefined ? text('') : concat(termSql(graph, row.beside('g')), text(' '));
  // Refuses what no query gives.
  headSql(collection, row.apart('h'));
  const members = collection.members.map((member, at) => ({ at, ...memberSql(member, at, row) }));
  const columns = `${print(node)} AS h, ${print(inGraph)} AS g`;
  const from = (more = ''): string => `FROM ${rows.view}${row.laterals}${more}${rows.where}`;
  const found = members.flatMap(({ at, item, each }) =>
    each === undefined
      ? []
      : `SELECT ${columns}, ${at} AS m, ${each.element}_at AS p, ${print(item)} AS item ${from(dialect.positioned(each.array, each.element))}`,
  );
  const single = members.filter(({ each }) => each === undefined);
  if (single.length > 0) {
    const numbers = single.map(({ at }, i) => ` WHEN ${i} THEN ${at}`).join('');
    const items = dialect.list(single.map(({ item }) => print(item)));
    found.push(
      `SELECT h, g, CASE item_at${numbers} END AS m, 0 AS p, item FROM (SELECT ${columns}, ${items} AS items ${from()}) r${dialect.positioned('items', 'item')}`,
    );
  }
  // A subject, condition or graph with several values makes several rows of a record.
  const once = row.laterals === '' && !rows.areSeveral ? '' : 'DISTINCT ';
  const all = `SELECT ${once}h, g, m, p, item FROM (${unionOf(found)}) WHERE h IS NOT NULL AND g IS NOT NULL AND item IS NOT NULL`;
  const numbered = `SELECT h, g, item, CAST(row_number() OVER (PARTITION BY h, g ORDER BY m, p) AS INT) AS n, CAST(count(*) OVER (PARTITION BY h, g) AS INT) AS total FROM (${all})`;
  const nodeAt = (number: string): string => `h || 'm' || ${dialect.toText(number)}`;
  const line = (subject: string, predicate: string, object: string): string => `${subject} || ${predicate} || ${object} || ' ' || g || '.'`;
  const iri = (name: string): string => dialect.text(` <${RDF}${name}> `);
  const at = `CASE n WHEN 1 THEN h ELSE ${nodeAt('n - 1')} END`;
  const { as, allowEmpty } = collection;
  const type = line('h', `${iri('type')} || ${dialect.text(`<${RDF}${CLASSES[as]}>`)}`, "''");
  const lines =
    as === 'list'
      ? [line(at, iri('first'), 'item'), line(at, iri('rest'), `CASE n WHEN total THEN ${dialect.text(NIL)} ELSE ${nodeAt('n')} END`)]
      : [
          line('h', `${dialect.text(` <${RDF}_`)} || ${dialect.toText('n')} || '> '`, 'item'),
          ...(allowEmpty ? [] : [`CASE n WHEN 1 THEN ${type} END`]),
        ];
  const ofMembers = `SELECT ${dialect.explode(dialect.list(lines))} AS line FROM (${numbered})`;
  return as === 'list' || !allowEmpty ? [ofMembers] : [ofMembers, `SELECT ${once}${type} AS line FROM (SELECT ${columns} ${from()})`];
}
