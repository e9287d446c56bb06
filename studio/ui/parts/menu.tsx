import { type KeyboardEvent, type ReactNode, useEffect, useLayoutEffect, useRef } from 'react';

export interface MenuItem {
  readonly label: string;
  readonly keys?: string;
  /** Why it cannot be chosen now. */
  readonly disabled?: string | undefined;
  readonly onChoose: () => void;
}

export interface MenuProps {
  readonly label: string;
  readonly items: readonly MenuItem[];
  /** Where it opens, in the window: its upper left corner, moved where it would not fit. */
  readonly at: { readonly x: number; readonly y: number };
  readonly onClose: () => void;
}

/** A menu that is open as long as it is rendered. Arrows and first letters move, Esc and a click elsewhere close it. */
export function Menu({ label, items, at, onClose }: MenuProps): ReactNode {
  const ref = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const menu = ref.current;
    if (menu === null) return;
    // In the top layer no panel covers it.
    menu.showPopover();
    const { width, height } = menu.getBoundingClientRect();
    menu.style.left = `${Math.max(4, Math.min(at.x, window.innerWidth - width - 4))}px`;
    menu.style.top = `${Math.max(4, Math.min(at.y, window.innerHeight - height - 4))}px`;
  }, [at.x, at.y]);
  useEffect(() => {
    const before = document.activeElement;
    const menu = ref.current;
    menu?.querySelector<HTMLElement>('[role=menuitem]')?.focus();
    const leave = (event: PointerEvent): void => {
      if (!(event.target instanceof Node && menu?.contains(event.target))) onClose();
    };
    // The focus may be elsewhere: what was dragged, or the window, has it.
    const press = (event: globalThis.KeyboardEvent): void => {
      if (event.key !== 'Escape' || menu?.contains(document.activeElement)) return;
      event.preventDefault();
      event.stopPropagation();
      onClose();
    };
    window.addEventListener('pointerdown', leave, true);
    window.addEventListener('keydown', press, true);
    return () => {
      window.removeEventListener('pointerdown', leave, true);
      window.removeEventListener('keydown', press, true);
      if (before instanceof HTMLElement && (document.activeElement === document.body || menu?.contains(document.activeElement)))
        before.focus();
    };
  }, [onClose]);
  const move = (event: KeyboardEvent): void => {
    const all = [...(ref.current?.querySelectorAll<HTMLElement>('[role=menuitem]') ?? [])];
    const now = all.indexOf(document.activeElement as HTMLElement);
    const next = targetOf(event.key, now, all);
    if (event.key === 'Escape' || event.key === 'Tab') onClose();
    else if (next !== undefined) all[next]?.focus();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <div ref={ref} popover="manual" className="menu" role="menu" aria-label={label} tabIndex={-1} onKeyDown={move}>
      {items.map(({ label: name, keys, disabled, onChoose }) => (
        <button
          key={name}
          type="button"
          role="menuitem"
          tabIndex={-1}
          aria-disabled={disabled === undefined ? undefined : true}
          onClick={() => {
            if (disabled !== undefined) return;
            onClose();
            onChoose();
          }}
        >
          <span>
            {name}
            {disabled !== undefined && <span className="reason">{disabled}</span>}
          </span>
          {keys !== undefined && <kbd>{keys}</kbd>}
        </button>
      ))}
    </div>
  );
}

function targetOf(key: string, now: number, all: readonly HTMLElement[]): number | undefined {
  const last = all.length - 1;
  if (key === 'ArrowDown') return now === last ? 0 : now + 1;
  if (key === 'ArrowUp') return now <= 0 ? last : now - 1;
  if (key === 'Home') return 0;
  if (key === 'End') return last;
  if (key.length !== 1 || key === ' ') return undefined;
  const order = all.map((_, i) => (now + 1 + i) % all.length);
  return order.find((i) => all[i]?.textContent?.toLowerCase().startsWith(key.toLowerCase()));
}
