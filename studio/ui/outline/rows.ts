/** The canvas as rows of a tree: entities with their edges and attributes, then what is connected to nothing. */
import type { Edge, Element, Entity, Id, StudioDocument } from '../../core/document.ts';
import { nameOf } from '../../core/elements/names.ts';
import { edgesFrom, edgesTo, recordOf, recordsOf } from '../../core/elements/records.ts';
import { warningOf } from '../../core/rules/link.ts';
import type { TreeRow } from '../parts/fields/tree-row.ts';
import { shortIri } from '../store/iris.ts';
import { WORDS } from './words.ts';

export interface OutlineRow extends TreeRow {
  readonly element: Id;
  readonly kind: Element['kind'];
  readonly text: string;
  /** What stands behind it. */
  readonly detail: string;
}

type Draft = Omit<OutlineRow, 'position' | 'size' | 'level' | 'isOpen' | 'key'> & {
  readonly key?: string;
  readonly below?: readonly Draft[];
};

export function outlineOf(document: StudioDocument, closed: ReadonlySet<string>, find: string): readonly OutlineRow[] {
  const loose = recordsOf(document, 'attribute').filter(({ id }) => edgesTo(document, id).length === 0);
  const all: readonly Draft[] = [
    ...recordsOf(document, 'entity').map((entity) => entityRow(document, entity)),
    ...loose.map((attribute) => plainRow(document, attribute, WORDS.attribute)),
    ...recordsOf(document, 'graph').map((graph) => plainRow(document, graph, WORDS.graph)),
    ...recordsOf(document, 'text').map((text) => ({
      element: text.id,
      kind: text.kind,
      text: WORDS.text,
      detail: text.reason,
      name: `${WORDS.text}, ${text.reason}`,
    })),
  ];
  const wanted = find.trim().toLowerCase();
  const fits = ({ text, below = [] }: Draft): boolean => text.toLowerCase().includes(wanted) || below.some(fits);
  const rows: OutlineRow[] = [];
  const add = (drafts: readonly Draft[], level: number): void => {
    const shown = drafts.filter(fits);
    shown.forEach(({ below, ...draft }, i) => {
      const key = draft.key ?? draft.element;
      const isOpen = below === undefined || below.length === 0 ? undefined : wanted !== '' || !closed.has(key);
      rows.push({ ...draft, key, level, position: i + 1, size: shown.length, isOpen });
      if (isOpen) add(below ?? [], level + 1);
    });
  };
  add(all, 1);
  return rows;
}

function entityRow(document: StudioDocument, entity: Entity): Draft {
  const edges = edgesFrom(document, entity.id);
  const attributes = edges.filter(({ to }) => recordOf(document, 'attribute', to) !== undefined).length;
  const input = nameOf(document, entity.input);
  const counts = [WORDS.attributes(attributes), WORDS.edges(edges.length - attributes)].join(', ');
  return {
    element: entity.id,
    kind: 'entity',
    text: entity.name,
    detail: input,
    name: `${WORDS.entity} ${entity.name}, ${WORDS.from(input)}, ${counts}`,
    below: edges.map((edge) => edgeRow(document, edge, new Set([entity.id]))),
  };
}

/** An edge, and below it those of the attribute that it leads to, where an expert has drawn some. */
function edgeRow(document: StudioDocument, edge: Edge, above: ReadonlySet<Id>): Draft {
  const predicate = edge.predicates.map((iri) => shortIri(document, iri)).join(', ') || WORDS.noPredicate;
  const target = document.records.get(edge.to);
  const isAttribute = target?.kind === 'attribute';
  const further = isAttribute && !above.has(edge.to) ? edgesFrom(document, edge.to) : [];
  const text = WORDS.edge(predicate, nameOf(document, edge.to));
  const warning = warningOf(document, edge);
  return {
    element: edge.id,
    kind: isAttribute ? 'attribute' : 'edge',
    text,
    detail: [warning === undefined ? '' : '⚠', edge.form === 'same' ? '' : edge.form].join(' ').trim(),
    name: [text, isAttribute ? WORDS.attribute : WORDS.entity, ...(warning === undefined ? [] : [warning])].join(', '),
    below: further.map((one) => edgeRow(document, one, new Set([...above, edge.to]))),
  };
}

const plainRow = (document: StudioDocument, { id, kind }: Element, sort: string): Draft => {
  const text = nameOf(document, id);
  return { element: id, kind, text, detail: sort, name: `${text}, ${sort}` };
};
