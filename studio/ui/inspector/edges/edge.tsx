import type { ReactNode } from 'react';
import type { Edge, Id } from '../../../core/document.ts';
import { nameOf } from '../../../core/elements/names.ts';
import { warningOf } from '../../../core/rules/link.ts';
import { Button } from '../../parts/button.tsx';
import { useAccess } from '../access.ts';
import { KeptAsText } from '../entity.tsx';
import { Graphs } from '../graphs.tsx';
import { Fact, IriList } from '../section.tsx';
import { WORDS } from '../words.ts';
import { Conditions } from './conditions.tsx';

/** What an edge says, whatever it leads to, and the rule that it breaks. */
export function Predicates({ edge }: { readonly edge: Edge }): ReactNode {
  const { document, tell } = useAccess();
  const { id, predicates } = edge;
  const warning = warningOf(document, edge);
  return (
    <>
      {warning !== undefined && <p className="warning">{`⚠ ${warning}`}</p>}
      <IriList
        title={WORDS.predicates}
        addLabel={WORDS.addPredicate}
        kind="property"
        iris={predicates}
        onAdd={(iri) => tell('set-predicates', { edge: id, predicates: [...predicates, iri] })}
        onRemove={(iri) => tell('set-predicates', { edge: id, predicates: predicates.filter((one) => one !== iri) })}
      />
    </>
  );
}

export function EdgeView({ edge }: { readonly edge: Edge }): ReactNode {
  const { editor, document, locked, tell } = useAccess();
  const end = (label: string, id: Id): ReactNode => (
    <div className="end">
      <span className="muted">{label}</span>
      <Button kind="quiet" onClick={() => editor.select({ elements: [id], fields: [] })}>
        {nameOf(document, id)}
      </Button>
    </div>
  );
  return (
    <>
      <Predicates edge={edge} />
      {end(WORDS.from, edge.from)}
      {end(WORDS.to, edge.to)}
      <Fact label={WORDS.form} value={WORDS.forms[edge.form]} />
      <Button disabled={locked} onClick={() => tell('reverse', { edge: edge.id })}>
        {WORDS.reverse}
      </Button>
      {edge.form === 'join' && <Conditions edge={edge} />}
      <Graphs ids={[edge.id]} graphs={edge.graphs} />
      <KeptAsText of={edge.id} />
    </>
  );
}
