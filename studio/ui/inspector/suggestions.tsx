/** What names and samples speak for, at the elements that are shown. */
import { type ReactNode, useMemo } from 'react';
import type { Id, StudioDocument } from '../../core/document.ts';
import { expressionText } from '../../core/elements/expressions.ts';
import { suggest } from '../../core/suggest/suggest.ts';
import type { Change } from '../../core/suggest/suggestion.ts';
import { Button } from '../parts/button.tsx';
import { shortIri } from '../store/iris.ts';
import { useTerms } from '../store/terms.ts';
import { useAccess } from './access.ts';
import { Section } from './section.tsx';
import { WORDS } from './words.ts';

export function Suggestions({ of }: { readonly of: readonly Id[] }): ReactNode {
  const { document, schema, readOnly, tell } = useAccess();
  const terms = useTerms();
  const all = useMemo(() => (readOnly ? [] : suggest(document, { schema, terms })), [document, schema, terms, readOnly]);
  const shown = all.filter((one) => of.includes(one.of));
  if (shown.length === 0) return null;
  return (
    <Section title={WORDS.suggestions}>
      <ul className="suggestions">
        {shown.map((one) => {
          const text = changeText(document, one.change);
          return (
            <li key={one.key}>
              <p>
                <strong>{text}</strong> <em className="muted">{WORDS.suggested}</em>
              </p>
              <p className="muted">{one.reason}</p>
              <div className="buttons">
                <Button aria-label={WORDS.acceptOf(text)} onClick={() => tell('accept-suggestion', { suggestions: [one] })}>
                  {WORDS.accept}
                </Button>
                <Button kind="quiet" aria-label={WORDS.rejectOf(text)} onClick={() => tell('reject-suggestion', { keys: [one.key] })}>
                  {WORDS.reject}
                </Button>
              </div>
            </li>
          );
        })}
      </ul>
      {shown.length > 1 && (
        <Button kind="primary" onClick={() => tell('accept-suggestion', { suggestions: shown })}>
          {WORDS.acceptAll(shown.length)}
        </Button>
      )}
    </Section>
  );
}

function changeText(document: StudioDocument, change: Change): string {
  const words = WORDS.changes;
  switch (change.kind) {
    case 'predicates':
      return words.predicates(change.predicates.map((iri) => shortIri(document, iri)).join(', '));
    case 'datatype':
      return words.datatype(shortIri(document, change.datatype));
    case 'language':
      return words.language(change.language);
    case 'identifier':
      return words.identifier(expressionText(change.identifier));
    case 'class':
      return words.class(shortIri(document, change.class));
    case 'condition':
      return words.condition(WORDS.condition(expressionText(change.child), expressionText(change.parent)));
  }
}
