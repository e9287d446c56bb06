import { type ComponentProps, type ReactNode, useId } from 'react';
import type { Option } from './fields/options.ts';

export interface FieldProps extends ComponentProps<'input'> {
  readonly label: string;
  readonly hint?: ReactNode;
  /** What is wrong with the value. The value is kept. */
  readonly error?: string | undefined;
  /** The label is there for screen readers alone. */
  readonly labelHidden?: true;
  /** Offered by the browser while one types. */
  readonly options?: readonly Option[];
}

/** One line of text with its label, a hint, and what is wrong with it. */
export function Field({ label, hint, error, labelHidden, options, ...rest }: FieldProps): ReactNode {
  const id = useId();
  return (
    <div className="field">
      <label htmlFor={id} className={labelHidden && 'hidden'}>
        {label}
      </label>
      <input
        type="text"
        autoComplete="off"
        spellCheck={false}
        list={options === undefined ? undefined : `${id}-options`}
        {...rest}
        id={id}
        aria-invalid={error === undefined ? undefined : true}
        aria-describedby={`${id}-hint ${id}-error`}
      />
      {options !== undefined && (
        <datalist id={`${id}-options`}>
          {options.map(({ value, detail }) => (
            <option key={value} value={value} label={detail} />
          ))}
        </datalist>
      )}
      <span className="hint" id={`${id}-hint`}>
        {hint}
      </span>
      <span className="error" id={`${id}-error`} role={error === undefined ? undefined : 'alert'}>
        {error}
      </span>
    </div>
  );
}

export interface ChoiceProps<T extends string> {
  readonly label: string;
  readonly value: T;
  readonly options: readonly (readonly [value: T, name: string])[];
  readonly onChoose: (value: T) => void;
}

export function Choice<T extends string>({ label, value, options, onChoose }: ChoiceProps<T>): ReactNode {
  const id = useId();
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <select id={id} value={value} onChange={(event) => onChoose(event.target.value as T)}>
        {options.map(([one, name]) => (
          <option key={one} value={one}>
            {name}
          </option>
        ))}
      </select>
    </div>
  );
}
