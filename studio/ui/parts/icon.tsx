/** Signs as paths on a grid of 16. They are beside words, or the control that they stand in has a name. */
import type { ReactNode } from 'react';

const PATHS = {
  add: 'M8 3v10M3 8h10',
  less: 'M3 8h10',
  close: 'M4 4l8 8M12 4l-8 8',
  more: 'M3.5 8h.01M8 8h.01M12.500 8h.01',
  open: 'M6 4l4 4-4 4',
  search: 'M7 11.500a4.500 4.500 0 1 0 0-9 4.500 4.500 0 0 0 0 9zM10.500 10.500L14 14',
  undo: 'M5.500 3L2.500 6l3 3M3 6h6a4 4 0 0 1 0 8H7',
  redo: 'M10.500 3l3 3-3 3M13 6H7a4 4 0 0 0 0 8h2',
  save: 'M3 3h8l2 2v8H3zM5.500 3v3.500h4V3M5.500 13V9.500h5V13',
  key: 'M10.500 8.500a3 3 0 1 0-3-3M8 8l-5 5M4.500 11.500l1.500 1.500',
  file: 'M4 2h5l3 3v9H4zM9 2v3h3',
  table: 'M2.500 3.500h11v9h-11zM2.500 6.500h11M6.500 3.500v9',
  list: 'M5 3H3v10h2M11 3h2v10h-2',
  object: 'M6 3c-2 0-1 5-3 5 2 0 1 5 3 5M10 3c2 0 1 5 3 5-2 0-1 5-3 5',
  value: 'M8 6.500a1.500 1.500 0 1 0 0 3 1.500 1.500 0 0 0 0-3z',
  entity: 'M3 4h10v8H3z',
  attribute: 'M8 3.500a4.500 4.500 0 1 1 0 9 4.500 4.500 0 0 1 0-9z',
  edge: 'M3 12L13 4M9 4h4v4',
  warning: 'M8 2.500l6 11H2zM8 7v3M8 12h.01',
  download: 'M8 2.500v8M4.500 7.500L8 11l3.500-3.500M3 13.500h10',
  copy: 'M6 5.500h7.500v8H6zM3 10.500h-.500v-8H10V3',
  upload: 'M8 11V3M4.500 6L8 2.500 11.500 6M3 13.500h10',
  run: 'M5 3l8 5-8 5z',
  home: 'M2.500 8L8 3l5.500 5M4.500 7v6.500h7V7',
  moon: 'M13 9.500A5.500 5.500 0 0 1 6.500 3a5.500 5.500 0 1 0 6.500 6.500z',
} as const;

export type IconName = keyof typeof PATHS;

export const Icon = ({ name }: { readonly name: IconName }): ReactNode => (
  <svg className="icon" viewBox="0 0 16 16" aria-hidden="true">
    <path d={PATHS[name]} />
  </svg>
);
