/** Where the two ends of an edge stand: their input, their levels and the view in which they were chosen. */
import type { Attribute, Entity, Expression, FieldRef, Id, Input, Path, StudioDocument } from '../document.ts';
import { fieldsOf, isConstant } from '../elements/expressions.ts';
import { nameOf } from '../elements/names.ts';
import { fieldName } from '../elements/path-text.ts';
import { inputOf } from '../elements/records.ts';
import { type Holds, holds, type Schema } from '../elements/schema.ts';
import { deepestOf, levelOf, type View, viewOf } from '../levels.ts';
import { type End, type Refusal, refuse } from './verdict.ts';

export interface Side {
  readonly kind: Holds | 'entity' | 'attribute';
  readonly name: string;
  /** Of an element. */
  readonly id?: Id;
  /** Of a field. */
  readonly ref?: FieldRef;
  /** undefined: it is made of constants alone. */
  readonly input: Input | undefined;
  /** Where its edges begin: of an entity its own level, of others the deepest. */
  readonly base: Path;
  /** Where it stands when an edge leads to it. None: it is made of constants alone. */
  readonly levels: readonly Path[];
  /** Paths of all fields that it reads, and its own levels. */
  readonly paths: readonly Path[];
  /** What makes its value. */
  readonly value: Expression;
}

/** @returns undefined for the canvas and the title of an input */
export function sideOf(document: StudioDocument, schema: Schema, end: End): Side | Refusal | undefined {
  switch (end.kind) {
    case 'canvas':
    case 'input':
      return undefined;
    case 'field':
      return inputOf(document, end.ref.input) === undefined ? gone() : sideOfField(document, schema, end.ref);
    case 'element': {
      const record = document.records.get(end.id);
      if (record?.kind === 'entity') return sideOfEntity(document, record);
      if (record?.kind === 'attribute') return sideOfAttribute(document, record);
      return gone();
    }
  }
}

const gone = (): Refusal => refuse('I1', 'This element is not in the model any more.', []);

function sideOfField(document: StudioDocument, schema: Schema, ref: FieldRef): Side {
  const kind = holds(schema, ref);
  const level: Path = kind === 'list' ? [...ref.path, { each: true }] : kind === 'object' ? ref.path : levelOf(ref.path);
  return {
    kind,
    name: fieldName(ref.path),
    ref,
    input: inputOf(document, ref.input),
    base: level,
    levels: [level],
    paths: kind === 'value' ? [ref.path] : [level],
    value: kind === 'value' ? { kind: 'field', ref } : { kind: 'fresh' },
  };
}

export function sideOfEntity(document: StudioDocument, { id, name, input, level, identifier }: Entity): Side {
  const isFixed = isConstant(identifier);
  return {
    kind: 'entity',
    name,
    id,
    input: inputOf(document, input),
    base: level,
    levels: isFixed ? [] : [level],
    paths: [level, ...fieldsOf(identifier).map(({ path }) => path)],
    value: identifier,
  };
}

const sideOfAttribute = (document: StudioDocument, { id, value }: Attribute): Side => ({
  ...sideOfValue(document, value, nameOf(document, id)),
  id,
});

/** The side of an attribute with this value. */
export function sideOfValue(document: StudioDocument, value: Expression, name: string): Side {
  const fields = fieldsOf(value);
  const levels = fields.map(({ path }) => levelOf(path));
  const [first] = fields;
  return {
    kind: 'attribute',
    name,
    input: first && inputOf(document, first.input),
    base: deepestOf(levels) ?? [],
    levels,
    paths: fields.map(({ path }) => path),
    value,
  };
}

/** The side as a separate entity: what an edge begins at that is drawn from a value field, or by an expert from an attribute. */
export const asEntity = (side: Side): Side => ({ ...side, kind: 'entity', levels: [side.base], paths: [...side.paths, side.base] });

/** One object alone, all objects, or neither since there is no list on the way. */
export const viewOfSide = ({ paths }: Side): View => {
  const views = paths.map(viewOf);
  return views.find((view) => view === 'ungrouped') ?? views.find((view) => view === 'grouped') ?? 'single';
};

/** Whether an edge to it ends at an entity. */
export const isThing = ({ kind }: Side): boolean => kind === 'entity' || kind === 'list' || kind === 'object';
