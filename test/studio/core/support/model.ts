/** Documents of the studio written briefly: fields as `orders:[*].lines[*].sku`, elements with the fields that matter to a test. */
import type {
  Attribute,
  Edge,
  Element,
  Entity,
  Expression,
  FieldRef,
  Format,
  Input,
  Join,
  Path,
  Step,
  StudioDocument,
} from '../../../../studio/core/document.ts';
import { fieldsOf } from '../../../../studio/core/elements/expressions.ts';
import { fieldsByPath, type Schema, type SchemaField } from '../../../../studio/core/elements/schema.ts';
import { deepestOf, levelOf } from '../../../../studio/core/levels.ts';
import type { End } from '../../../../studio/core/rules/verdict.ts';

/** `[*].lines[2].@sku` → steps. */
export const path = (text: string): Path =>
  [...text.matchAll(/\[\*\]|\[(\d+)\]|text\(\)|@([^.[]+)|([^.[\]]+)/g)].map(([all, index, attribute, name]): Step => {
    if (all === '[*]') return { each: true };
    if (all === 'text()') return { text: true };
    if (index !== undefined) return { index: Number(index) };
    return attribute !== undefined ? { attribute } : { name: name as string };
  });

/** `orders:[*].id` */
export function ref(text: string): FieldRef {
  const at = text.indexOf(':');
  return { input: text.slice(0, at), path: path(text.slice(at + 1)) };
}

export const field = (text: string): End => ({ kind: 'field', ref: ref(text) });
export const element = (id: string): End => ({ kind: 'element', id });
export const CANVAS: End = { kind: 'canvas' };
export const title = (id: string): End => ({ kind: 'input', id });

export const reads = (text: string): Expression => ({ kind: 'field', ref: ref(text) });
/** Texts with a colon are fields. */
export const template = (...parts: readonly string[]): Expression => ({
  kind: 'template',
  parts: parts.map((part) => (/^\w+:[^/]+$/.test(part) ? ref(part) : part)),
});
export const constant = (value: string): Expression => ({ kind: 'constant', value });

export const input = (id: string, format: Format, name = `${id}.${format}`): Input => ({
  kind: 'input',
  id,
  name,
  location: { kind: 'file', path: name },
  format,
  grouped: true,
  namespaces: {},
  nulls: [],
});

/** @param level of an identifier without fields */
export function entity(id: string, of: string, identifier: Expression, level?: string): Entity {
  const levels = fieldsOf(identifier).map((one) => levelOf(one.path));
  return {
    kind: 'entity',
    id,
    name: id,
    input: of,
    level: level === undefined ? (deepestOf(levels) ?? []) : path(level),
    identifier,
    termType: identifier.kind === 'fresh' ? 'blank' : 'iri',
    classes: [],
    graphs: [],
    parts: [id],
  };
}

export const attribute = (id: string, value: Expression, more: Partial<Attribute> = {}): Attribute => ({
  kind: 'attribute',
  id,
  value,
  termType: 'literal',
  ...more,
});

export const edge = (
  id: string,
  from: string,
  to: string,
  form: Edge['form'] = 'same',
  predicates: readonly string[] = [`urn:${id}`],
): Edge => ({
  kind: 'edge',
  id,
  from,
  to,
  predicates,
  graphs: [],
  part: from,
  form,
});

export const join = (id: string, of: string, ...conditions: readonly (readonly [string, string])[]): Join => ({
  kind: 'join',
  id,
  edge: of,
  conditions: conditions.map(([child, parent]) => ({ child: reads(child), parent: reads(parent) })),
});

export const model = (records: readonly Element[], more: Partial<StudioDocument> = {}): StudioDocument => ({
  records: new Map(records.map((record) => [record.id, record])),
  language: 'rml',
  expert: false,
  text: { text: '', anchors: new Map() },
  ...more,
});

/** `[*].lines` and `[*].customer` end with `[]` and `{}`: a list and an object. */
export const schema = (inputs: Readonly<Record<string, readonly string[]>>): Schema =>
  new Map(
    Object.entries(inputs).map(([id, fields]) => [
      id,
      fieldsByPath(
        fields.map((text): SchemaField => {
          const holds = text.endsWith('[]') ? 'list' : text.endsWith('{}') ? 'object' : 'value';
          return { path: path(text.replace(/\[\]$|\{\}$/, '')), holds };
        }),
      ),
    ]),
  );
