/** What sections are made of: headings, plain facts, and lists of things that can be removed. */
import { type ReactNode, useId } from 'react';
import { Button } from '../parts/button.tsx';
import { Choice, type ChoiceProps, Field } from '../parts/field.tsx';
import { Combo } from '../parts/fields/combo.tsx';
import type { Option } from '../parts/fields/options.ts';
import { shortIri, writtenIri } from '../store/iris.ts';
import { useTermOptions } from '../store/terms.ts';
import { useAccess } from './access.ts';
import { WORDS } from './words.ts';

export function Section({ title, children }: { readonly title: string; readonly children: ReactNode }): ReactNode {
  const id = useId();
  return (
    <section className="section" aria-labelledby={id}>
      <h3 id={id}>{title}</h3>
      {children}
    </section>
  );
}

/** A value that is not changed here; it can be copied. */
export const Fact = ({ label, value }: { readonly label: string; readonly value: string }): ReactNode => (
  <Field label={label} value={value} readOnly />
);

/** A choice, or for those who may not choose what is chosen. */
export function LockedChoice<T extends string>(props: ChoiceProps<T>): ReactNode {
  const { readOnly } = useAccess();
  const chosen = props.options.find(([value]) => value === props.value)?.[1] ?? props.value;
  return readOnly ? <Fact label={props.label} value={chosen} /> : <Choice {...props} />;
}

export interface Chip {
  readonly key: string;
  readonly text: string;
  readonly onRemove: () => void;
}

/** Things with a button each that removes them, and what there is without them. */
export function Chips({ chips, none }: { readonly chips: readonly Chip[]; readonly none?: string }): ReactNode {
  const { locked } = useAccess();
  if (chips.length === 0) return none === undefined ? null : <p className="muted">{none}</p>;
  return (
    <ul className="chips">
      {chips.map(({ key, text, onRemove }) => (
        <li key={key}>
          <span title={key}>{text}</span>
          {locked === undefined && <Button kind="quiet" icon="close" label={WORDS.removeOne(text)} onClick={onRemove} />}
        </li>
      ))}
    </ul>
  );
}

export interface IriListProps {
  readonly title: string;
  readonly addLabel: string;
  readonly kind: 'class' | 'property';
  readonly iris: readonly string[];
  readonly onAdd: (iri: string) => string | undefined;
  readonly onRemove: (iri: string) => void;
}

/** Classes or predicates, which are added by a name, a short IRI or a whole one. */
export function IriList({ title, addLabel, kind, iris, onAdd, onRemove }: IriListProps): ReactNode {
  const { document, readOnly } = useAccess();
  const terms = useTermOptions(kind);
  const options = (): readonly Option[] => terms().filter(({ iri }) => !iris.includes(iri));
  const add = (written: string): string | undefined => {
    const iri = writtenIri(document, written);
    return iri === undefined ? WORDS.wrongIri(written.trim()) : onAdd(iri);
  };
  return (
    <Section title={title}>
      <Chips none={WORDS.none} chips={iris.map((iri) => ({ key: iri, text: shortIri(document, iri), onRemove: () => onRemove(iri) }))} />
      {!readOnly && <Combo label={addLabel} hint={WORDS.iriHint} value="" clears options={options} onCommit={add} />}
    </Section>
  );
}
