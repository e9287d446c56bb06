/** What is stated of a collection. `end` is the text from the object to the line feed: graph and point. */
import type { Collection } from '../../../plan/algebra.ts';
import { type MadeCollection, NIL, RDF } from '../../../terms/collections.ts';

export const firstOf = (node: string, member: string, end: string): string => `${node} <${RDF}first> ${member}${end}`;
export const restOf = (node: string, next: string, end: string): string => `${node} <${RDF}rest> ${next}${end}`;
export const memberOf = (head: string, number: number, member: string, end: string): string => `${head} <${RDF}_${number}> ${member}${end}`;

const CLASSES: Readonly<Record<Collection['as'], string>> = { list: 'List', bag: 'Bag', seq: 'Seq', alt: 'Alt' };

export const typeOf = (head: string, as: Collection['as'], end: string): string => `${head} <${RDF}type> <${RDF}${CLASSES[as]}>${end}`;

/** The lines of a collection whose head no other row has. The further nodes of a list have the label of its head, `m` and a number. */
export function* statementsOf({ collection: { as }, head, items }: MadeCollection, end: string): Generator<string> {
  let number = 0;
  if (as !== 'list') {
    yield typeOf(head, as, end);
    for (const item of items) yield memberOf(head, ++number, item, end);
    return;
  }
  let node = head;
  for (const item of items) {
    if (number > 0) {
      const next = `${head}m${number}`;
      yield restOf(node, next, end);
      node = next;
    }
    number++;
    yield firstOf(node, item, end);
  }
  yield restOf(node, NIL, end);
}
