/** The tabs beside the canvas: inputs, the outline, and ontologies. */
import { type KeyboardEvent, type ReactNode, useEffect, useState } from 'react';
import InputsTab from '../inputs/index.tsx';
import { useUploads } from '../inputs/uploads.tsx';
import OntologyTab from '../ontology/index.tsx';
import OutlineTab from '../outline/index.tsx';
import { announce } from '../store/announcements.ts';
import { useEditor } from '../store/context.tsx';
import { takeLeftFiles, useDroppedFiles } from '../store/page/dropped-files.ts';
import { WORDS } from './words.ts';

const TABS = ['inputs', 'outline', 'ontology'] as const;

export function Side(): ReactNode {
  const [tab, setTab] = useState<(typeof TABS)[number]>('inputs');
  const editor = useEditor();
  // Uploads go on while another tab is shown.
  const uploads = useUploads();
  const take = (files: readonly File[]): void => {
    if (files.length === 0) return;
    if (editor.get().role === 'viewer') announce(WORDS.dropNeeds, 'assertive');
    else {
      setTab('inputs');
      uploads.add(files);
    }
  };
  useDroppedFiles(take);
  // biome-ignore lint/correctness/useExhaustiveDependencies: those that came with the model, once
  useEffect(() => take(takeLeftFiles()), []);
  const move = ({ key, currentTarget }: KeyboardEvent<HTMLElement>): void => {
    if (key !== 'ArrowLeft' && key !== 'ArrowRight') return;
    const step = key === 'ArrowRight' ? 1 : TABS.length - 1;
    const next = TABS[(TABS.indexOf(tab) + step) % TABS.length] ?? tab;
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
        {tab === 'inputs' ? <InputsTab uploads={uploads} /> : tab === 'outline' ? <OutlineTab /> : <OntologyTab />}
      </div>
    </div>
  );
}
