import type { ReactNode } from 'react';
import { ANNOUNCEMENTS, type Urgency } from '../store/announcements.ts';
import { useStore } from '../store/store.ts';

/** What is said to screen readers. Both regions are there from the beginning, since readers do not notice new ones. */
export const Live = (): ReactNode => (
  <>
    <Said urgency="polite" />
    <Said urgency="assertive" />
  </>
);

function Said({ urgency }: { readonly urgency: Urgency }): ReactNode {
  const { text, number } = useStore(ANNOUNCEMENTS[urgency], (state) => state);
  return (
    <div className="hidden" role={urgency === 'polite' ? 'status' : 'alert'} aria-live={urgency}>
      <span key={number}>{text}</span>
    </div>
  );
}
