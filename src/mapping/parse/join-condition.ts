/** Join conditions, of referencing object maps and of views. */
import { functionLibrary } from '../../functions/library.ts';
import type { Statement } from '../model/graph.ts';
import type { Expression, JoinCondition } from '../model/model.ts';
import { lookUp } from '../vocabulary/namespaces.ts';
import type { NodeRole, Property } from '../vocabulary/vocabulary.ts';
import { type ExpressionReader, readComparison } from './functions.ts';
import { type Context, literalText, type MappingNode, nodeOf, only } from './node.ts';
import { READER, readExpressionMap, readExpressionOf } from './term-map.ts';

export function readCondition(context: Context, statement: Statement): JoinCondition | undefined {
  const before = context.report.errors;
  const node = nodeOf(context, statement, 'join condition');
  if (node === undefined) return undefined;
  const comparison = only(context, node, 'functionValue');
  if (comparison !== undefined) return readEquality(context, node, comparison);
  const child = readSide(context, node, 'child', 'childMap', 'child map');
  const parent = readSide(context, node, 'parent', 'parentMap', 'parent map');
  if (context.report.errors > before || child === undefined || parent === undefined) return undefined;
  return { origin: node.origin, child, parent };
}

/** One side of a join condition: a reference (`rml:child "id"`) or an expression map (`rml:childMap […]`). */
function readSide(context: Context, node: MappingNode, shortcut: Property, map: Property, role: NodeRole): Expression | undefined {
  const statement = only(context, node, shortcut, map);
  if (statement === undefined) {
    if (node.valid) {
      const message = `a join condition has no ${role}`;
      context.report.error('incomplete-join', node.origin, message, `add rml:${shortcut} "…" or rml:${map} […]`);
    }
    return undefined;
  }
  if (lookUp('properties', statement.property)?.name === map) return readExpressionMap(context, statement, role);
  const reference = literalText(context, statement, 'a reference in quotes');
  return reference === undefined ? undefined : { kind: 'reference', origin: statement.origin, reference };
}

// ---------------------------------------------------------------- functions

const EQUAL = 'https://w3id.org/imec/idlab/function#equal';

/**
 * A condition that is a function (`fnml:functionValue`), as RMLMapper has them: an argument is of the parent where `rml:parentTermMap` leads
 * to its expression, else of the child. Equality is the only such function that is an index look-up.
 */
function readEquality(context: Context, node: MappingNode, statement: Statement): JoinCondition | undefined {
  const { report } = context;
  const before = report.errors;
  only(context, node, 'functionValue', 'child', 'childMap', 'parent', 'parentMap');
  const ofParent = new Set<Expression>();
  const reader: ExpressionReader = {
    ...READER,
    map: (_, argument, role) => (role === 'object map' ? readArgument(context, argument, ofParent) : READER.map(context, argument, role)),
  };
  const call = readComparison(context, statement, reader);
  if (call === undefined || report.errors > before) return undefined;
  const { findFunction, shortName } = functionLibrary();
  const { function: iri, inputs } = call.execution;
  if (findFunction(iri)?.iri !== EQUAL) {
    const message = `the function ${shortName(iri)} as a join condition is not supported yet by this version`;
    report.error('not-supported', call.origin, message, `${shortName(EQUAL)} is; or compare with rml:childMap and rml:parentMap`);
    return undefined;
  }
  const values = inputs.map(({ value }) => value);
  const child = values.find((value) => !ofParent.has(value));
  const parent = values.find((value) => ofParent.has(value));
  if (child !== undefined && parent !== undefined) return { origin: node.origin, child, parent };
  const message = `a join condition compares two values of the ${child === undefined ? 'parent' : 'child'}`;
  report.error('incomplete-join', call.origin, message, `put one of them into rml:${child === undefined ? 'child' : 'parent'}TermMap […]`);
  return undefined;
}

/** The expression of an argument. Adds it to `ofParent` if it is over the records of the parent. */
function readArgument(context: Context, statement: Statement, ofParent: Set<Expression>): Expression | undefined {
  const node = nodeOf(context, statement, 'compared value');
  if (node === undefined) return undefined;
  const [side] = [...node.all('childTermMap'), ...node.all('parentTermMap')];
  if (side === undefined) return readExpressionOf(context, node);
  only(context, node, 'childTermMap', 'parentTermMap', 'constant', 'reference', 'template', 'functionExecution', 'functionValue');
  const isParent = lookUp('properties', side.property)?.name === 'parentTermMap';
  const expression = readExpressionMap(context, side, isParent ? 'parent map' : 'child map');
  if (expression !== undefined && isParent) ofParent.add(expression);
  return expression;
}
