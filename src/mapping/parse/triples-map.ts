/** Triples maps: subject map and predicate object maps. Object maps are read by `objects/object-map.ts`. */
import { findNotInIri, hasScheme } from '../../core/text.ts';
import { nodeId, type Statement } from '../model/graph.ts';
import type { PredicateObjectMap, SubjectMap, TermMap, TriplesMap } from '../model/model.ts';
import { lookUp, shorten } from '../vocabulary/namespaces.ts';
import { checkPaths } from './expressions/paths.ts';
import { type Context, describeTerm, type MappingNode, nameOfNode, nodeOf, only, readNode } from './node.ts';
import { gatheringMapOf, readObjectMap, readPredicateMap } from './objects/object-map.ts';
import { isStar, readStar } from './objects/star-map.ts';
import { checkPrefix, unquoted } from './slips.ts';
import { readLogicalSource } from './source/logical-source.ts';
import { checkReferences, isView, readSourceOrView } from './source/view.ts';
import { isIriText, readConstant, readTermMaps } from './term-map.ts';

/** Reads a node as a triples map; undefined, with diagnostics, if it is not valid. Parents are looked up later. */
export function readTriplesMap(context: Context, id: string): TriplesMap | undefined {
  const { graph, report } = context;
  const before = report.errors;
  const origin = graph.get(id)?.origin;
  if (origin === undefined) return undefined;
  const node = readNode(context, id, 'triples map', origin);
  const logicalSource = only(context, node, 'logicalSource', 'logicalTable');
  if (logicalSource === undefined && node.valid) {
    const older = graph.get(id)?.statements.some(({ property }) => lookUp('properties', property)?.dialect === 'r2rml') ?? false;
    const hint = `add rml:logicalSource [ rml:source […] ; rml:referenceFormulation … ]${older ? ', or rr:logicalTable [ rr:tableName "…" ]' : ''}`;
    report.error('missing-logical-source', node.origin, `the triples map ${nameOfNode(node)} has no logical source`, hint);
  }
  const dialect = logicalSource === undefined ? 'rml' : (lookUp('properties', logicalSource.property)?.dialect ?? 'rml');
  const source =
    logicalSource === undefined
      ? undefined
      : isView(context, nodeId(logicalSource.object))
        ? readSourceOrView(context, logicalSource)
        : readLogicalSource(context, logicalSource, dialect);
  const baseIri = readBaseIri(context, node);
  context.reading = { id, dialect, baseIri, source };
  const subject = readSubject(context, node);
  const quotedOnly = isQuotedOnly(context, node);
  const predicateObjects = node.all('predicateObjectMap').map((statement) => readPredicateObjectMap(context, statement));
  const expressions = { subject, predicateObjects: predicateObjects.filter((map) => map !== undefined) };
  if (source !== undefined) checkPaths(context, source, dialect, expressions);
  if (!node.valid || report.errors > before || source === undefined || subject === undefined) return undefined;
  const map: TriplesMap = {
    id,
    name: nameOfNode(node),
    origin: node.origin,
    dialect,
    source,
    baseIri,
    ...(quotedOnly ? { quotedOnly } : {}),
    ...expressions,
    subject,
  };
  checkReferences(context, map);
  if (report.errors > before) return undefined;
  return map;
}

function isQuotedOnly({ report }: Context, node: MappingNode): boolean {
  if (!node.classes.has('NonAssertedTriplesMap')) return false;
  if (node.classes.has('AssertedTriplesMap')) {
    const message = `the triples map ${nameOfNode(node)} is an rml:AssertedTriplesMap and an rml:NonAssertedTriplesMap`;
    report.error('contradiction', node.origin, message, 'remove one of the two classes');
  }
  return true;
}

function readSubject(context: Context, node: MappingNode): SubjectMap | undefined {
  const { report } = context;
  const statement = only(context, node, 'subjectMap', 'subject');
  if (statement === undefined) {
    if (node.valid) {
      const message = `the triples map ${nameOfNode(node)} has no subject map`;
      report.error('missing-subject-map', node.origin, message, 'add rml:subjectMap […] or rml:subject <…>');
    }
    return undefined;
  }
  if (lookUp('properties', statement.property)?.name === 'subject') {
    const map = readConstant(context, statement, 'subject map');
    return map === undefined ? undefined : { ...map, classes: [], graphs: [] };
  }
  const before = report.errors;
  const isQuoting = isStar(context, statement);
  const subjectNode = nodeOf(context, statement, isQuoting ? 'subject star map' : 'subject map');
  if (subjectNode === undefined) return undefined;
  const map = isQuoting ? readStar(context, subjectNode) : gatheringMapOf(context, subjectNode, 'subject map');
  const classes = subjectNode.all('class').map((type) => readClass(context, type));
  const graphs = readTermMaps(context, subjectNode, 'graphMap', 'graph', 'graph map');
  if (map === undefined || report.errors > before) return undefined;
  return { ...map, classes: classes.filter((type) => type !== undefined), graphs };
}

function readClass(context: Context, statement: Statement): TermMap | undefined {
  const { object, origin } = statement;
  if (object.kind === 'iri' || isIriText(object)) return readConstant(context, statement, 'predicate map');
  const message = `${shorten(statement.property)} takes an IRI, found ${describeTerm(object)}`;
  context.report.error(
    'wrong-value',
    origin,
    message,
    unquoted(context, object, origin) ?? 'for classes from the data, map rdf:type in a predicate object map',
  );
  return undefined;
}

function readBaseIri(context: Context, node: MappingNode): string | undefined {
  const statement = only(context, node, 'baseIRI');
  if (statement === undefined) return undefined;
  const { object, origin } = statement;
  if (object.kind === 'literal' && checkPrefix(context, object.value, origin) === 'wrong') return undefined;
  if (object.kind !== 'blank' && hasScheme(object.value) && findNotInIri(object.value) < 0) {
    if (object.kind === 'literal')
      context.report.warning(
        'text-for-iri',
        origin,
        `rml:baseIRI takes an IRI, found ${describeTerm(object)}: read as one`,
        'write it in <…>',
      );
    return object.value;
  }
  context.report.error('wrong-value', origin, `rml:baseIRI takes an absolute IRI, found ${describeTerm(object)}`, 'write <http://…/>');
  return undefined;
}

function readPredicateObjectMap(context: Context, statement: Statement): PredicateObjectMap | undefined {
  const { report } = context;
  const before = report.errors;
  const node = nodeOf(context, statement, 'predicate object map');
  if (node === undefined) return undefined;
  for (const part of ['predicate', 'object'] as const) {
    if (node.valid && node.all(part).length + node.all(`${part}Map`).length === 0) {
      const message = `a predicate object map has no ${part} map`;
      report.error(`missing-${part}`, node.origin, message, `add rml:${part} or rml:${part}Map`);
    }
  }
  const predicates = readTermMaps(context, node, 'predicateMap', 'predicate', 'predicate map', readPredicateMap);
  const objects = [
    ...node.all('objectMap').map((object) => readObjectMap(context, object)),
    ...node.all('object').map((object) => readConstant(context, object, 'object map')),
  ];
  const graphs = readTermMaps(context, node, 'graphMap', 'graph', 'graph map');
  if (!node.valid || report.errors > before) return undefined;
  return { origin: node.origin, predicates, objects: objects.filter((map) => map !== undefined), graphs };
}
