import type { ReactNode } from 'react';
import type { Edge, Entity, Id, TermType } from '../../core/document.ts';
import { expressionText, sameExpression } from '../../core/elements/expressions.ts';
import { localName, nameOf } from '../../core/elements/names.ts';
import { jsonPathText, xPathText } from '../../core/elements/path-text.ts';
import { edgesFrom, edgesTo, inputOf, recordOf, recordsOf } from '../../core/elements/records.ts';
import { isFlat } from '../../core/levels.ts';
import { Button } from '../parts/button.tsx';
import { Combo } from '../parts/fields/combo.tsx';
import { useAccess } from './access.ts';
import { Graphs } from './graphs.tsx';
import { Fact, IriList, LockedChoice, Section } from './section.tsx';
import { Example, TemplateField, useFieldNames } from './value.tsx';
import { WORDS } from './words.ts';

const TYPES = (['iri', 'uri', 'unsafe-iri', 'unsafe-uri', 'blank'] as const).map((one) => [one, WORDS.termTypes[one]] as const);

export function EntityView({ entity }: { readonly entity: Entity }): ReactNode {
  const { editor, document, readOnly, locked, tell } = useAccess();
  const { id, identifier, classes } = entity;
  const input = inputOf(document, entity.input);
  const isRow = input !== undefined && isFlat(input.format);
  const level = input?.format === 'xml' ? xPathText(entity.level) : jsonPathText(entity.level);
  return (
    <>
      <Combo label={WORDS.name} value={entity.name} readOnly={readOnly} onCommit={(name) => tell('rename', { id, name })} />
      <Fact label={WORDS.from} value={isRow ? input.name : WORDS.fromLevel(input?.name ?? entity.input, level)} />
      <Identifier entity={entity} />
      {identifier.kind !== 'fresh' && (
        <LockedChoice<TermType>
          label={WORDS.termType}
          value={entity.termType}
          options={TYPES}
          onChoose={(termType) => tell('set-term-type', { id, termType })}
        />
      )}
      <IriList
        title={WORDS.classes}
        addLabel={WORDS.addClass}
        kind="class"
        iris={classes}
        onAdd={(iri) => tell('add-class', { id, classes: [iri] })}
        onRemove={(iri) => tell('remove-class', { id, class: iri })}
      />
      <Lines title={WORDS.attributes} edges={edgesFrom(document, id).filter(({ to }) => recordOf(document, 'attribute', to))} />
      <Lines title={WORDS.edges} edges={edgesFrom(document, id).filter(({ to }) => recordOf(document, 'entity', to))} />
      <Button disabled={locked} onClick={() => editor.connectFrom({ kind: 'element', id })}>
        {WORDS.connect}
      </Button>
      {edgesTo(document, id).length > 0 && <Lines title={WORDS.incoming} edges={edgesTo(document, id)} isIncoming />}
      <Graphs ids={[id]} graphs={entity.graphs} />
      <Parts entity={entity} />
      <KeptAsText of={id} />
    </>
  );
}

function Identifier({ entity: { id, input, identifier, termType } }: { readonly entity: Entity }): ReactNode {
  const { tell } = useAccess();
  const names = useFieldNames(input);
  const kind = identifier.kind === 'fresh' ? 'fresh' : 'template';
  const turn = (wanted: 'template' | 'fresh'): void => {
    if (wanted === kind) return;
    const ref = names.refOf(names.names[0] ?? '');
    if (wanted === 'fresh') tell('set-identifier', { id, identifier: { kind: 'fresh' } });
    else if (ref !== undefined) tell('set-identifier', { id, identifier: { kind: 'template', parts: ['https://example.org/', ref] } });
  };
  return (
    <Section title={WORDS.identifier}>
      <LockedChoice
        label={WORDS.identifiedBy}
        value={kind}
        options={[
          ['template', WORDS.identifiers.template],
          ['fresh', WORDS.identifiers.fresh],
        ]}
        onChoose={turn}
      />
      {identifier.kind === 'call' || identifier.kind === 'written' ? (
        <Fact label={WORDS.identifier} value={expressionText(identifier)} />
      ) : (
        identifier.kind !== 'fresh' && (
          <TemplateField
            label={WORDS.template}
            value={identifier}
            input={input}
            onChange={(next) => tell('set-identifier', { id, identifier: next })}
          />
        )
      )}
      <Example value={identifier} termType={termType} />
    </Section>
  );
}

/** Edges, each with a button that selects it and one that removes it. */
function Lines({
  title,
  edges,
  isIncoming,
}: {
  readonly title: string;
  readonly edges: readonly Edge[];
  readonly isIncoming?: true;
}): ReactNode {
  const { editor, document, locked, tell } = useAccess();
  const edgeText = ({ predicates, from, to }: Edge): string =>
    isIncoming
      ? WORDS.line(nameOf(document, from), predicates.map(localName).join(', ') || WORDS.noPredicate)
      : WORDS.line(predicates.map(localName).join(', ') || WORDS.noPredicate, nameOf(document, to));
  // An attribute is removed with the edge that leads to it.
  const goneWith = ({ id, to }: Edge): Id => (recordOf(document, 'attribute', to) && edgesTo(document, to).length === 1 ? to : id);
  return (
    <Section title={title}>
      {edges.length === 0 && <p className="muted">{WORDS.none}</p>}
      <ul className="lines">
        {edges.map((edge) => (
          <li key={edge.id}>
            <Button kind="quiet" className="grow" title={edgeText(edge)} onClick={() => editor.select({ elements: [edge.id], fields: [] })}>
              {edgeText(edge)}
            </Button>
            {locked === undefined && (
              <Button
                kind="quiet"
                icon="close"
                label={WORDS.removeOne(edgeText(edge))}
                onClick={() => tell('remove', { ids: [goneWith(edge)] })}
              />
            )}
          </li>
        ))}
      </ul>
    </Section>
  );
}

/** The triples maps that the text has for it, where there are several; and entities that stand for the same objects. */
function Parts({ entity: { id, name, parts, identifier } }: { readonly entity: Entity }): ReactNode {
  const { document, locked, tell } = useAccess();
  const same = recordsOf(document, 'entity').filter((one) => one.id !== id && sameExpression(one.identifier, identifier));
  if (parts.length === 1 && (same.length === 0 || identifier.kind === 'fresh')) return null;
  return (
    <Section title={WORDS.parts}>
      {parts.length > 1 && (
        <ul className="lines">
          {parts.map((part) => (
            <li key={part}>
              <span className="grow">{part}</span>
              <Button disabled={locked} label={WORDS.splitOne(part)} onClick={() => tell('split-part', { id, part })}>
                {WORDS.split}
              </Button>
            </li>
          ))}
        </ul>
      )}
      {identifier.kind !== 'fresh' &&
        same.map((other) => (
          <Button key={other.id} disabled={locked} onClick={() => tell('merge-parts', { ids: [id, other.id] })}>
            {WORDS.merge(name, other.name)}
          </Button>
        ))}
    </Section>
  );
}

/** What the canvas does not draw of an element, and why. */
export function KeptAsText({ of }: { readonly of: Id }): ReactNode {
  const { editor, document } = useAccess();
  const parts = recordsOf(document, 'text').filter((part) => part.of === of);
  if (parts.length === 0) return null;
  return (
    <Section title={WORDS.keptAsText}>
      {parts.map(({ id, reason }) => (
        <p key={id}>{reason}</p>
      ))}
      <Button onClick={() => editor.setMode('split')}>{WORDS.showText}</Button>
    </Section>
  );
}
