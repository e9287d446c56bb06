/** The editor: toolbar, and the regions of a model around its canvas. */
import { lazy, type ReactNode, Suspense, useEffect } from 'react';
import Canvas from '../canvas/index.tsx';
import Inspector from '../inspector/index.tsx';
import { ConnectDialog } from '../outline/connect.tsx';
import { Button } from '../parts/button.tsx';
import Preview from '../preview/index.tsx';
import type { Place } from '../store/address.ts';
import { useEditor, useEditorState } from '../store/context.tsx';
import { hasChanges, type Mode } from '../store/editor.ts';
import { useVisit } from '../store/visit.ts';
import { Region, SkipLinks, useRegionKeys } from './regions.tsx';
import { SaveButtons } from './saving.tsx';
import { Side } from './side.tsx';
import { WORDS } from './words.ts';

const Text = lazy(() => import('../text/index.tsx'));

const MODES: readonly Mode[] = ['canvas', 'split', 'text'];

type ModelPlace = Extract<Place, { kind: 'model' }>;

export function EditorPage({ place }: { readonly place: ModelPlace }): ReactNode {
  const mode = useEditorState((state) => state.mode);
  const connecting = useEditorState((state) => state.connecting);
  useRegionKeys();
  useEditorKeys();
  return (
    <div className="editor" data-mode={mode}>
      <SkipLinks regions={['inputs', mode === 'text' ? 'text' : 'canvas', 'inspector', 'preview']} />
      <Toolbar place={place} />
      <Region region="inputs" className="panel side">
        <Side />
      </Region>
      {mode !== 'text' && (
        <Region region="canvas" className="panel" isMain>
          <Canvas />
        </Region>
      )}
      {mode !== 'canvas' && (
        <Region region="text" className="panel" isMain={mode === 'text'}>
          <Suspense fallback={<p className="waiting">{WORDS.loading}</p>}>
            <Text />
          </Suspense>
        </Region>
      )}
      <Region region="inspector" className="panel side">
        <Inspector />
      </Region>
      <Region region="preview" className="panel">
        <Preview />
      </Region>
      <StatusLine />
      {connecting !== undefined && <ConnectDialog from={connecting} />}
    </div>
  );
}

function Toolbar({ place }: { readonly place: ModelPlace }): ReactNode {
  const editor = useEditor();
  const { user } = useVisit();
  const isChanged = useEditorState(hasChanges);
  const undoes = useEditorState(({ session }) => session.done.at(-1)?.label);
  const redoes = useEditorState(({ session }) => session.undone.at(-1)?.label);
  const mode = useEditorState((state) => state.mode);
  return (
    <Region region="toolbar" className="toolbar">
      <a className="button quiet icon-only" href="#/" aria-label={WORDS.home} title={WORDS.home}>
        ⌂
      </a>
      <h1>
        {place.name}
        {isChanged && <span title={WORDS.changed}>*</span>}
      </h1>
      <Button
        kind="quiet"
        icon="undo"
        label={WORDS.undo(undoes)}
        disabled={undoes === undefined && WORDS.nothingToUndo}
        onClick={() => editor.undo()}
      />
      <Button
        kind="quiet"
        icon="redo"
        label={WORDS.redo(redoes)}
        disabled={redoes === undefined && WORDS.nothingToRedo}
        onClick={() => editor.redo()}
      />
      <SaveButtons place={place} />
      <fieldset className="modes">
        <legend className="hidden">{WORDS.view}</legend>
        {MODES.map((one) => (
          <Button key={one} kind="quiet" aria-pressed={one === mode} onClick={() => editor.setMode(one)}>
            {WORDS.modes[one]}
          </Button>
        ))}
      </fieldset>
      <span className="user">{WORDS.user(user.actor, user.role)}</span>
    </Region>
  );
}

function StatusLine(): ReactNode {
  const editor = useEditor();
  const refusal = useEditorState((state) => state.refusal);
  const draft = useEditorState((state) => state.draft);
  const isChanged = useEditorState(hasChanges);
  const call = refusal?.instead;
  return (
    <Region region="status" className="status">
      {refusal !== undefined && (
        <div className="note warning">
          <p>{refusal.sentence}</p>
          {call !== undefined && <Button onClick={() => editor.instead(call)}>{WORDS.insteadOf[call.command]}</Button>}
          <Button kind="quiet" icon="close" label={WORDS.close} onClick={() => editor.closeRefusal()} />
        </div>
      )}
      <span>
        {!isChanged ? WORDS.saved : draft === 'failed' ? WORDS.notKept : draft === undefined ? WORDS.changed : WORDS.kept(timeOf(draft.at))}
      </span>
    </Region>
  );
}

const timeOf = (at: number): string => new Date(at).toLocaleTimeString([], { hour: '2-digit', minute: '2-digit' });

/** Undo and redo, wherever the focus is but in a field that has an undo of its own. */
function useEditorKeys(): void {
  const editor = useEditor();
  useEffect(() => {
    const press = (event: KeyboardEvent): void => {
      if (!(event.ctrlKey || event.metaKey) || event.altKey) return;
      const { target } = event;
      if (target instanceof HTMLElement && target.closest('input, textarea, [contenteditable="true"]') !== null) return;
      const key = event.key.toLowerCase();
      if (key === 'z' && !event.shiftKey) editor.undo();
      else if (key === 'y' || key === 'z') editor.redo();
      else return;
      event.preventDefault();
    };
    window.addEventListener('keydown', press);
    return () => window.removeEventListener('keydown', press);
  }, [editor]);
}
