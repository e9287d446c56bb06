/** The terms of all ontologies that are found by their names, and how they are used. */
import { type ReactNode, useMemo, useState } from 'react';
import { localName, nameOf } from '../../core/elements/names.ts';
import { recordOf } from '../../core/elements/records.ts';
import { findTerms } from '../../core/suggest/find.ts';
import { Button } from '../parts/button.tsx';
import { Empty } from '../parts/empty.tsx';
import { useDocument, useEditor, useEditorState } from '../store/context.tsx';
import { shortIrisOf } from '../store/iris.ts';
import type { LoadedTerm } from '../store/page/ontologies.ts';
import { WORDS } from './words.ts';

/** More are found by typing. */
const MOST_SHOWN = 50;

export function Terms({ terms }: { readonly terms: readonly LoadedTerm[] }): ReactNode {
  const document = useDocument();
  const isReadOnly = useEditorState(({ role }) => role === 'viewer');
  const [find, setFind] = useState('');
  const found = useMemo(() => findTerms(terms, find), [terms, find]);
  const short = useMemo(() => shortIrisOf(document), [document]);
  const shown = found.slice(0, MOST_SHOWN);
  return (
    <>
      <div className="panel-bar">
        <input
          type="search"
          className="entry"
          aria-label={WORDS.find}
          placeholder={WORDS.find}
          value={find}
          onChange={({ target }) => setFind(target.value)}
        />
      </div>
      <p className="muted pad" role="status">
        {WORDS.found(shown.length, found.length)}
      </p>
      {!isReadOnly && <p className="muted pad">{WORDS.useHint}</p>}
      {shown.length === 0 ? (
        <Empty title={WORDS.noneFound(find)} />
      ) : (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so it must be reachable by keyboard
        <section className="found" aria-label={WORDS.terms} tabIndex={0}>
          <ul>
            {shown.map((term) => (
              <TermRow key={term.iri} term={term} short={short} />
            ))}
          </ul>
        </section>
      )}
    </>
  );
}

function TermRow({ term, short }: { readonly term: LoadedTerm; readonly short: (iri: string) => string }): ReactNode {
  const { iri, labels = [], said } = term;
  const name = short(iri);
  const facts = [
    said.domain.length > 0 && WORDS.domain(said.domain.map(localName).join(', ')),
    said.range.length > 0 && WORDS.range(said.range.map(localName).join(', ')),
    said.subClassOf.length > 0 && WORDS.subClassOf(said.subClassOf.map(localName).join(', ')),
  ].filter((fact) => fact !== false);
  return (
    <li>
      <p className="term">
        <strong title={labels.join(', ')}>{labels[0] ?? localName(iri)}</strong>
        <span className="kind">{WORDS.kinds[said.kind]}</span>
        <UseButton term={term} name={name} />
      </p>
      <p className="iri" title={iri}>
        {name}
      </p>
      {facts.length > 0 && <p className="muted">{facts.join(' · ')}</p>}
      {said.comment !== undefined && <p>{said.comment.text}</p>}
    </li>
  );
}

/** Gives a class to the entity that is selected, a predicate to the edge; nothing where neither is. */
function UseButton({ term: { iri, kind }, name }: { readonly term: LoadedTerm; readonly name: string }): ReactNode {
  const editor = useEditor();
  const document = useDocument();
  const [id, ...others] = useEditorState(({ selection }) => selection.elements);
  const isReadOnly = useEditorState(({ role }) => role === 'viewer');
  if (id === undefined || others.length > 0 || isReadOnly) return null;
  const entity = recordOf(document, 'entity', id);
  const edge = recordOf(document, 'edge', id);
  if (kind === 'class' && entity !== undefined && !entity.classes.includes(iri)) {
    const use = (): void => void editor.dispatch('add-class', { id, classes: [iri] });
    return (
      <Button aria-label={WORDS.asClass(name, entity.name)} onClick={use}>
        {WORDS.use}
      </Button>
    );
  }
  if (kind === 'property' && edge !== undefined && !edge.predicates.includes(iri)) {
    const use = (): void => void editor.dispatch('set-predicates', { edge: id, predicates: [...edge.predicates, iri] });
    return (
      <Button aria-label={WORDS.asPredicate(name, nameOf(document, id))} onClick={use}>
        {WORDS.use}
      </Button>
    );
  }
  return null;
}
