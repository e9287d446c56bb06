/** Removing elements, with what has no meaning without them. */
import type { Element, Id, StudioDocument } from '../../document.ts';
import { nameOf } from '../../elements/names.ts';
import { edgesTo, recordsOf, withRecords } from '../../elements/records.ts';
import { isRefusal, type Refusal, refuse } from '../../rules/verdict.ts';
import { type Command, removedIn, selected } from '../command.ts';
import { removeInput } from '../elements/inputs.ts';

const REMOVABLE = ['input', 'entity', 'attribute', 'edge', 'graph', 'prefix'] as const;

/**
 * Removes elements: with them their edges, the joins of those, and attributes that only removed entities had. An input is removed only if
 * nothing reads it. What is kept as text stays.
 */
export const remove: Command<{ readonly ids: readonly Id[] }> = {
  name: 'remove',
  label: (document, { ids }) => `Remove ${ids.map((id) => nameOf(document, id)).join(', ')}`,
  keys: 'Delete',
  role: 'operator',
  enabled: selected('Select what is to be removed first.', REMOVABLE),
  perform(document, { ids }) {
    const wrong = ids.map((id) => refusedAlone(document, id)).find((refusal) => refusal !== undefined);
    if (wrong !== undefined) return wrong;
    const isInput = (id: Id): boolean => document.records.get(id)?.kind === 'input';
    let next = without(document, closure(document, new Set(ids.filter((id) => !isInput(id)))));
    for (const id of ids.filter(isInput)) {
      const removed = removeInput.perform(next, { id });
      if (isRefusal(removed)) return removed;
      next = removed;
    }
    return next;
  },
  said(before, after) {
    const names = removedIn(before, after).filter(({ kind }) => kind !== 'place' && kind !== 'join');
    return names.length === 0 ? 'Nothing changed' : `Removed ${names.map(({ id }) => nameOf(before, id)).join(', ')}`;
  },
  recorded: true,
};

function refusedAlone({ records }: StudioDocument, id: Id): Refusal | undefined {
  const record = records.get(id);
  if (record === undefined) return refuse('I1', 'This element is not in the model any more.', []);
  if (record.kind === 'text') return refuse('I1', 'This part is kept as text. Remove it there.', []);
  const isOne = REMOVABLE.some((kind) => kind === record.kind);
  return isOne ? undefined : refuse('I1', 'Joins and places are removed with what they belong to.', []);
}

/** The elements with their edges, and the attributes that are left alone. */
function closure(document: StudioDocument, ids: ReadonlySet<Id>): ReadonlySet<Id> {
  const gone = new Set(ids);
  let size: number;
  do {
    size = gone.size;
    for (const edge of recordsOf(document, 'edge')) {
      if (!gone.has(edge.id) && (gone.has(edge.from) || gone.has(edge.to))) gone.add(edge.id);
      if (!gone.has(edge.from) || gone.has(edge.to) || document.records.get(edge.to)?.kind !== 'attribute') continue;
      if (edgesTo(document, edge.to).every(({ from }) => gone.has(from))) gone.add(edge.to);
    }
  } while (gone.size > size);
  return gone;
}

function without(document: StudioDocument, gone: ReadonlySet<Id>): StudioDocument {
  const all = new Set(gone);
  const changed: Element[] = [];
  for (const record of document.records.values()) {
    if ((record.kind === 'join' && gone.has(record.edge)) || (record.kind === 'place' && gone.has(record.of))) all.add(record.id);
    else if (gone.has(record.id)) continue;
    else if (record.kind === 'text' && record.of !== undefined && gone.has(record.of)) changed.push({ ...record, of: undefined });
    else if ((record.kind === 'entity' || record.kind === 'edge') && record.graphs.some((graph) => gone.has(graph))) {
      changed.push({ ...record, graphs: record.graphs.filter((graph) => !gone.has(graph)) });
    }
  }
  return withRecords(document, changed, all);
}
