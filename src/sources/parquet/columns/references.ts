/**
 * References of rows → columns. A reference is the name of a column, or a JSONPath that begins with one: `address.city`, `tags[*]`,
 * `$['unit price']`.
 */
import { Fault, type FaultPlace } from '../../../core/fault.ts';
import { nearest, withoutBrackets } from '../../../core/nearest.ts';
import { fromBytes, toBytes } from '../../../core/text.ts';
import type { Query, Segment } from '../../../paths/json/model.ts';
import type { LeafNode, Schema, SchemaNode } from './schema.ts';

/** What a reference finds: the one value of a leaf, or what a path finds in a nested column. */
export type Target =
  | { readonly kind: 'value'; readonly leaf: LeafNode }
  | { readonly kind: 'path'; readonly column: string; readonly node: SchemaNode; readonly query: Query };

export const nameOf = (segment: Segment | undefined): string | undefined => {
  const [selector] = segment?.selectors ?? [];
  return segment?.descendant === false && segment.selectors.length === 1 && selector?.kind === 'name' ? selector.name : undefined;
};

/** @throws Fault mapping/reference — no column has that name; those of `parse` */
export function targetOf(reference: string, { columns }: Schema, place: FaultPlace, parse: (text: string) => Query): Target {
  const whole = columns.get(toBytes(reference));
  if (whole !== undefined) return found(toBytes(reference), whole, []);
  // What is neither a name nor a path is a name that no column has.
  const { segments } = /[.[\]$]/.test(reference) ? parse(reference) : { segments: [] };
  const name = nameOf(segments[0]);
  const node = name === undefined ? undefined : columns.get(name);
  if (name === undefined || node === undefined) throw noColumn(name === undefined ? reference : fromBytes(name), columns, place, segments);
  return found(name, node, segments.slice(1));
}

/** Members of structs are columns of the file themselves, so they are read without the others. */
function found(column: string, root: SchemaNode, rest: readonly Segment[]): Target {
  let node: SchemaNode | undefined = root;
  for (const segment of rest) {
    const name = nameOf(segment);
    if (node?.kind !== 'struct' || name === undefined) {
      node = undefined;
      break;
    }
    node = node.members.get(name);
  }
  if (node?.kind === 'leaf') return { kind: 'value', leaf: node };
  return { kind: 'path', column, node: root, query: { absolute: true, segments: rest } };
}

function noColumn(name: string, columns: ReadonlyMap<string, SchemaNode>, place: FaultPlace, segments: readonly Segment[]): Fault {
  const names = [...columns.keys()].map(fromBytes);
  const near = nearest(name, names).map((one) => JSON.stringify(one));
  const shown = names.slice(0, 30).map((one) => JSON.stringify(one));
  const list = `The columns are ${shown.join(', ')}${names.length > shown.length ? ` and ${names.length - shown.length} more` : ''}`;
  if (segments.length > 0 && nameOf(segments[0]) === undefined)
    return new Fault('mapping/reference', `${JSON.stringify(name)} does not begin with the name of a column`, { place, hint: list });
  return new Fault('mapping/reference', `There is no column ${JSON.stringify(name)}`, {
    place,
    hint: withoutBrackets(name, names) ?? (near.length > 0 ? `Did you mean ${near.join(' or ')}?` : list),
  });
}
