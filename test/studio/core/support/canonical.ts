/** What a document says, without ids, places, prefixes and the order of its elements: equal for documents that differ in nothing else. */
import type { Attribute, Entity, Expression, Id, StudioDocument } from '../../../../studio/core/document.ts';
import { mapFields } from '../../../../studio/core/elements/expressions.ts';
import { inputOf, joinOf, recordOf, recordsOf } from '../../../../studio/core/elements/records.ts';

export function canonical(document: StudioDocument): readonly string[] {
  const input = (id: Id): string => {
    const { kind: _, id: __, name: ___, ...what } = inputOf(document, id) ?? { kind: '', id: '', name: '' };
    return JSON.stringify(Object.entries(what).sort());
  };
  const value = (expression: Expression): Expression => mapFields(expression, (ref) => ({ ...ref, input: input(ref.input) }));
  const graphs = (ids: readonly Id[]): readonly unknown[] =>
    ids.map((id) => JSON.stringify(value(recordOf(document, 'graph', id)?.name ?? { kind: 'fresh' }))).sort();
  const entity = (one: Entity): readonly unknown[] => [
    'entity',
    input(one.input),
    one.level,
    value(one.identifier),
    one.termType,
    [...one.classes].sort(),
    graphs(one.graphs),
    one.parts,
  ];
  const attribute = (one: Attribute): readonly unknown[] => ['attribute', value(one.value), one.termType, one.datatype, one.language];
  const edges = recordsOf(document, 'edge').map((edge) => {
    const [from, to] = [edge.from, edge.to].map((id) => document.records.get(id)) as [Entity, Entity | Attribute];
    const conditions = joinOf(document, edge.id)?.conditions.map(({ child, parent }) => [value(child), value(parent)]);
    return [
      from.parts,
      edge.part,
      edge.predicates,
      graphs(edge.graphs),
      edge.form,
      conditions,
      to.kind === 'entity' ? to.parts : attribute(to),
    ];
  });
  return [...recordsOf(document, 'entity').map(entity), ...edges].map((one) => JSON.stringify(one)).sort();
}
