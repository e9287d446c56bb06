/** What the page knows besides a model: the user, the service, and the drafts of this browser. */
import { createContext, useContext } from 'react';
import type { QuadmillClient } from '../../../client/client.ts';
import type { StudioUser } from '../../../client/types.ts';
import type { Drafts } from '../../client/drafts.ts';

export interface Visit {
  readonly user: StudioUser;
  readonly service: QuadmillClient;
  /** undefined: the browser keeps none. */
  readonly drafts: Drafts | undefined;
  readonly signOut: () => void;
}

export const VisitContext = createContext<Visit | undefined>(undefined);

/** @throws Error — no view above has signed in */
export function useVisit(): Visit {
  const visit = useContext(VisitContext);
  if (visit === undefined) throw new Error('this view needs a visit above it');
  return visit;
}
