/** The editor: toolbar, and the regions of a model around its canvas. */
import { lazy, type ReactNode, Suspense, useCallback, useEffect, useMemo, useState } from 'react';
import { flushSync } from 'react-dom';
import Inspector from '../inspector/index.tsx';
import { Rename } from '../outline/rename.tsx';
import type { Action } from '../palette/index.tsx';
import { Button } from '../parts/button.tsx';
import { Icon } from '../parts/icon.tsx';
import Preview from '../preview/index.tsx';
import { RunButton } from '../run/index.tsx';
import { goTo, type ModelAddress } from '../store/address.ts';
import { useEditor, useEditorState } from '../store/context.tsx';
import { type Editor, hasChanges, type Mode } from '../store/editor.ts';
import { useEscape } from '../store/page/escape.ts';
import { chooseScheme, nextScheme, SCHEME, SCHEMES } from '../store/page/scheme.ts';
import { useStore } from '../store/store.ts';
import { useVisit } from '../store/visit.ts';
import { focusRegionNamed, Region, SkipLinks, useRegionKeys } from './regions.tsx';
import { SaveButtons } from './saving.tsx';
import { Side } from './side.tsx';
import { WORDS } from './words.ts';

const Canvas = lazy(() => import('../canvas/index.tsx'));
const Text = lazy(() => import('../text/index.tsx'));
const Guide = lazy(() => import('../guide/index.tsx'));

type Dialogs = typeof import('../outline/connect.tsx') & typeof import('../palette/index.tsx');
let dialogsLoaded: Dialogs | undefined;

/**
 * Dialogs that are no part of the first scripts; undefined: they are on their way. They are loaded before they are opened, and then shown in
 * the frame of the key that opens them: what `lazy` loads comes frames later, and keys in between would go elsewhere.
 *
 * @param wanted whether one is open: what could not be loaded is tried again
 */
function useDialogs(wanted: boolean): Dialogs | undefined {
  const [dialogs, setDialogs] = useState(dialogsLoaded);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a dialog that is opened tries again
  useEffect(() => {
    if (dialogs !== undefined) return;
    const loading = Promise.all([import('../outline/connect.tsx'), import('../palette/index.tsx')]);
    loading.then(
      ([connect, palette]) => {
        dialogsLoaded = { ...connect, ...palette };
        setDialogs(dialogsLoaded);
      },
      // The service is away; the page says so.
      () => undefined,
    );
  }, [dialogs, wanted]);
  return dialogs;
}

const MODES: readonly Mode[] = ['canvas', 'split', 'text'];

export function EditorPage({ address }: { readonly address: ModelAddress }): ReactNode {
  const mode = useEditorState((state) => state.mode);
  const from = useEditorState((state) => state.connecting);
  const renaming = useEditorState((state) => state.renaming);
  useRegionKeys();
  const editor = useEditor();
  const [shown, setShown] = useState<'palette' | 'keys' | undefined>(undefined);
  const [isDrawerOpen, setDrawerOpen] = useState(false);
  useEscape(isDrawerOpen, () => {
    leaveDrawer();
    setDrawerOpen(false);
  });
  const actions = useMemo(() => actionsOf(editor, () => setShown('keys')), [editor]);
  const close = useCallback(() => setShown(undefined), []);
  useEditorKeys(setShown);
  const dialogs = useDialogs(shown !== undefined || from !== undefined);
  return (
    <div className="editor" data-mode={mode} data-drawer={isDrawerOpen ? 'open' : 'closed'}>
      <SkipLinks
        regions={['inputs', mode === 'text' ? 'text' : 'canvas', 'inspector', 'preview']}
        // It may be a drawer that is closed.
        show={(region) => region === 'inspector' && flushSync(() => setDrawerOpen(true))}
      />
      <Toolbar
        address={address}
        find={() => setShown('palette')}
        isDrawerOpen={isDrawerOpen}
        toggleDrawer={() => setDrawerOpen(!isDrawerOpen)}
      />
      <Region region="inputs" className="panel side">
        <Side />
      </Region>
      {mode !== 'text' && (
        <Region region="canvas" className="panel" isMain>
          <Suspense fallback={<p className="waiting">{WORDS.loading}</p>}>
            <Canvas />
          </Suspense>
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
      <Suspense fallback={null}>
        <Guide />
      </Suspense>
      {dialogs !== undefined && shown === 'palette' && <dialogs.Palette actions={actions} onClose={close} />}
      {dialogs !== undefined && shown === 'keys' && <dialogs.KeyList onClose={close} />}
      {dialogs !== undefined && from !== undefined && <dialogs.ConnectDialog from={from} />}
      {renaming !== undefined && <Rename id={renaming} onClose={() => editor.rename(undefined)} />}
    </div>
  );
}

/** The inspector, where it is a drawer: the focus goes back to the button that opens it, from within it. */
function leaveDrawer(): void {
  const button = document.querySelector<HTMLElement>('.drawer-button');
  const drawer = document.querySelector('#region-inspector');
  if (button !== null && button.getClientRects().length > 0 && drawer?.contains(document.activeElement)) button.focus();
}

interface ToolbarProps {
  readonly address: ModelAddress;
  readonly find: () => void;
  /** The inspector, where the page is narrow. */
  readonly isDrawerOpen: boolean;
  readonly toggleDrawer: () => void;
}

function Toolbar({ address, find, isDrawerOpen, toggleDrawer }: ToolbarProps): ReactNode {
  const editor = useEditor();
  const { user } = useVisit();
  const isChanged = useEditorState(hasChanges);
  const undoes = useEditorState(({ session, typed }) => (typed === undefined ? session.done.at(-1)?.label : WORDS.typing));
  const redoes = useEditorState(({ session }) => session.undone.at(-1)?.label);
  const mode = useEditorState((state) => state.mode);
  const scheme = useStore(SCHEME, (state) => state);
  return (
    <Region region="toolbar" className="toolbar">
      <a className="button quiet icon-only" href="#/" aria-label={WORDS.home} title={WORDS.home}>
        <Icon name="home" />
      </a>
      <h1>
        {address.name}
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
      <SaveButtons address={address} />
      <fieldset className="modes">
        <legend className="hidden">{WORDS.view}</legend>
        {MODES.map((one) => (
          <Button key={one} kind="quiet" aria-pressed={one === mode} onClick={() => editor.setMode(one)}>
            {WORDS.modes[one]}
          </Button>
        ))}
      </fieldset>
      <Button kind="quiet" icon="search" className="finder" onClick={find}>
        {WORDS.find} <kbd>Ctrl+K</kbd>
      </Button>
      <RunButton />
      <Button kind="quiet" className="drawer-button" aria-expanded={isDrawerOpen} aria-controls="region-inspector" onClick={toggleDrawer}>
        {WORDS.regions.inspector}
      </Button>
      <span className="user">{WORDS.user(user.actor, user.role)}</span>
      <Button kind="quiet" icon="moon" label={WORDS.schemes[scheme]} onClick={() => chooseScheme(nextScheme(scheme))} />
    </Region>
  );
}

function StatusLine(): ReactNode {
  const editor = useEditor();
  const refusal = useEditorState((state) => state.refusal);
  const draft = useEditorState((state) => state.draft);
  const isChanged = useEditorState(hasChanges);
  const error = useEditorState(({ typed }) => typed?.error);
  useEscape(refusal !== undefined, () => editor.closeRefusal());
  const call = refusal?.instead;
  return (
    <Region region="status" className="status">
      {error !== undefined && (
        <div className="note warning" role="status">
          <p>{WORDS.textError(error.origin)}</p>
          <Button onClick={() => editor.reveal(error.origin)}>{WORDS.goThere}</Button>
        </div>
      )}
      {refusal !== undefined && (
        <div className="note warning">
          <p>{call?.command === 'write-out' ? `${refusal.sentence} ${WORDS.writeOutHint}` : refusal.sentence}</p>
          {call !== undefined && (
            <Button onClick={() => editor.instead(call)}>
              {refusal.rule === 'R3' && call.command === 'connect' ? WORDS.otherWay : WORDS.insteadOf[call.command]}
            </Button>
          )}
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

/** What the palette offers beside elements and fields. */
const actionsOf = (editor: Editor, showKeys: () => void): readonly Action[] => [
  { label: WORDS.undo(undefined), keys: 'Ctrl+Z', run: () => editor.undo() },
  { label: WORDS.redo(undefined), keys: 'Ctrl+Shift+Z', run: () => editor.redo() },
  ...MODES.map((mode) => ({ label: `${WORDS.view}: ${WORDS.modes[mode]}`, keys: 'Ctrl+\\', run: () => editor.setMode(mode) })),
  ...SCHEMES.map((scheme) => ({ label: WORDS.schemes[scheme], run: () => chooseScheme(scheme) })),
  ...(['inputs', 'inspector', 'preview'] as const).map((region) => ({
    label: WORDS.skipTo(WORDS.regions[region]),
    keys: 'F6',
    run: () => focusRegionNamed(region),
  })),
  { label: WORDS.home, run: () => goTo({ kind: 'start' }) },
  { label: WORDS.datasets, run: () => goTo({ kind: 'datasets' }) },
  { label: WORDS.keys, keys: '?', run: showKeys },
];

/** Whether letters go to what has the focus. */
const isTyping = ({ target }: KeyboardEvent): boolean =>
  target instanceof HTMLElement && target.closest('input, textarea, select, [contenteditable="true"]') !== null;

/** Undo and redo, wherever the focus is but in a field that has its own undo. */
function useEditorKeys(open: (which: 'palette' | 'keys') => void): void {
  const editor = useEditor();
  useEffect(() => {
    const press = (event: KeyboardEvent): void => {
      if (event.altKey || document.querySelector('dialog[open]') !== null) return;
      const key = event.key.toLowerCase();
      const isCommand = event.ctrlKey || event.metaKey;
      if (isCommand && key === 'k') open('palette');
      else if (isCommand && key === '\\') editor.setMode(MODES[(MODES.indexOf(editor.get().mode) + 1) % MODES.length] ?? 'canvas');
      else if (isTyping(event)) return;
      else if (event.key === 'F12') {
        const [of] = editor.get().selection.elements;
        if (of === undefined) return;
        editor.reveal({ of });
      } else if (!isCommand && event.key === '?') open('keys');
      else if (!isCommand) return;
      else if (key === 'z' && !event.shiftKey) editor.undo();
      else if (key === 'y' || key === 'z') editor.redo();
      else return;
      event.preventDefault();
    };
    window.addEventListener('keydown', press);
    return () => window.removeEventListener('keydown', press);
  }, [editor, open]);
}
