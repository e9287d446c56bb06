/** What a person may want next, by rules over names and samples: nothing is asked of a server, and nothing is guessed without a reason. */
import type { StudioDocument } from '../document.ts';
import { iriBase } from '../elements/iris.ts';
import { nameOf } from '../elements/names.ts';
import { recordOf } from '../elements/records.ts';
import type { Schema } from '../elements/schema.ts';
import { conditions, identifiers } from './joins.ts';
import type { Change, Suggestion } from './suggestion.ts';
import { classes, predicates, type Term } from './terms.ts';
import { datatypes, languages } from './values.ts';

export interface Known {
  readonly schema: Schema;
  /** Terms of vocabularies that are loaded. */
  readonly terms: readonly Term[];
}

/** Suggestions for a document, without those that were rejected. */
export function suggest(document: StudioDocument, { schema, terms }: Known): readonly Suggestion[] {
  const base = iriBase(document.base);
  const rejected = new Set(document.rejected);
  const found = [
    ...identifiers(document, schema, base),
    ...conditions(document, schema),
    ...classes(document, terms, base),
    ...predicates(document, terms, base),
    ...datatypes(document, schema),
    ...languages(document, schema),
  ];
  return found.map((one): Suggestion => ({ ...one, key: keyOf(document, one.change) })).filter(({ key }) => !rejected.has(key));
}

function keyOf(document: StudioDocument, change: Change): string {
  switch (change.kind) {
    case 'predicates':
      return keyed(document, change.kind, change.edge, change.predicates);
    case 'condition':
      return keyed(document, change.kind, change.edge, [change.child, change.parent]);
    case 'datatype':
      return keyed(document, change.kind, change.attribute, change.datatype);
    case 'language':
      return keyed(document, change.kind, change.attribute, change.language);
    case 'identifier':
      return keyed(document, change.kind, change.entity, change.identifier);
    case 'class':
      return keyed(document, change.kind, change.entity, change.class);
  }
}

/** Names in place of ids: ids are new when a text is read again. */
function keyed(document: StudioDocument, kind: Change['kind'], id: string, value: unknown): string {
  const edge = recordOf(document, 'edge', id);
  const named = edge === undefined ? [nameOf(document, id)] : [nameOf(document, edge.from), nameOf(document, edge.to)];
  const text = JSON.stringify(value, (key, one: unknown) => (key === 'input' && typeof one === 'string' ? nameOf(document, one) : one));
  return [kind, ...named, text].join(' ');
}
