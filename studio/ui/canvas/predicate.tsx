import { type ReactNode, useState } from 'react';
import type { Id } from '../../core/document.ts';
import { nameOf } from '../../core/elements/names.ts';
import { suggest } from '../../core/suggest/suggest.ts';
import { Button } from '../parts/button.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { Field } from '../parts/field.tsx';
import { matchingOf } from '../parts/fields/options.ts';
import { JoinShare } from '../parts/trials/join-share.tsx';
import { useEditor } from '../store/context.tsx';
import { shortIri, writtenIri } from '../store/iris.ts';
import { termsOf, useTermOptions } from '../store/terms.ts';
import { WORDS } from './words.ts';

/** Asks what a new edge means. It may be said later. */
export function PredicatePrompt({ edge, onClose }: { readonly edge: Id; readonly onClose: () => void }): ReactNode {
  const editor = useEditor();
  const [name] = useState(() => nameOf(editor.get().session.document, edge));
  const [written, setWritten] = useState(() => {
    const { session, schema } = editor.get();
    const found = suggest(session.document, { schema, terms: termsOf(session.document) }).find(
      ({ change }) => change.kind === 'predicates' && change.edge === edge,
    );
    return found?.change.kind === 'predicates' ? shortIri(session.document, found.change.predicates[0] ?? '') : '';
  });
  const options = useTermOptions('property');
  const [error, setError] = useState<string | undefined>(undefined);
  const set = (): void => {
    const iri = writtenIri(editor.get().session.document, written);
    const refusal = iri === undefined ? undefined : editor.dispatch('set-predicates', { edge, predicates: [iri] });
    if (iri === undefined) setError(WORDS.wrongPredicate);
    else if (refusal === undefined) onClose();
    else setError(refusal.sentence);
  };
  return (
    <Dialog
      title={WORDS.predicateTitle(name)}
      onClose={onClose}
      onSubmit={set}
      footer={
        <>
          <Button onClick={onClose}>{WORDS.later}</Button>
          <Button kind="primary" submits>
            {WORDS.connectButton}
          </Button>
        </>
      }
    >
      <Field
        label={WORDS.predicate}
        hint={WORDS.predicateHint}
        error={error}
        value={written}
        options={matchingOf(options(), written)}
        onFocus={({ target }) => target.select()}
        onChange={(event) => setWritten(event.target.value)}
      />
      <JoinShare edge={edge} />
    </Dialog>
  );
}
