/** A field of one line whose value is committed: Enter or leaving it commits, Esc gives up. A value that is refused is kept, with the reason. */
import { type ChangeEvent, type FocusEvent, type KeyboardEvent, type ReactNode, useId, useRef, useState } from 'react';
import { matching, type Option } from './options.ts';

export interface ComboProps {
  readonly label: string;
  readonly labelHidden?: true;
  readonly value: string;
  readonly hint?: ReactNode;
  readonly placeholder?: string;
  readonly readOnly?: boolean;
  /** Offered while one types. None: a plain field. */
  readonly options?: readonly Option[] | (() => readonly Option[]);
  /** Options complete a name behind `{`, and the field goes on. */
  readonly braces?: true;
  /** For adding: empty again after each value, and not committed by leaving it. */
  readonly clears?: true;
  /** @returns why the value is refused */
  readonly onCommit: (value: string) => string | undefined;
}

/** @see https://www.w3.org/WAI/ARIA/apg/patterns/combobox/ */
export function Combo({
  label,
  labelHidden,
  value,
  hint,
  placeholder,
  readOnly,
  options,
  braces,
  clears,
  onCommit,
}: ComboProps): ReactNode {
  const id = useId();
  const input = useRef<HTMLInputElement>(null);
  const [typed, setTyped] = useState<string | undefined>(undefined);
  const [error, setError] = useState<string | undefined>(undefined);
  const [caret, setCaret] = useState(0);
  const [isOpen, setOpen] = useState(false);
  const [active, setActive] = useState(-1);
  const text = typed ?? value;
  const wanted = braces ? nameAt(text, caret) : typed;
  const found =
    isOpen && !readOnly && options !== undefined && (!braces || wanted !== undefined)
      ? matching(typeof options === 'function' ? options() : options, wanted ?? '')
      : [];
  const isShown = found.length > 0;
  const chosen = found[active];

  const close = (): void => {
    setOpen(false);
    setActive(-1);
  };
  const commit = (wish: string): void => {
    close();
    const refused = wish === value && error === undefined ? undefined : onCommit(wish);
    setError(refused);
    setTyped(refused === undefined ? undefined : wish);
  };
  const choose = (option: Option): void => {
    if (!braces) {
      commit(option.value);
      return;
    }
    const from = caret - (wanted ?? '').length;
    const behind = text.slice(caret).replace(/^[^{}]*\}/, '');
    const before = `${text.slice(0, from)}${option.value}}`;
    setTyped(before + behind);
    setCaret(before.length);
    close();
    requestAnimationFrame(() => input.current?.setSelectionRange(before.length, before.length));
  };
  const change = ({ target }: ChangeEvent<HTMLInputElement>): void => {
    setTyped(target.value);
    setCaret(target.selectionStart ?? target.value.length);
    setOpen(true);
    setActive(-1);
  };
  const press = (event: KeyboardEvent<HTMLInputElement>): void => {
    const { key } = event;
    if (key === 'Enter') {
      if (chosen !== undefined) choose(chosen);
      else commit(text);
    } else if (key === 'Escape' && (isShown || typed !== undefined)) {
      if (isShown) close();
      else {
        setTyped(undefined);
        setError(undefined);
      }
    } else if ((key === 'ArrowDown' || key === 'ArrowUp') && options !== undefined) {
      setCaret(event.currentTarget.selectionStart ?? text.length);
      setOpen(true);
      if (isShown) setActive((now) => (now + (key === 'ArrowDown' ? 1 : -1) + found.length) % found.length);
      else setActive(0);
    } else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const leave = ({ currentTarget }: FocusEvent<HTMLInputElement>): void => {
    close();
    if (!clears && typed !== undefined && typed !== value && currentTarget.ownerDocument.hasFocus()) commit(typed);
  };
  const list = options === undefined ? {} : comboProps(id, isShown, chosen === undefined ? undefined : active);
  return (
    <div className="field combo">
      <label htmlFor={id} className={labelHidden && 'hidden'}>
        {label}
      </label>
      <input
        ref={input}
        id={id}
        type="text"
        autoComplete="off"
        spellCheck={false}
        value={text}
        placeholder={placeholder}
        readOnly={readOnly}
        aria-invalid={error === undefined ? undefined : true}
        aria-describedby={`${id}-hint ${id}-error`}
        {...list}
        onChange={change}
        onKeyDown={press}
        onBlur={leave}
      />
      {isShown && (
        <div className="options" id={`${id}-list`} role="listbox" aria-label={label}>
          {found.map((option, i) => (
            // biome-ignore lint/a11y/useKeyWithClickEvents: keys go to the field above
            <div
              key={option.value}
              id={`${id}-${i}`}
              role="option"
              tabIndex={-1}
              aria-selected={i === active}
              // The focus stays in the field.
              onMouseDown={(event) => event.preventDefault()}
              onClick={() => choose(option)}
            >
              <span>{option.value}</span>
              {option.detail !== undefined && <span className="muted">{option.detail}</span>}
            </div>
          ))}
        </div>
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

const comboProps = (id: string, isShown: boolean, active: number | undefined) =>
  ({
    role: 'combobox',
    'aria-autocomplete': 'list',
    'aria-expanded': isShown,
    'aria-controls': isShown ? `${id}-list` : undefined,
    'aria-activedescendant': active === undefined ? undefined : `${id}-${active}`,
  }) as const;

/** The name between `{` and the caret; undefined: the caret is in no braces. */
const nameAt = (text: string, caret: number): string | undefined => /\{([^{}]*)$/.exec(text.slice(0, caret))?.[1];
