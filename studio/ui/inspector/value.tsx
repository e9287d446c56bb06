/** An expression as fields: what it is made of, and what it gives for a sample. */
import { type ReactNode, useMemo } from 'react';
import type { Expression, Id, TermType } from '../../core/document.ts';
import { exampleOf } from '../../core/elements/example.ts';
import { expressionText, fieldsOf } from '../../core/elements/expressions.ts';
import { type FieldNames, fieldNames, readTemplate, templateText, type WrittenFault } from '../../core/elements/written.ts';
import { Combo } from '../parts/fields/combo.tsx';
import type { Option } from '../parts/fields/options.ts';
import { useAccess } from './access.ts';
import { Fact, LockedChoice } from './section.tsx';
import { WORDS } from './words.ts';

export interface ValueProps {
  readonly value: Expression;
  /** Whose fields it may read; undefined: there is none. */
  readonly input: Id | undefined;
  /** @returns why it is refused */
  readonly onChange: (value: Expression) => string | undefined;
}

/** Names of the fields of an input, as they are written and completed. */
export function useFieldNames(input: Id | undefined): FieldNames & { readonly options: readonly Option[] } {
  const { document, schema } = useAccess();
  return useMemo(() => {
    const names = fieldNames(document, schema, input ?? '');
    return { ...names, options: names.names.map((value) => ({ value })) };
  }, [document, schema, input]);
}

const sentenceOf = (fault: WrittenFault, { input }: FieldNames): string =>
  'unknown' in fault ? WORDS.noField(fault.unknown, input?.name ?? WORDS.noInput) : WORDS.braces;

/** A field by its name. */
export function FieldChoice({
  label,
  value,
  input,
  onChange,
}: {
  readonly label: string;
  readonly value: Expression | undefined;
  readonly input: Id | undefined;
  readonly onChange: (value: Expression) => string | undefined;
}): ReactNode {
  const { readOnly } = useAccess();
  const names = useFieldNames(input);
  const commit = (text: string): string | undefined => {
    const ref = names.refOf(text);
    return ref === undefined ? sentenceOf({ unknown: text.trim() }, names) : onChange({ kind: 'field', ref });
  };
  const shown = value === undefined ? '' : value.kind === 'field' ? names.nameOf(value.ref) : expressionText(value);
  return <Combo label={label} value={shown} options={names.options} readOnly={readOnly} onCommit={commit} />;
}

/** A template with fields in braces. */
export function TemplateField({
  label,
  value,
  input,
  hint,
  onChange,
}: ValueProps & { readonly label: string; readonly hint?: ReactNode }): ReactNode {
  const { readOnly } = useAccess();
  const names = useFieldNames(input);
  const commit = (text: string): string | undefined => {
    const read = readTemplate(text, names);
    return 'kind' in read ? onChange(read) : sentenceOf(read, names);
  };
  const parts = value.kind === 'template' ? value.parts : value.kind === 'field' ? [value.ref] : [expressionText(value)];
  return (
    <Combo
      label={label}
      value={templateText(parts, names)}
      hint={hint ?? WORDS.templateHint}
      options={names.options}
      braces
      readOnly={readOnly}
      onCommit={commit}
    />
  );
}

/** `= https://example.org/order/1001`. */
export function Example({ value, termType }: { readonly value: Expression; readonly termType: TermType }): ReactNode {
  const { schema } = useAccess();
  const text = exampleOf(schema, value, termType);
  // What a function gives stands below it.
  if (text === undefined && (fieldsOf(value).length === 0 || value.kind === 'call')) return null;
  return <output className="live">{text === undefined ? WORDS.noExample : WORDS.example(text)}</output>;
}

const SIMPLE = ['field', 'template', 'constant'] as const;

/** The value of an attribute: a field, a template or a constant. */
export function ValueFields({ value, input, onChange }: ValueProps): ReactNode {
  const { readOnly } = useAccess();
  const names = useFieldNames(input);
  const kinds = SIMPLE.some((kind) => kind === value.kind) ? SIMPLE : [...SIMPLE, value.kind];
  const turn = (kind: Expression['kind']): void => {
    const [first] = fieldsOf(value);
    const ref = first ?? names.refOf(names.names[0] ?? '');
    if (kind === 'constant') onChange({ kind, value: expressionText(value) });
    else if (ref === undefined) return;
    else if (kind === 'field') onChange({ kind, ref });
    else if (kind === 'template') onChange({ kind, parts: value.kind === 'constant' ? [value.value, ref] : [ref] });
  };
  return (
    <>
      <LockedChoice
        label={WORDS.valueKind}
        value={value.kind}
        options={kinds.map((kind) => [kind, WORDS.valueKinds[kind]] as const)}
        onChoose={turn}
      />
      {value.kind === 'field' && <FieldChoice label={WORDS.field} value={value} input={input} onChange={onChange} />}
      {value.kind === 'template' && <TemplateField label={WORDS.template} value={value} input={input} onChange={onChange} />}
      {value.kind === 'constant' && (
        <Combo
          label={WORDS.constant}
          value={value.value}
          readOnly={readOnly}
          onCommit={(text) => onChange({ kind: 'constant', value: text })}
        />
      )}
      {value.kind === 'written' && <Fact label={WORDS.value} value={value.text} />}
    </>
  );
}
