/** Save, Changes and Download, with what is asked when another user has saved, the mapping has errors, or the service is away. */
import { type ReactNode, useCallback, useEffect, useState } from 'react';
import { SIGNED_IN } from '../../client/token.ts';
import { Button } from '../parts/button.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { ago } from '../parts/times.ts';
import { type ModelAddress, replaceWith } from '../store/address.ts';
import { announce } from '../store/announcements.ts';
import { useEditor, useEditorState } from '../store/context.tsx';
import { hasChanges } from '../store/editor.ts';
import { downloadText, keepMine, type SaveResult, saveCopy, saveModel } from '../store/saving.ts';
import { keptOf, mappingText } from '../store/text.ts';
import { useVisit } from '../store/visit.ts';
import { Difference } from './difference/difference.tsx';
import { SaveAs } from './save-as.tsx';
import { WORDS } from './words.ts';

const { save: words } = WORDS;

/** A service that was away is asked again so often. */
const AGAIN_MS = 3_000;

export function SaveButtons({ address }: { readonly address: ModelAddress }): ReactNode {
  const editor = useEditor();
  const { service, user } = useVisit();
  const isChanged = useEditorState(hasChanges);
  const [result, setResult] = useState<Exclude<SaveResult, { kind: 'saved' }> | undefined>(undefined);
  const [isSaving, setSaving] = useState(false);
  const [shows, setShows] = useState(false);
  const [savesAs, setSavesAs] = useState(false);
  const save = useCallback(
    async (over?: string): Promise<void> => {
      setSaving(true);
      const next = await saveModel(editor, service, over).finally(() => setSaving(false));
      if (next.kind !== 'saved') return setResult(next);
      setResult(undefined);
      announce(words.said(editor.get().origin.name));
      replaceWith({ ...address, isNew: false });
    },
    [editor, service, address],
  );
  const reason = user.role !== 'admin' ? words.needsAdmin : isSaving ? words.saving : !isChanged ? WORDS.saved : undefined;
  useSaveKey(reason === undefined ? save : undefined, reason);
  const trouble = result?.kind === 'trouble' ? result.trouble.kind : undefined;
  const isAway = trouble === 'away';
  // The page asks for the token above what is open, whichever request was refused.
  const isRefused = trouble === 'sign-in';
  useEffect(() => {
    if (!isAway) return;
    const timer = setInterval(() => void save(), AGAIN_MS);
    return () => clearInterval(timer);
  }, [isAway, save]);
  useEffect(() => {
    if (!isRefused) return;
    const again = (): void => void save();
    window.addEventListener(SIGNED_IN, again);
    return () => window.removeEventListener(SIGNED_IN, again);
  }, [isRefused, save]);
  return (
    <>
      <Button kind="primary" icon="save" disabled={reason} onClick={() => void save()}>
        {words.save}
      </Button>
      <Button kind="quiet" disabled={!isChanged && words.noChanges} onClick={() => setShows(true)}>
        {words.changes}
      </Button>
      <Button kind="quiet" icon="download" label={words.download} onClick={() => void download(editor)} />
      <Button kind="quiet" icon="copy" label={WORDS.saveAs.open} onClick={() => setSavesAs(true)} />
      {isAway && <span className="waiting-note">{words.waits}</span>}
      {savesAs && <SaveAs address={address} onClose={() => setSavesAs(false)} />}
      {shows && <Changes onClose={() => setShows(false)} />}
      {result !== undefined && !isAway && !isRefused && (
        <Outcome result={result} address={address} save={save} onClose={() => setResult(undefined)} />
      )}
    </>
  );
}

/** Ctrl+S: the browser's own dialog for pages is never wanted here. */
function useSaveKey(save: (() => Promise<void>) | undefined, reason: string | undefined): void {
  useEffect(() => {
    const press = (event: KeyboardEvent): void => {
      if (!(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey || event.key.toLowerCase() !== 's') return;
      event.preventDefault();
      if (save !== undefined) void save();
      else if (reason !== undefined) announce(reason, 'assertive');
    };
    window.addEventListener('keydown', press);
    return () => window.removeEventListener('keydown', press);
  }, [save, reason]);
}

async function download(editor: ReturnType<typeof useEditor>): Promise<void> {
  await editor.settle();
  const state = editor.get();
  const { origin, session } = state;
  const { text, diagnostics } = await mappingText(session.document, keptOf(state));
  if (text === undefined) return announce(diagnostics.map(({ message }) => message).join(' '), 'assertive');
  downloadText(origin.name, text);
}

/** What the text of the mapping has that was not saved. */
function Changes({ onClose }: { readonly onClose: () => void }): ReactNode {
  const { session, origin } = useEditorState((state) => state);
  const [text, setText] = useState<string | undefined>(undefined);
  useEffect(() => {
    void mappingText(session.document, keptOf({ session, origin })).then((current) =>
      setText(current.text ?? current.diagnostics.map(({ message }) => `# ${message}`).join('\n')),
    );
  }, [session, origin]);
  return (
    <Dialog title={words.changesTitle(origin.name)} onClose={onClose} wide>
      {text === undefined ? (
        <p>{WORDS.loading}</p>
      ) : (
        <Difference label={words.changes} before={origin.savedText ?? ''} after={text} same={words.sameText} />
      )}
    </Dialog>
  );
}

interface OutcomeProps {
  readonly result: Exclude<SaveResult, { kind: 'saved' }>;
  readonly address: ModelAddress;
  readonly save: (over?: string) => Promise<void>;
  readonly onClose: () => void;
}

function Outcome({ result, address, save, onClose }: OutcomeProps): ReactNode {
  switch (result.kind) {
    case 'conflict':
      return <Conflict conflict={result} address={address} save={save} onClose={onClose} />;
    case 'invalid':
      return (
        <Dialog title={words.invalidTitle} onClose={onClose} footer={<Button onClick={onClose}>{WORDS.close}</Button>}>
          <p>{words.kept}</p>
          <ul className="sentences">
            {result.sentences.map((sentence) => (
              <li key={sentence}>{sentence}</li>
            ))}
          </ul>
        </Dialog>
      );
    case 'trouble':
      return (
        <Dialog title={words.troubleTitle} onClose={onClose} footer={<Button onClick={() => void save()}>{WORDS.tryAgain}</Button>}>
          <p>{result.trouble.sentence}</p>
          <p className="muted">{result.trouble.hint ?? words.kept}</p>
        </Dialog>
      );
  }
}

interface ConflictProps extends Omit<OutcomeProps, 'result'> {
  readonly conflict: Extract<SaveResult, { kind: 'conflict' }>;
}

/** The second saver sees what is different, and chooses. */
function Conflict({ conflict: { mine, theirs }, address, save, onClose }: ConflictProps): ReactNode {
  const editor = useEditor();
  const { service, drafts } = useVisit();
  const [hasSeen, setSeen] = useState(false);
  const [fault, setFault] = useState<string | undefined>(undefined);
  const copy = async (): Promise<void> => {
    const saved = await saveCopy(editor, service, drafts, mine);
    if (typeof saved !== 'string') return setFault(saved.sentence);
    openAnew({ ...address, name: saved, isNew: false });
  };
  const take = async (): Promise<void> => {
    await keepMine(editor, drafts);
    openAnew({ ...address, isNew: false });
  };
  const who = theirs.by ?? words.unnamed;
  return (
    <Dialog
      title={words.conflictTitle}
      onClose={onClose}
      wide
      footer={
        <>
          <Button onClick={() => void copy()}>{words.copy}</Button>
          <Button onClick={() => void take()}>{words.take}</Button>
          <Button kind="danger" disabled={!hasSeen && words.lookFirst} onClick={() => void save(theirs.etag)}>
            {words.replace}
          </Button>
        </>
      }
    >
      <p>{words.conflict(who, theirs.at === null ? undefined : ago(Date.parse(theirs.at)))}</p>
      {hasSeen ? (
        <Difference label={words.theirsAndMine} before={theirs.text} after={mine} same={words.sameTextBoth} />
      ) : (
        <Button onClick={() => setSeen(true)}>{words.show}</Button>
      )}
      {fault !== undefined && (
        <p className="trouble" role="alert">
          {fault}
        </p>
      )}
    </Dialog>
  );
}

/** The page begins again, with nothing of the editor before. */
function openAnew(address: ModelAddress): void {
  replaceWith(address);
  location.reload();
}
