/** What went wrong, and what can be done. */
import type { ReactNode } from 'react';
import type { Trouble } from '../../client/service.ts';

export const TroubleNote = ({ trouble: { sentence, hint } }: { readonly trouble: Trouble }): ReactNode => (
  <p className="trouble" role="alert">
    {sentence}
    {hint !== undefined && ` ${hint}`}
  </p>
);
