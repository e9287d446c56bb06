/** The tabs beside the canvas: inputs, the outline, and ontologies. */
import { type KeyboardEvent, type ReactNode, useState } from 'react';
import InputsTab from '../inputs/index.tsx';
import OntologyTab from '../ontology/index.tsx';
import OutlineTab from '../outline/index.tsx';
import { WORDS } from './words.ts';

const TABS = ['inputs', 'outline', 'ontology'] as const;
const VIEWS = { inputs: InputsTab, outline: OutlineTab, ontology: OntologyTab } as const;

export function Side(): ReactNode {
  const [tab, setTab] = useState<(typeof TABS)[number]>('inputs');
  const move = ({ key, currentTarget }: KeyboardEvent<HTMLElement>): void => {
    if (key !== 'ArrowLeft' && key !== 'ArrowRight') return;
    const step = key === 'ArrowRight' ? 1 : TABS.length - 1;
    const next = TABS[(TABS.indexOf(tab) + step) % TABS.length] ?? tab;
    setTab(next);
    currentTarget.parentElement?.querySelector<HTMLElement>(`#tab-${next}`)?.focus();
  };
  const View = VIEWS[tab];
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
        <View />
      </div>
    </div>
  );
}
