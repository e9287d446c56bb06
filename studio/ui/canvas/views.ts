/** What is shown of the inputs on the canvas: it is no part of the model. */
import { createContext, useContext } from 'react';
import type { Id } from '../../core/document.ts';

export interface Views {
  showAll(input: Id, all: boolean): void;
  /** @param key of a level */
  open(key: string, open: boolean): void;
}

export const ViewsContext = createContext<Views>({ showAll: () => undefined, open: () => undefined });

export const useViews = (): Views => useContext(ViewsContext);
