/**
 * Groups of tables in CSVW. A table takes from its group what it does not say itself, and a group of one table may stand for it.
 *
 * @see https://www.w3.org/TR/tabular-metadata/#table-groups
 */
import { type Graph, nodeId, type Statement } from '../../model/graph.ts';
import { shorten, USUAL_PREFIXES } from '../../vocabulary/namespaces.ts';
import { type Context, RDF_TYPE, reportUnknown } from '../node.ts';
import { all, isDescribedAs, membersOf } from './description.ts';

const CSVW = USUAL_PREFIXES.csvw as string;

/** `csvw:table` in RDF, `tables` in JSON. */
const TABLES = ['table', 'tables'].map((name) => CSVW + name);
/** What tables take from their group. */
export const INHERITED = ['dialect', 'tableSchema', 'null'] as const;
const UNUSED = ['tableDirection', 'transformations', 'notes', 'note'];

const isGroup = (graph: Graph, id: string): boolean =>
  isDescribedAs(graph, id, [`${CSVW}TableGroup`], []) ||
  (isDescribedAs(graph, id, [], TABLES) && !isDescribedAs(graph, id, [`${CSVW}Table`], []));

const tablesOf = (context: Context, group: string): readonly Statement[] =>
  TABLES.flatMap((property) => all(context.graph, group, property)).flatMap((statement) => membersOf(context, statement));

/** The statement that leads to the source, or to the only table of a group; undefined, with a diagnostic, for other groups. */
export function tableMeantBy(context: Context, source: Statement): Statement | undefined {
  const { graph, report } = context;
  const id = nodeId(source.object);
  if (id === undefined || !isGroup(graph, id)) return source;
  checkGroup(context, id);
  const tables = tablesOf(context, id);
  const [table] = tables;
  if (table !== undefined && tables.length === 1) return table;
  const hint =
    tables.length === 0
      ? 'write csvw:table [ csvw:url "people.csv" ]'
      : 'name one of them: rml:source <…>; it takes csvw:dialect, csvw:tableSchema and csvw:null from its group';
  report.error('wrong-value', source.origin, `a source is one table, and the csvw:TableGroup has ${tables.length || 'none'}`, hint);
  return undefined;
}

/** What the group of a table says of all its tables: empty for a table without a group. */
export function inheritedBy(context: Context, table: string): readonly Statement[] {
  const { graph } = context;
  for (const group of graph.keys()) {
    if (!isGroup(graph, group) || !tablesOf(context, group).some(({ object }) => nodeId(object) === table)) continue;
    checkGroup(context, group);
    return INHERITED.flatMap((name) => all(graph, group, CSVW + name));
  }
  return [];
}

/** Reports, once, what a group says without an effect. */
function checkGroup(context: Context, group: string): void {
  const { graph, report, visited } = context;
  if (visited.has(group)) return;
  visited.add(group);
  for (const { property, propertyOrigin } of graph.get(group)?.statements ?? []) {
    if (property === RDF_TYPE || !property.startsWith(CSVW) || TABLES.includes(property)) continue;
    const name = property.slice(CSVW.length);
    if (INHERITED.some((known) => known === name)) continue;
    const known = ['table', ...INHERITED].map((one) => `csvw:${one}`);
    if (UNUSED.includes(name))
      report.warning('unused-term', propertyOrigin, `${shorten(property)} has no effect here`, `${known.join(', ')} are read`);
    else reportUnknown(report, 'property of a group of tables', shorten(property), propertyOrigin, known);
  }
}
