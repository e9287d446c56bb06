/** Join conditions, of referencing object maps and of views. */
import type { Expression, JoinCondition } from '../model/model.ts';
import { lookUp } from '../vocabulary/namespaces.ts';
import type { Place, Property } from '../vocabulary/vocabulary.ts';
import type { Statement } from './graph.ts';
import { type Context, type MappingNode, nodeOf, only, textOf } from './node.ts';
import { readExpressionMap } from './term-map.ts';

export function readCondition(context: Context, statement: Statement): JoinCondition | undefined {
  const before = context.report.errors;
  const node = nodeOf(context, statement, 'join condition');
  if (node === undefined) return undefined;
  const child = readSide(context, node, 'child', 'childMap', 'child map');
  const parent = readSide(context, node, 'parent', 'parentMap', 'parent map');
  if (context.report.errors > before || child === undefined || parent === undefined) return undefined;
  return { origin: node.origin, child, parent };
}

/** One side of a join condition: a reference (`rml:child "id"`) or an expression map (`rml:childMap […]`). */
function readSide(context: Context, node: MappingNode, shortcut: Property, map: Property, place: Place): Expression | undefined {
  const statement = only(context, node, shortcut, map);
  if (statement === undefined) {
    if (node.valid) {
      const message = `a join condition has no ${place}`;
      context.report.error('incomplete-join', node.origin, message, `add rml:${shortcut} "…" or rml:${map} […]`);
    }
    return undefined;
  }
  if (lookUp('properties', statement.property)?.name === map) return readExpressionMap(context, statement, place);
  const reference = textOf(context, statement, 'a reference in quotes');
  return reference === undefined ? undefined : { kind: 'reference', origin: statement.origin, reference };
}
