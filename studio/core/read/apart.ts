/** Triples maps of one subject that a person has shown as several entities: reading a text finds them so again. */
import type { Element, Entity } from '../document.ts';

/** Names of triples maps, those of each entity together. */
export type Apart = readonly (readonly string[])[];

/** Of entities that a text would make one of. */
export function apartIn(elements: Iterable<Element>): Apart {
  const alike = new Map<string, Entity[]>();
  for (const element of elements) {
    if (element.kind !== 'entity' || element.identifier.kind === 'fresh') continue;
    const { input, level, termType, identifier } = element;
    const key = JSON.stringify([input, level, termType, identifier]);
    alike.set(key, [...(alike.get(key) ?? []), element]);
  }
  return [...alike.values()].flatMap((entities) => (entities.length > 1 ? entities.map(({ parts }) => parts) : []));
}
