/** What names and samples speak for: predicates in the rows of blocks until they are accepted, and the button that accepts everything. */
import { type ReactNode, useEffect, useState } from 'react';
import type { Id, StudioDocument } from '../../core/document.ts';
import { recordsOf } from '../../core/elements/records.ts';
import { suggest } from '../../core/suggest/suggest.ts';
import type { Suggestion } from '../../core/suggest/suggestion.ts';
import { Button } from '../parts/button.tsx';
import { useDocument, useEditor, useEditorState } from '../store/context.tsx';
import { briefIri } from '../store/iris.ts';
import { makeStore, useStore } from '../store/store.ts';
import { termsOf, useTerms } from '../store/terms.ts';
import { WORDS } from './words.ts';

/** By edge. A row looks at its own alone. */
const PREDICATES = makeStore<ReadonlyMap<Id, string>>(new Map());

/** @returns undefined: nothing speaks for one, or it was rejected */
export const useSuggestedPredicate = (edge: Id): string | undefined => useStore(PREDICATES, (all) => all.get(edge));

const SUGGEST_AFTER_MS = 150;

export function Suggestions(): ReactNode {
  const editor = useEditor();
  const document = useDocument();
  const schema = useEditorState((state) => state.schema);
  const isReadOnly = useEditorState((state) => state.role === 'viewer');
  const terms = useTerms();
  const [suggestions, setSuggestions] = useState<readonly Suggestion[]>([]);
  // They can wait for what is being drawn.
  useEffect(() => {
    const timer = setTimeout(() => {
      const found = isReadOnly ? [] : suggest(document, { schema, terms });
      setSuggestions(found);
      PREDICATES.set(predicatesIn(document, found));
    }, SUGGEST_AFTER_MS);
    return () => clearTimeout(timer);
  }, [document, schema, terms, isReadOnly]);
  useEffect(() => () => PREDICATES.set(new Map()), []);
  // Those of what is drawn now: something may have changed since they were counted.
  const accept = (): void => {
    const { session, schema: known } = editor.get();
    const found = suggest(session.document, { schema: known, terms: termsOf(session.document) });
    if (found.length > 0) editor.dispatch('accept-suggestion', { suggestions: found });
  };
  if (suggestions.length === 0 || recordsOf(document, 'entity').length === 0) return null;
  return (
    <Button title={suggestions.map(({ reason }) => reason).join('\n')} onClick={accept}>
      {WORDS.accept(suggestions.length)}
    </Button>
  );
}

const predicatesIn = (document: StudioDocument, suggestions: readonly Suggestion[]): ReadonlyMap<Id, string> =>
  new Map(
    suggestions.flatMap(({ change }) =>
      change.kind === 'predicates' ? [[change.edge, change.predicates.map((iri) => briefIri(document, iri)).join(', ')] as const] : [],
    ),
  );
