/** Names: of elements as the user sees them, of new entities, and new ids. */
import { classWords, localNameOf, UniqueNames } from '../../../src/infer/names.ts';
import type { Element, Id, Input, Path, StudioDocument } from '../document.ts';
import { expressionText } from './expressions.ts';
import { nameBehind, spokenName } from './path-text.ts';
import { recordsOf } from './records.ts';

/** What the user sees as the name of an element. */
export function nameOf(document: StudioDocument, id: Id): string {
  const record = document.records.get(id);
  return record === undefined ? id : nameOfRecord(document, record);
}

function nameOfRecord(document: StudioDocument, record: Element): string {
  switch (record.kind) {
    case 'input':
    case 'entity':
    case 'prefix':
      return record.name;
    case 'attribute':
      return expressionText(record.value);
    case 'graph':
      return expressionText(record.name);
    case 'edge':
      return record.predicates.map(localName).join(', ') || `${nameOf(document, record.from)} → ${nameOf(document, record.to)}`;
    case 'join':
      return nameOf(document, record.edge);
    case 'text':
      return 'text';
    case 'place':
      return nameOf(document, record.of);
  }
}

/** The end of an IRI behind its last `/` or `#`; of `urn:isbn`, behind the last colon. */
export const localName = (iri: string): string => /[^/#:]*$/.exec(iri.replace(/[/#:]+$/, ''))?.[0] || iri;

/** The words of what a level holds one of: `order` of `orders.json`, `line` of its `lines`. */
export function levelWords(input: Input, level: Path): readonly string[] {
  const named = level.findLast((step) => 'name' in step || 'attribute' in step);
  const name = named && nameBehind([named], 0);
  return classWords(name === undefined ? input.name.replace(/\.[^.]*$/, '') : spokenName(name));
}

/** Names for new entities, which no other has. */
export const entityNames = (document: StudioDocument): UniqueNames => namesBeside(recordsOf(document, 'entity').map(({ name }) => name));

/** Names for new triples maps, which no part of an entity has. */
export function partNames(document: StudioDocument): UniqueNames {
  const parts = recordsOf(document, 'entity').flatMap((entity) => entity.parts);
  return namesBeside([...parts, ...recordsOf(document, 'edge').map(({ part }) => part)]);
}

function namesBeside(taken: readonly string[]): UniqueNames {
  const names = new UniqueNames();
  for (const name of new Set(taken)) names.of(name);
  return names;
}

/** What a triples map may be called that is made of something of this name. */
export const partNameOf = (name: string): string => localNameOf(name) || 'Part';

/** The next id that no record has: `entity-3`. */
export function freshId(records: ReadonlyMap<Id, Element>, kind: Element['kind']): Id {
  let number = records.size + 1;
  while (records.has(`${kind}-${number}`)) number++;
  return `${kind}-${number}`;
}

/** The id of the place of a block: it has one place, whichever command makes it. */
export const placeId = (of: Id): Id => `place-of-${of}`;
