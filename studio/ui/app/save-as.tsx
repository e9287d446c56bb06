/** Save as: the model under another name, and in any of the languages. The model that is open stays as it is. */
import { type ReactNode, useEffect, useState } from 'react';
import { withoutMappingEnding } from '../../../src/mapping/model/language.ts';
import { saidOf, troubleOf } from '../../client/service.ts';
import type { Language } from '../../core/document.ts';
import { Button } from '../parts/button.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { Choice, Field } from '../parts/field.tsx';
import { fileName } from '../start/opening.ts';
import { LANGUAGE_NAMES } from '../start/words.ts';
import { goTo, type ModelAddress } from '../store/address.ts';
import { announce } from '../store/announcements.ts';
import { useEditor, useEditorState } from '../store/context.tsx';
import { downloadText, saveUnder } from '../store/saving.ts';
import { type CurrentText, keptOf, textIn } from '../store/text.ts';
import { useVisit } from '../store/visit.ts';
import { WORDS } from './words.ts';

const { saveAs: words } = WORDS;

interface SaveAsProps {
  readonly address: ModelAddress;
  readonly onClose: () => void;
}

export function SaveAs({ address, onClose }: SaveAsProps): ReactNode {
  const editor = useEditor();
  const { service, user } = useVisit();
  const own = useEditorState(({ session }) => session.document.language);
  const [language, setLanguage] = useState<Language>(own);
  const [name, setName] = useState(() => otherName(address.name, own));
  const [error, setError] = useState<string | undefined>(undefined);
  const { found, fault } = useConverted(language);
  const text = found?.text?.trim() === '' ? undefined : found?.text;
  const choose = (next: Language): void => {
    setLanguage(next);
    setName(fileName(withoutMappingEnding(name), next));
  };
  const save = async (): Promise<void> => {
    if (text === undefined) return;
    const file = fileName(name.trim(), language);
    if (name.trim() === '' || /^\.|[/\\]/.test(file)) return setError(words.wrongName);
    try {
      await saveUnder(editor, service, file, text);
    } catch (reason) {
      const trouble = troubleOf(reason);
      return setError(trouble?.kind === 'conflict' ? words.taken(file) : trouble === undefined ? '' : saidOf(trouble));
    }
    announce(WORDS.save.said(file));
    onClose();
    goTo({ ...address, name: file, isNew: false });
  };
  const why = fault ?? (found === undefined ? words.writing : text === undefined ? words.impossible : undefined);
  return (
    <Dialog
      title={words.title}
      onClose={onClose}
      onSubmit={() => void (why === undefined && user.role === 'admin' && save())}
      wide
      footer={
        <>
          <Button
            icon="download"
            disabled={why}
            onClick={() => text !== undefined && downloadText(fileName(name.trim() || address.name, language), text)}
          >
            {words.download}
          </Button>
          <Button kind="primary" icon="save" submits disabled={user.role === 'admin' ? why : WORDS.save.needsAdmin}>
            {words.save}
          </Button>
        </>
      }
    >
      <Field label={words.name} value={name} error={error} onChange={({ target }) => setName(target.value)} />
      <Choice label={words.language} value={language} options={LANGUAGE_NAMES} onChoose={choose} />
      {fault !== undefined && (
        <p className="trouble" role="alert">
          {fault}
        </p>
      )}
      {found !== undefined && <Said found={found} />}
      {found !== undefined && text === undefined && language !== 'rml' && own !== 'r2rml' && (
        <Button onClick={() => choose('rml')}>{words.todays}</Button>
      )}
      {text !== undefined && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so it must be reachable by keyboard
        <section className="difference" aria-label={words.text} tabIndex={0}>
          <pre className="mono">{text}</pre>
        </section>
      )}
    </Dialog>
  );
}

/** What the language says in another way, or cannot say. */
function Said({ found: { text, diagnostics } }: { readonly found: CurrentText }): ReactNode {
  const sentences = [...new Set(diagnostics.map(({ message, hint }) => [message, hint].filter(Boolean).join('. ')))];
  if (sentences.length === 0 && text !== undefined) return null;
  return (
    <div role="status">
      <p className={text === undefined ? 'trouble' : 'muted'}>{text === undefined ? words.impossible : words.otherwise}</p>
      <ul className="sentences">
        {sentences.map((sentence) => (
          <li key={sentence}>{sentence}</li>
        ))}
      </ul>
    </div>
  );
}

function useConverted(language: Language): { readonly found: CurrentText | undefined; readonly fault: string | undefined } {
  const editor = useEditor();
  const [state, setState] = useState<{ readonly found?: CurrentText; readonly fault?: string }>({});
  useEffect(() => {
    let isGone = false;
    setState({});
    editor
      .settle()
      .then(() => textIn(language, editor.get().session.document, keptOf(editor.get())))
      .then(
        (found) => !isGone && setState({ found }),
        (error: unknown) => !isGone && setState({ fault: error instanceof Error ? error.message : String(error) }),
      );
    return () => {
      isGone = true;
    };
  }, [editor, language]);
  return { found: state.found, fault: state.fault };
}

/** `shop.ttl` → `shop-2.ttl`, whose name is free more often than not. */
const otherName = (name: string, language: Language): string =>
  fileName(
    withoutMappingEnding(name).replace(/(?:-(\d+))?$/, (_, number?: string) => `-${Number(number ?? 1) + 1}`),
    language,
  );
