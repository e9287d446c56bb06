/** Files that are dropped anywhere on the page. The browser would leave the page for them. */
import { useEffect, useRef } from 'react';

const hasFiles = ({ dataTransfer }: DragEvent): boolean => dataTransfer?.types.includes('Files') ?? false;

/** Files that are to become inputs of the model that is opened next. */
const waiting: File[] = [];

export const leaveFiles = (files: readonly File[]): void => void waiting.push(...files);
export const takeLeftFiles = (): readonly File[] => waiting.splice(0);

/** @param take what becomes of them */
export function useDroppedFiles(take: (files: readonly File[]) => void): void {
  const latest = useRef(take);
  latest.current = take;
  useEffect(() => {
    const over = (event: DragEvent): void => {
      if (hasFiles(event)) event.preventDefault();
    };
    // Before the editor of the text, which would write their content at the caret.
    const drop = (event: DragEvent): void => {
      if (!hasFiles(event)) return;
      event.preventDefault();
      event.stopPropagation();
      latest.current([...(event.dataTransfer?.files ?? [])]);
    };
    window.addEventListener('dragover', over, true);
    window.addEventListener('drop', drop, true);
    return () => {
      window.removeEventListener('dragover', over, true);
      window.removeEventListener('drop', drop, true);
    };
  }, []);
}
