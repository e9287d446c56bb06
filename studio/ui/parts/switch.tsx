import type { ReactNode } from 'react';

export interface SwitchProps {
  /** For screen readers: what is switched, and of what. */
  readonly name: string;
  /** What stands beside it. */
  readonly label: string;
  readonly on: boolean;
  readonly disabled?: string | undefined;
  readonly onSwitch: (on: boolean) => void;
}

export const Switch = ({ name, label, on, disabled, onSwitch }: SwitchProps): ReactNode => (
  <button
    type="button"
    role="switch"
    className="switch"
    aria-checked={on}
    aria-label={name}
    aria-disabled={disabled === undefined ? undefined : true}
    aria-description={disabled}
    title={disabled}
    onClick={(event) => {
      event.stopPropagation();
      if (disabled === undefined) onSwitch(!on);
    }}
  >
    <span aria-hidden="true">{label}</span>
    <span className="track" aria-hidden="true" />
  </button>
);
