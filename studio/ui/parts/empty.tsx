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
    <h2 className="empty-title">{title}</h2>
    {children !== undefined && <p>{children}</p>}
    {actions}
  </div>
);
