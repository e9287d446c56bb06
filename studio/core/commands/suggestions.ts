/** Accepting and rejecting suggestions. */
import type { Suggestion } from '../suggest/suggestion.ts';
import { always, type Command } from './command.ts';
import { setPredicates } from './edges/edges.ts';
import { addJoinCondition } from './edges/joins.ts';
import { setDatatype, setLanguage } from './elements/attributes.ts';
import { addClass, setIdentifier } from './elements/entities.ts';
import { allOf, type Call, call } from './together.ts';

/** Makes the changes of suggestions, all or none. */
export const acceptSuggestion: Command<{ readonly suggestions: readonly Suggestion[] }> = {
  name: 'accept-suggestion',
  label: (_, { suggestions }) => (suggestions.length === 1 ? 'Accept a suggestion' : `Accept ${suggestions.length} suggestions`),
  role: 'operator',
  enabled: always,
  perform: (document, { suggestions }) =>
    allOf(
      document,
      suggestions.map((one) => accepting(one)),
    ),
  said: () => 'Accepted',
  recorded: true,
};

function accepting({ change }: Suggestion): Call {
  switch (change.kind) {
    case 'predicates':
      return call(setPredicates, change);
    case 'datatype':
      return call(setDatatype, { id: change.attribute, datatype: change.datatype });
    case 'language':
      return call(setLanguage, { id: change.attribute, language: change.language });
    case 'identifier':
      return call(setIdentifier, { id: change.entity, identifier: change.identifier });
    case 'class':
      return call(addClass, { id: change.entity, classes: [change.class] });
    case 'condition':
      return call(addJoinCondition, change);
  }
}

/** Suggestions that are not made again. */
export const rejectSuggestion: Command<{ readonly keys: readonly string[] }> = {
  name: 'reject-suggestion',
  label: (_, { keys }) => (keys.length === 1 ? 'Reject a suggestion' : `Reject ${keys.length} suggestions`),
  role: 'operator',
  enabled: always,
  perform(document, { keys }) {
    const rejected = [...new Set([...(document.rejected ?? []), ...keys])];
    return rejected.length === (document.rejected?.length ?? 0) ? document : { ...document, rejected };
  },
  said: () => 'Rejected',
  recorded: true,
};
