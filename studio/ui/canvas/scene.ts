/** What stands on the canvas: the blocks of a document, and the lines between them. */
import type { Attribute, Edge, Entity, FieldRef, Id, Input, StudioDocument } from '../../core/document.ts';
import { exampleOf } from '../../core/elements/example.ts';
import { expressionText, fieldsOf } from '../../core/elements/expressions.ts';
import { nameOf } from '../../core/elements/names.ts';
import { edgesFrom, edgesTo, fieldsOfRecord, joinOf, recordOf, recordsOf } from '../../core/elements/records.ts';
import type { Schema } from '../../core/elements/schema.ts';
import { pathKey } from '../../core/levels.ts';
import { warningOf } from '../../core/rules/link.ts';
import { type FieldRow, type Lists, rowsOf } from '../parts/fields/rows.ts';
import { briefIri, shortIri } from '../store/iris.ts';
import { WORDS } from './words.ts';

export interface InputBlock {
  readonly kind: 'input';
  readonly id: Id;
  readonly name: string;
  readonly isTable: boolean;
  readonly rows: readonly FieldRow[];
  /** Keys of fields that elements read. */
  readonly used: readonly string[];
  readonly showsAll: boolean;
}

/** An edge of an entity as a row of it. */
export interface EntityRow {
  readonly edge: Id;
  /** The attribute that it leads to, which has no separate block; undefined: there is a block that it leads to. */
  readonly attribute: Id | undefined;
  /** Empty: the edge has none yet. */
  readonly predicate: string;
  readonly value: string;
  /** Datatype or language. */
  readonly type: string;
  /** The rule that the edge breaks, in a sentence; undefined: none. */
  readonly warning: string | undefined;
}

export interface EntityBlock {
  readonly kind: 'entity';
  readonly id: Id;
  readonly name: string;
  readonly identifier: string;
  readonly example: string | undefined;
  readonly classes: string;
  readonly rows: readonly EntityRow[];
  /** Parts of its triples maps that stay text. */
  readonly kept: number;
  readonly input: string;
  readonly edges: number;
}

/** An attribute with no entity, or with several, or with edges itself. */
export interface AttributeBlock {
  readonly kind: 'attribute';
  readonly id: Id;
  readonly name: string;
  readonly type: string;
}

/** What is kept as text, and belongs to no element. */
export interface TextBlock {
  readonly kind: 'text';
  readonly id: Id;
  readonly reason: string;
}

export type Block = InputBlock | EntityBlock | AttributeBlock | TextBlock;

export interface Line {
  readonly id: string;
  /** An edge of the model, or the way from a field to what reads it. */
  readonly kind: 'edge' | 'link';
  readonly from: Id;
  /** The field that it begins at; undefined: the block. */
  readonly field: string | undefined;
  readonly to: Id;
  readonly label: string;
  readonly isComplete: boolean;
  /** The rule that it breaks, in a sentence; absent: none. */
  readonly warning?: string | undefined;
}

export interface Scene {
  readonly blocks: readonly Block[];
  /** Edges of the model. */
  readonly lines: readonly Line[];
  /** The entity that an attribute is a row of. */
  readonly own: ReadonlyMap<Id, Id>;
}

/** How the blocks of inputs are shown. */
export interface InputViews {
  /** Inputs of which all fields are shown. */
  readonly all: ReadonlySet<Id>;
  /** Keys of levels that are open there. */
  readonly open: ReadonlySet<string>;
  /** What samples show of lists, by input. */
  readonly lists: ReadonlyMap<Id, Lists>;
}

export const fieldKey = ({ input, path }: FieldRef): string => `${input}:${pathKey(path)}`;

export function sceneOf(document: StudioDocument, schema: Schema, views: InputViews): Scene {
  const used = usedFields(document);
  const own = new Map<Id, Id>();
  const entities = recordsOf(document, 'entity').map((entity) => entityBlock(document, schema, entity, own));
  const attributes = recordsOf(document, 'attribute').filter(({ id }) => !own.has(id));
  const inputs = recordsOf(document, 'input').map((input) => inputBlock(input, schema, views, used.get(input.id) ?? new Set()));
  const texts = recordsOf(document, 'text').filter(({ of }) => of === undefined || !document.records.has(of));
  const edges = recordsOf(document, 'edge').filter(({ to }) => !own.has(to));
  return {
    blocks: [
      ...inputs,
      ...entities,
      ...attributes.map(({ id, ...attribute }) => ({
        kind: 'attribute' as const,
        id,
        name: nameOf(document, id),
        type: typeOf(document, attribute),
      })),
      ...texts.map(({ id, reason }) => ({ kind: 'text' as const, id, reason })),
    ],
    lines: edges.map((edge) => edgeLine(document, edge)),
    own,
  };
}

/** By input: the keys of the fields that elements read. */
function usedFields(document: StudioDocument): ReadonlyMap<Id, Set<string>> {
  const used = new Map<Id, Set<string>>();
  for (const record of document.records.values()) {
    for (const ref of fieldsOfRecord(record)) {
      const fields = used.get(ref.input) ?? new Set();
      used.set(ref.input, fields.add(fieldKey(ref)));
    }
  }
  return used;
}

function inputBlock(input: Input, schema: Schema, { all, open, lists }: InputViews, used: ReadonlySet<string>): InputBlock {
  const showsAll = all.has(input.id) || used.size === 0;
  const above = [...used].flatMap(beginnings);
  const isOpen = new Set([input.id, ...open, ...(showsAll ? [] : above)]);
  const rows = rowsOf([input], schema, lists, isOpen, '').filter((row) => row.kind === 'field');
  const needed = new Set([...used, ...above]);
  const shown = showsAll ? rows : rows.filter(({ key }) => needed.has(key));
  return { kind: 'input', id: input.id, name: input.name, isTable: input.format === 'sql', rows: shown, used: [...used], showsAll };
}

/** The keys of the levels that a field is in. */
const beginnings = (key: string): readonly string[] => [...key.matchAll(/\//g)].map(({ index }) => key.slice(0, index));

function entityBlock(document: StudioDocument, schema: Schema, entity: Entity, own: Map<Id, Id>): EntityBlock {
  const { id, name, identifier, termType, classes, input } = entity;
  const edges = edgesFrom(document, id);
  const rows = edges.map((edge): EntityRow => {
    const row = { edge: edge.id, predicate: predicatesOf(document, edge), warning: warningOf(document, edge) };
    const attribute = recordOf(document, 'attribute', edge.to);
    if (attribute === undefined || edgesTo(document, edge.to).length > 1 || edgesFrom(document, edge.to).length > 0)
      return { ...row, attribute: undefined, value: nameOf(document, edge.to), type: '' };
    own.set(edge.to, id);
    return { ...row, attribute: edge.to, value: expressionText(attribute.value), type: typeOf(document, attribute) };
  });
  const ids = new Set([id, ...edges.map((edge) => edge.id)]);
  return {
    kind: 'entity',
    id,
    name,
    identifier: expressionText(identifier),
    example: exampleOf(schema, identifier, termType),
    classes: classes.map((iri) => briefIri(document, iri)).join(', '),
    rows,
    kept: recordsOf(document, 'text').filter(({ of }) => of !== undefined && ids.has(of)).length,
    input: nameOf(document, input),
    edges: rows.filter(({ attribute }) => attribute === undefined).length,
  };
}

const predicatesOf = (document: StudioDocument, { predicates }: Edge): string =>
  predicates.map((iri) => briefIri(document, iri)).join(', ');

const typeOf = (
  document: StudioDocument,
  { datatype, language, termType }: Pick<Attribute, 'datatype' | 'language' | 'termType'>,
): string => {
  if (termType !== 'literal') return WORDS.termTypes[termType];
  return language !== undefined ? `@${language}` : datatype === undefined ? '' : shortIri(document, datatype);
};

function edgeLine(document: StudioDocument, edge: Edge): Line {
  const join = edge.form === 'join' ? joinOf(document, edge.id) : undefined;
  const isComplete = edge.predicates.length > 0 && (edge.form !== 'join' || (join?.conditions.length ?? 0) > 0);
  const predicate = predicatesOf(document, edge) || WORDS.noPredicate;
  const label = edge.form === 'join' ? WORDS.joined(predicate) : predicate;
  return {
    id: edge.id,
    kind: 'edge',
    from: edge.from,
    field: undefined,
    to: edge.to,
    label,
    isComplete,
    warning: warningOf(document, edge),
  };
}

/** Links from the fields that selected elements read. */
export function linksOf(document: StudioDocument, { blocks, own }: Scene, selected: readonly Id[]): readonly Line[] {
  const shown = new Set(blocks.flatMap((block) => (block.kind === 'input' ? block.rows.map(({ key }) => key) : [])));
  const links = new Map<string, Line>();
  for (const id of selected) {
    for (const [of, ref] of readBy(document, id)) {
      const key = fieldKey(ref);
      const to = own.get(of) ?? of;
      const link = `link:${key}:${to}`;
      links.set(link, {
        id: link,
        kind: 'link',
        from: ref.input,
        field: shown.has(key) ? key : undefined,
        to,
        label: '',
        isComplete: true,
      });
    }
  }
  return [...links.values()];
}

/** The fields that an element and its attributes read, each with the block that reads it. */
function readBy(document: StudioDocument, id: Id): readonly (readonly [Id, FieldRef])[] {
  const record = document.records.get(id);
  if (record?.kind === 'attribute') return fieldsOf(record.value).map((ref) => [id, ref]);
  if (record?.kind === 'edge') {
    const keys = joinOf(document, id)?.conditions.flatMap(({ child, parent }) => [
      ...fieldsOf(child).map((ref) => [record.from, ref] as const),
      ...fieldsOf(parent).map((ref) => [record.to, ref] as const),
    ]);
    return [...(keys ?? []), ...(document.records.get(record.to)?.kind === 'attribute' ? readBy(document, record.to) : [])];
  }
  if (record?.kind !== 'entity') return [];
  const attributes = edgesFrom(document, id).filter(({ to }) => document.records.get(to)?.kind === 'attribute');
  return [...fieldsOf(record.identifier).map((ref) => [id, ref] as const), ...attributes.flatMap(({ to }) => readBy(document, to))];
}
