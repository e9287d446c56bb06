/** Escape closes what was opened last, wherever the focus is. Dialogs and menus, and fields with a list, do so themselves. */
import { useEffect, useRef } from 'react';

const open: (() => void)[] = [];

function press(event: KeyboardEvent): void {
  const close = open.at(-1);
  if (event.key !== 'Escape' || event.defaultPrevented || close === undefined || document.querySelector('dialog[open]') !== null) return;
  event.preventDefault();
  close();
}

/** @param isOpen whether there is anything to close */
export function useEscape(isOpen: boolean, close: () => void): void {
  const latest = useRef(close);
  latest.current = close;
  useEffect(() => {
    if (!isOpen) return;
    const entry = (): void => latest.current();
    if (open.length === 0) window.addEventListener('keydown', press);
    open.push(entry);
    return () => {
      open.splice(open.indexOf(entry), 1);
      if (open.length === 0) window.removeEventListener('keydown', press);
    };
  }, [isOpen]);
}
