import type { ReactNode } from 'react';

/** What a region says when there is nothing to show, and what can be done. */
export const Empty = ({
  title,
  children,
  actions,
}: {
  readonly title: string;
  readonly children?: ReactNode;
  readonly actions?: ReactNode;
}): ReactNode => (
  <div className="empty">
    <h3>{title}</h3>
    {children !== undefined && <p>{children}</p>}
    {actions}
  </div>
);
