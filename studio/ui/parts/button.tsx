import type { ComponentProps, ReactNode } from 'react';
import { Icon, type IconName } from './icon.tsx';

export interface ButtonProps extends Omit<ComponentProps<'button'>, 'disabled' | 'type'> {
  readonly kind?: 'plain' | 'primary' | 'quiet' | 'danger';
  readonly icon?: IconName;
  /** Why it cannot be used now: it can still be reached, and says so. */
  readonly disabled?: string | false | undefined;
  /** The name of a button with an icon alone. */
  readonly label?: string;
  readonly submits?: true;
}

/** Disabled buttons stay reachable by keyboard, so that everyone finds the reason. */
export function Button({ kind = 'plain', icon, disabled, label, submits, children, onClick, className, ...rest }: ButtonProps): ReactNode {
  const reason = disabled === false || disabled === undefined ? undefined : disabled;
  const only = children === undefined ? ' icon-only' : '';
  return (
    <button
      type={submits ? 'submit' : 'button'}
      {...rest}
      className={`button ${kind}${only}${className === undefined ? '' : ` ${className}`}`}
      aria-label={label ?? rest['aria-label']}
      aria-disabled={reason === undefined ? undefined : true}
      aria-description={reason}
      title={reason ?? rest.title ?? label}
      onClick={(event) => {
        if (reason === undefined) onClick?.(event);
        else event.preventDefault();
      }}
    >
      {icon !== undefined && <Icon name={icon} />}
      {children}
    </button>
  );
}
