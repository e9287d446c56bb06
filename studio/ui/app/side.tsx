/** The tabs beside the canvas: inputs, and the outline. */
import { type KeyboardEvent, type ReactNode, useState } from 'react';
import InputsTab from '../inputs/index.tsx';
import OutlineTab from '../outline/index.tsx';
import { WORDS } from './words.ts';

const TABS = ['inputs', 'outline'] as const;

export function Side(): ReactNode {
  const [tab, setTab] = useState<(typeof TABS)[number]>('inputs');
  const move = ({ key, currentTarget }: KeyboardEvent<HTMLElement>): void => {
    if (key !== 'ArrowLeft' && key !== 'ArrowRight') return;
    const next = TABS[(TABS.indexOf(tab) + 1) % TABS.length] ?? tab;
    setTab(next);
    currentTarget.parentElement?.querySelector<HTMLElement>(`#tab-${next}`)?.focus();
  };
  return (
    <div className="tabbed">
      <div className="tabs" role="tablist" aria-label={WORDS.regions.inputs}>
        {TABS.map((one) => (
          <button
            key={one}
            id={`tab-${one}`}
            type="button"
            role="tab"
            aria-selected={one === tab}
            aria-controls="side-panel"
            tabIndex={one === tab ? 0 : -1}
            onClick={() => setTab(one)}
            onKeyDown={move}
          >
            {WORDS.tabs[one]}
          </button>
        ))}
      </div>
      <div id="side-panel" role="tabpanel" aria-labelledby={`tab-${tab}`}>
        {tab === 'inputs' ? <InputsTab /> : <OutlineTab />}
      </div>
    </div>
  );
}
