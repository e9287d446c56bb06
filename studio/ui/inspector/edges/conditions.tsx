import { type ReactNode, useState } from 'react';
import type { Edge, Expression, Id, JoinCondition } from '../../../core/document.ts';
import { expressionText } from '../../../core/elements/expressions.ts';
import { nameOf } from '../../../core/elements/names.ts';
import { inputRead, joinOf, recordOf } from '../../../core/elements/records.ts';
import { Button } from '../../parts/button.tsx';
import { JoinShare } from '../../parts/trials/join-share.tsx';
import { useAccess } from '../access.ts';
import { Chips, Section } from '../section.tsx';
import { FieldChoice } from '../value.tsx';
import { WORDS } from '../words.ts';

/** The pairs of fields that match. */
export function Conditions({ edge }: { readonly edge: Edge }): ReactNode {
  const { document, readOnly, tell } = useAccess();
  const [draft, setDraft] = useState<Partial<JoinCondition>>({});
  const [error, setError] = useState<string | undefined>(undefined);
  const conditions = joinOf(document, edge.id)?.conditions ?? [];
  const add = (): void => {
    const { child, parent } = draft;
    const refused =
      child === undefined || parent === undefined ? WORDS.bothFields : tell('add-join-condition', { edge: edge.id, child, parent });
    setError(refused);
    if (refused === undefined) setDraft({});
  };
  const side = (name: keyof JoinCondition, id: Id): ReactNode => {
    const record = recordOf(document, 'entity', id) ?? recordOf(document, 'attribute', id);
    const input = record && inputRead(record);
    const choose = (value: Expression): undefined => setDraft((before) => ({ ...before, [name]: value })) as undefined;
    return (
      <FieldChoice
        label={WORDS.child(input === undefined ? WORDS.noInput : nameOf(document, input))}
        value={draft[name]}
        input={input}
        onChange={choose}
      />
    );
  };
  return (
    <Section title={WORDS.conditions}>
      <Chips
        none={WORDS.noCondition}
        chips={conditions.map(({ child, parent }, index) => ({
          key: `${index}`,
          text: WORDS.condition(expressionText(child), expressionText(parent)),
          onRemove: () => tell('remove-join-condition', { edge: edge.id, index }),
        }))}
      />
      <JoinShare edge={edge.id} />
      {!readOnly && (
        <>
          {side('child', edge.from)}
          {side('parent', edge.to)}
          {error !== undefined && (
            <p className="trouble" role="alert">
              {error}
            </p>
          )}
          <Button onClick={add}>{WORDS.addCondition}</Button>
        </>
      )}
    </Section>
  );
}
