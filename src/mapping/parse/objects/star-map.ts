/**
 * Star maps: subject and object maps whose terms are the triples of another triples map, quoted.
 *
 * @see https://kg-construct.github.io/rml-star/spec/docs/
 */

import { nodeId, type Statement } from '../../model/graph.ts';
import type { StarMap, TriplesMap } from '../../model/model.ts';
import { lookUp, shorten } from '../../vocabulary/namespaces.ts';
import { readCondition } from '../join-condition.ts';
import { type Context, leadsToNodeWith, type MappingNode, nodeOf, only, triplesMapOf } from '../node.ts';
import { ownTargets } from '../term-map.ts';

/** Whether a statement such as `rml:subjectMap […]` leads to a star map. */
export const isStar = (context: Context, statement: Statement): boolean =>
  leadsToNodeWith(context, statement, 'quotedTriplesMap') || leadsToNodeWith(context, statement, 'starMap');

/** The triples map that is quoted is looked up later. */
export function readStar(context: Context, node: MappingNode): StarMap | undefined {
  const { report } = context;
  const before = report.errors;
  const statement = only(context, node, 'quotedTriplesMap', 'starMap');
  const conditions = node.all('joinCondition').map((condition) => readCondition(context, condition));
  if (!node.valid || statement === undefined || report.errors > before) return undefined;
  // Drafts have a star map as a separate node around the quoted triples map: `rml:subjectMap [ rml:starMap [ rml:quotedTriplesMap … ] ]`.
  if (statement.property.endsWith('starMap')) {
    const inner = nodeOf(context, statement, 'object star map');
    const map = inner === undefined ? undefined : readStar(context, inner);
    return map === undefined ? undefined : { ...map, conditions: [...map.conditions, ...conditions.filter((one) => one !== undefined)] };
  }
  const quoted = triplesMapOf(context, statement);
  if (quoted === undefined) return undefined;
  const own = { kind: 'star', origin: statement.origin, quoted, conditions: conditions.filter((one) => one !== undefined) } as const;
  const targets = ownTargets(context, node);
  return targets.length === 0 ? own : { ...own, targets };
}

/**
 * Reports triples maps that quote themselves, directly or through others, and triples maps that nothing asserts and nothing quotes.
 *
 * @returns the ids of the first kind, and of those that quote them
 */
export function checkQuoting({ graph, report, madeMaps }: Context, triplesMaps: readonly TriplesMap[]): ReadonlySet<string> {
  const byId = new Map(triplesMaps.map((map) => [map.id, map]));
  // Also by a triples map that is not valid, which has been reported.
  const statements = [...graph.values()].flatMap((node) => node.statements);
  const quoted = new Set(
    statements.flatMap(({ property, object }) => (lookUp('properties', property)?.name === 'quotedTriplesMap' ? [nodeId(object)] : [])),
  );
  for (const { id, name, origin, quotedOnly, dialect } of triplesMaps) {
    if (quotedOnly !== true || quoted.has(id) || madeMaps.has(id)) continue;
    const message = `the rml:NonAssertedTriplesMap ${name} is quoted nowhere, so that it makes nothing`;
    const hint = 'quote it with rml:quotedTriplesMap, or make it an rml:AssertedTriplesMap';
    if (dialect === 'rml') report.error('not-quoted', origin, message, hint);
    else report.warning('not-quoted', origin, message, hint);
  }

  const endless = new Set<string>();
  const states = new Map<string, 'open' | 'endless' | 'sound'>();
  /** Whether the triples of a map, or its subject alone, are made of themselves. */
  const isEndless = (what: Part): boolean => {
    const map = byId.get(what.id);
    if (map === undefined) return false;
    const key = `${what.part} ${what.id}`;
    const known = states.get(key);
    if (known !== undefined) return known !== 'sound';
    states.set(key, 'open');
    const found = madeFrom(map, what.part).some(isEndless);
    states.set(key, found ? 'endless' : 'sound');
    return found;
  };
  for (const map of triplesMaps) {
    const star = starMapsOf(map).find(({ quoted: id }) => isEndless({ id, part: 'triples' }));
    if (star === undefined) continue;
    endless.add(map.id);
    const message = `${map.name} quotes ${shorten(star.quoted)}, whose triples are made of themselves`;
    report.error('circle', star.origin, message, 'a triple is quoted by triples that it does not quote itself');
  }
  return endless;
}

interface Part {
  readonly id: string;
  readonly part: 'subject' | 'triples';
}

const starMapsOf = ({ subject, predicateObjects }: TriplesMap): readonly StarMap[] => [
  ...(subject.kind === 'star' ? [subject] : []),
  ...predicateObjects.flatMap(({ objects }) => objects.filter((object) => object.kind === 'star')),
];

/** What a quoted triple map is made of: the maps that it quotes or takes subjects from. */
function madeFrom({ id, subject, predicateObjects }: TriplesMap, part: Part['part']): readonly Part[] {
  if (part === 'subject') return subject.kind === 'star' ? [{ id: subject.quoted, part: 'triples' }] : [];
  return [
    { id, part: 'subject' },
    ...predicateObjects.flatMap(({ objects }) =>
      objects.flatMap((object): readonly Part[] => {
        if (object.kind === 'term') return [];
        return [object.kind === 'star' ? { id: object.quoted, part: 'triples' } : { id: object.parent, part: 'subject' }];
      }),
    ),
  ];
}
