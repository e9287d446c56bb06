/**
 * Object maps with a function whose arguments come from another logical source, as the older FNML allows them. The object map refers to a
 * triples map without statements: its records are those of the other source, its subjects the results of the function. No condition says
 * which records belong together, so each record is paired with each of the other source, as RMLMapper does.
 */
import { nodeId } from '../../model/graph.ts';
import type { LogicalSource, ReferencingObjectMap, TermMap } from '../../model/model.ts';
import { lookUp } from '../../vocabulary/namespaces.ts';
import { checkPaths } from '../expressions/paths.ts';
import { type Context, type MappingNode, nameOfNode } from '../node.ts';
import { readsOtherRecords } from '../source/logical-source.ts';
import { termMapOf } from '../term-map.ts';

/** The source that the function of an object map names, if it has other records than the triples map. */
export function otherSourceOf(context: Context, node: MappingNode): LogicalSource | undefined {
  const [call] = node.all('functionValue');
  const described = call === undefined ? undefined : context.graph.get(nodeId(call.object) ?? '');
  const named = described?.statements.find(({ property }) => lookUp('properties', property)?.name === 'logicalSource');
  return named === undefined ? undefined : readsOtherRecords(context, named);
}

/** Reads an object map whose function names its own source; undefined, with diagnostics, if it is not valid. */
export function readOverOtherSource(context: Context, node: MappingNode, source: LogicalSource): ReferencingObjectMap | undefined {
  const { reading, report, madeMaps } = context;
  context.reading = { ...reading, source };
  const term = termMapOf(context, node, 'object map');
  context.reading = reading;
  if (term === undefined || !isUniform(context, term)) return undefined;
  const id = `${reading.id} ${node.id}`;
  const { origin } = term.expression;
  const subject = { ...term, classes: [], graphs: [] };
  checkPaths(context, source, 'legacy', { subject, predicateObjects: [] });
  const { baseIri } = reading;
  const name = `the function of ${nameOfNode(node)}`;
  madeMaps.set(id, { id, name, origin, dialect: 'legacy', source, baseIri, quotedOnly: true, subject, predicateObjects: [] });
  const message = 'the arguments of a function come from another logical source';
  if (reading.dialect === 'rml') {
    const hint = 'join the sources in a logical view, and call the function on its fields';
    report.error('missing-join-condition', origin, `${message}, and no condition says which records belong together`, hint);
    return undefined;
  }
  const hint = 'where records belong together by a key, use rr:parentTriplesMap';
  report.warning('missing-join-condition', origin, `${message}: each record is paired with each of that source`, hint);
  return { kind: 'referencing', origin, parent: id, conditions: [], all: true };
}

/** Whether all of the term is the function's result: a reference beside it could mean either source. */
function isUniform({ report }: Context, { expression, language, datatype }: TermMap): boolean {
  const beside = [language, datatype?.expression].find((one) => one !== undefined && one.kind !== 'constant');
  const other = expression.kind === 'call' ? beside : expression;
  if (other === undefined) return true;
  const message = 'the arguments of a function come from another logical source, and something beside the function from one of the two';
  report.error('not-supported', other.origin, message, 'write constants beside the function');
  return false;
}
