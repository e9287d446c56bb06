/**
 * Object maps: term maps, referencing object maps, and gather maps, whose members are object maps again.
 *
 * @see https://kg-construct.github.io/rml-cc/spec/docs/
 */
import { XSD } from '../../../core/value.ts';
import type { Report } from '../../model/diagnostics.ts';
import { nodeId, type Statement } from '../../model/graph.ts';
import type { AnyMap, Gather, ReferencingObjectMap, TermMap, TriplesMap } from '../../model/model.ts';
import { mapsIn, referredBy, withMembers } from '../../model/model.ts';
import { lookUp, shorten } from '../../vocabulary/namespaces.ts';
import type { NodeRole } from '../../vocabulary/vocabulary.ts';
import { readCondition } from '../join-condition.ts';
import {
  type Context,
  describeTerm,
  leadsToNodeWith,
  type MappingNode,
  nodeOf,
  only,
  readList,
  reportUnknown,
  triplesMapOf,
} from '../node.ts';
import { termMapOf } from '../term-map.ts';
import { otherSourceOf, readOverOtherSource } from './other-source.ts';
import { isStar, readStar } from './star-map.ts';

const RDF = 'http://www.w3.org/1999/02/22-rdf-syntax-ns#';

type GatheringRole = Extract<NodeRole, 'subject map' | 'predicate map' | 'object map'>;

/** The map of a statement such as `rml:objectMap […]`, or of a place in the list of `rml:gather`. */
export function readObjectMap(context: Context, statement: Statement): AnyMap | undefined {
  const role = isStar(context, statement)
    ? 'object star map'
    : leadsToNodeWith(context, statement, 'parentTriplesMap')
      ? 'referencing object map'
      : 'object map';
  const node = nodeOf(context, statement, role);
  if (node === undefined) return undefined;
  if (role === 'object star map') return readStar(context, node);
  if (role === 'referencing object map') return readReferencing(context, node);
  const other = node.all('gather').length > 0 ? undefined : otherSourceOf(context, node);
  return other === undefined ? gatheringMapOf(context, node, role) : readOverOtherSource(context, node, other);
}

export function readPredicateMap(context: Context, statement: Statement): TermMap | undefined {
  const node = nodeOf(context, statement, 'predicate map');
  return node === undefined ? undefined : gatheringMapOf(context, node, 'predicate map');
}

function readReferencing(context: Context, node: MappingNode): ReferencingObjectMap | undefined {
  const { report } = context;
  const before = report.errors;
  const parent = only(context, node, 'parentTriplesMap');
  const conditions = node.all('joinCondition').map((statement) => readCondition(context, statement));
  if (!node.valid || report.errors > before || parent === undefined) return undefined;
  const id = triplesMapOf(context, parent);
  if (id === undefined) return undefined;
  return { kind: 'referencing', origin: parent.origin, parent: id, conditions: conditions.filter((condition) => condition !== undefined) };
}

// ---------------------------------------------------------------- gather maps

/** A term map, with what it gathers if it is a gather map. */
export function gatheringMapOf(context: Context, node: MappingNode, role: GatheringRole): TermMap | undefined {
  const { report } = context;
  const before = report.errors;
  const gather = readGather(context, node);
  const map = termMapOf(context, node, role);
  if (map === undefined || report.errors > before) return undefined;
  if (gather === undefined) return map;
  for (const member of gather.members) {
    if (member.kind !== 'term' || member.targets === undefined) continue;
    const message = 'a member of a collection has no separate logical target: the collection is in one piece';
    report.error('contradiction', member.origin, message, 'name the target at the gather map');
  }
  if (report.errors > before) return undefined;
  const joined = gather.members.flatMap(withMembers).find((one) => one.kind === 'referencing' && one.conditions.length > 0);
  if (role !== 'object map' && joined !== undefined) {
    report.error(
      'not-supported',
      joined.origin,
      `a gather map that is a ${role} may not gather the subjects that a join finds`,
      'gather them in an object map, or join the sources in a logical view',
    );
    return undefined;
  }
  return { ...map, gather };
}

/** undefined: the node is no gather map, or an error was reported. */
function readGather(context: Context, node: MappingNode): Gather | undefined {
  const { report } = context;
  const before = report.errors;
  const gather = only(context, node, 'gather');
  const gatherAs = only(context, node, 'gatherAs');
  const strategy = only(context, node, 'strategy');
  const empty = only(context, node, 'allowEmptyListAndContainer');
  if (gather === undefined || gatherAs === undefined) {
    const found = gather ?? gatherAs ?? strategy ?? empty;
    if (found === undefined || !node.valid) return undefined;
    const [missing, what] = gather === undefined ? ['rml:gather ( […] )', 'members'] : ['rml:gatherAs rdf:List', 'kind of collection'];
    report.error(
      'incomplete-gather-map',
      found.propertyOrigin,
      `${shorten(found.property)} on a map that names no ${what}`,
      `add ${missing}`,
    );
    return undefined;
  }
  const members = readMembers(context, gather);
  const as = readKind(context, gatherAs);
  const read: Omit<Gather, 'as' | 'members'> = {
    id: node.id,
    strategy: strategy === undefined ? 'append' : readStrategy(context, strategy),
    allowEmpty: empty !== undefined && readBoolean(context, empty),
  };
  if (as === undefined || members === undefined || report.errors > before) return undefined;
  return { ...read, as, members };
}

/** The maps in the list that `rml:gather` leads to; undefined, with a diagnostic, if one is not valid. */
function readMembers(context: Context, gather: Statement): Gather['members'] | undefined {
  const { report } = context;
  const example = 'write it in parentheses: rml:gather ( [ rml:reference "…" ] )';
  const items = readList(context, gather, 'a list of term maps', example);
  if (items?.length === 0)
    report.error('wrong-value', gather.origin, `${shorten(gather.property)} takes at least one term map, found an empty list`);
  const members: (TermMap | ReferencingObjectMap)[] = [];
  for (const item of items ?? []) {
    const before = report.errors;
    const own = nodeId(item.object) ?? '';
    // A map may stand in its own list, over any number of gather maps.
    if (context.gathering.has(own)) {
      report.error('circle', item.origin, `the collection of the gather map ${describeTerm(item.object)} contains itself`);
      return undefined;
    }
    context.gathering.add(own);
    const member = readObjectMap(context, item);
    context.gathering.delete(own);
    if (member?.kind === 'star') {
      report.error('not-supported', member.origin, 'a collection gathers no quoted triples', QUOTED_HINT);
      return undefined;
    }
    if (member !== undefined) members.push(member);
    else if (report.errors === before) return undefined;
  }
  return members.length > 0 ? members : undefined;
}

const KINDS: Readonly<Record<string, Gather['as']>> = {
  [`${RDF}List`]: 'list',
  [`${RDF}Bag`]: 'bag',
  [`${RDF}Seq`]: 'seq',
  [`${RDF}Alt`]: 'alt',
};

function readKind({ report }: Context, { object, origin, property }: Statement): Gather['as'] | undefined {
  const found = object.kind === 'iri' ? KINDS[object.value] : undefined;
  if (found !== undefined) return found;
  report.error(
    'wrong-value',
    origin,
    `${shorten(property)} takes rdf:List, rdf:Bag, rdf:Seq or rdf:Alt, found ${describeTerm(object)}`,
    undefined,
  );
  return undefined;
}

function readStrategy({ report }: Context, { object, origin, property }: Statement): Gather['strategy'] {
  const term = object.kind === 'iri' ? lookUp('individuals', object.value) : undefined;
  if (term?.name === 'append') return 'append';
  if (term?.name === 'cartesianProduct') return 'product';
  const strategies = ['rml:append', 'rml:cartesianProduct'];
  if (term !== undefined && term.name === undefined) reportUnknown(report, 'strategy', term.short, origin, strategies);
  else report.error('wrong-value', origin, `${shorten(property)} takes ${strategies.join(' or ')}, found ${describeTerm(object)}`);
  return 'append';
}

function readBoolean({ report }: Context, { object, origin, property }: Statement): boolean {
  const isBoolean = object.kind === 'literal' && [`${XSD}boolean`, `${XSD}string`].includes(object.datatype);
  if (isBoolean && /^(true|1)$/.test(object.value)) return true;
  if (isBoolean && /^(false|0)$/.test(object.value)) return false;
  report.error('wrong-value', origin, `${shorten(property)} takes true or false, found ${describeTerm(object)}`);
  return false;
}

// ---------------------------------------------------------------- several triples maps

const QUOTED_HINT = 'state them with a separate triples map';

/**
 * Reports collections that gather themselves, over any number of parents, and collections among quoted triples.
 *
 * @returns the ids of the triples maps that have them
 */
export function checkGathering(report: Report, triplesMaps: readonly TriplesMap[]): readonly string[] {
  const byId = new Map(triplesMaps.map((map) => [map.id, map]));
  return triplesMaps.filter((map) => [isCircle(report, map, byId), isMixed(report, map, byId)].includes(true)).map(({ id }) => id);
}

function isCircle(report: Report, map: TriplesMap, byId: ReadonlyMap<string, TriplesMap>): boolean {
  const gathered = (of: TriplesMap | undefined): readonly ReferencingObjectMap[] =>
    of === undefined ? [] : withMembers(of.subject).filter((one) => one.kind === 'referencing');
  const reached = new Set(gathered(map).map(({ parent }) => parent));
  // Grows during iteration.
  for (const parent of reached) for (const next of gathered(byId.get(parent))) reached.add(next.parent);
  if (!reached.has(map.id)) return false;
  const [first] = gathered(map) as [ReferencingObjectMap];
  report.error('circle', first.origin, `the collection that is the subject of ${map.name} contains itself`);
  return true;
}

const gatheringIn = (map: TriplesMap): TermMap | undefined =>
  mapsIn(map)
    .filter((one) => one.kind === 'term')
    .find(({ gather }) => gather !== undefined);

/** A quoted triple has no place for the statements of a collection. */
function isMixed(report: Report, map: TriplesMap, byId: ReadonlyMap<string, TriplesMap>): boolean {
  const { name, quotedOnly } = map;
  const gather = gatheringIn(map);
  if (gather !== undefined && quotedOnly === true) {
    report.error('not-supported', gather.origin, `${name} is no asserted triples map, and makes a collection`, QUOTED_HINT);
    return true;
  }
  for (const one of mapsIn(map)) {
    if (one.kind === 'star' || (one.kind === 'referencing' && byId.get(one.parent)?.subject.kind === 'star' && gather !== undefined)) {
      const other = byId.get(referredBy(one));
      if (gather === undefined && (other === undefined || gatheringIn(other) === undefined)) continue;
      const where = gather === undefined ? `${other?.name ?? ''}, which ${name} quotes,` : name;
      report.error('not-supported', one.origin, `${where} makes a collection: it is not beside quoted triples`, QUOTED_HINT);
      return true;
    }
  }
  return false;
}
