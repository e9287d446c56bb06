/** Previews of a model: asked for after each change of the document, one at a time. */
import { useEffect, useState } from 'react';
import type { QuadmillClient } from '../../../client/client.ts';
import type { StudioPreview, StudioPreviewRequest } from '../../../client/types.ts';
import { hasYarrrmlEnding } from '../../../src/mapping/model/language.ts';
import type { Diagnostic } from '../../../src/mapping/model/model.ts';
import type { ModelOrigin } from '../../client/drafts.ts';
import { type Trouble, troubleOf } from '../../client/service.ts';
import { SIGNED_IN } from '../../client/token.ts';
import type { StudioDocument } from '../../core/document.ts';
import { recordsOf } from '../../core/elements/records.ts';
import type { Editor } from '../store/editor.ts';
import { useStore } from '../store/store.ts';
import { mappingText } from '../store/text.ts';

export interface Previewed {
  readonly request: StudioPreviewRequest;
  readonly preview: StudioPreview;
}

export interface PreviewState {
  /** The last one that was answered; undefined: none was. */
  readonly last: Previewed | undefined;
  readonly isAsking: boolean;
  /** Why the present state has no preview. */
  readonly trouble: Trouble | undefined;
  /** Why the document has no text. */
  readonly unprintable: readonly Diagnostic[];
}

export interface FollowedPreview extends PreviewState {
  stop(): void;
  ask(): void;
}

/** A person who types or drags is not interrupted. */
const PAUSE_MS = 150;
const NOTHING: PreviewState = { last: undefined, isAsking: false, trouble: undefined, unprintable: [] };

/** @param isOn nothing is asked for otherwise */
export function usePreview(
  service: QuadmillClient,
  { name, kept }: Pick<ModelOrigin, 'name' | 'kept'>,
  document: StudioDocument,
  isOn: boolean,
  editor: Editor,
): FollowedPreview {
  const [state, setState] = useState(NOTHING);
  const turn = useStore(editor, ({ previewed }) => previewed.turn);
  const most = useStore(editor, ({ previewed }) => previewed.records);
  const [stopper, setStopper] = useState<AbortController | undefined>(undefined);
  useEffect(() => {
    const askAgain = (): void => again(editor);
    window.addEventListener(SIGNED_IN, askAgain);
    return () => window.removeEventListener(SIGNED_IN, askAgain);
  }, [editor]);
  const { records, language, text: written } = document;
  // biome-ignore lint/correctness/useExhaustiveDependencies: `records`, `language` and `written` are what a text is made of; `turn` asks again
  useEffect(() => {
    if (!isOn) {
      setState(NOTHING);
      return undefined;
    }
    const controller = new AbortController();
    setStopper(controller);
    const ask = async (): Promise<void> => {
      const { signal } = controller;
      setState((before) => ({ ...before, isAsking: true, trouble: undefined }));
      try {
        const { text, diagnostics } = await mappingText(document, kept);
        if (signal.aborted) return;
        if (text === undefined) {
          setState((before) => ({ ...before, isAsking: false, unprintable: diagnostics }));
          return;
        }
        const request = { name: fileName(name, document), text, records: most, service: serviceOf(document) };
        const preview = await service.studio.preview(request, { signal });
        if (signal.aborted) return;
        editor.setPreviewed({ late: preview.late });
        setState({ last: { request, preview }, isAsking: false, trouble: undefined, unprintable: [] });
      } catch (error) {
        const trouble = troubleOf(error);
        if (!signal.aborted) setState((before) => ({ ...before, isAsking: false, trouble }));
      }
    };
    const timer = setTimeout(() => void ask(), PAUSE_MS);
    return () => {
      clearTimeout(timer);
      controller.abort();
    };
  }, [service, name, kept, records, language, written, isOn, turn, most, editor]);
  return {
    ...state,
    stop: () => {
      stopper?.abort();
      setState((before) => ({ ...before, isAsking: false }));
    },
    ask: () => again(editor),
  };
}

const again = (editor: Editor): void => editor.setPreviewed({ turn: editor.get().previewed.turn + 1 });

/** Its extension gives the language. */
function fileName(name: string, { language }: StudioDocument): string {
  const isRight = language === 'yarrrml' ? hasYarrrmlEnding(name) : name.endsWith('.ttl');
  return isRight ? name : `${name}.${language === 'yarrrml' ? 'yml' : 'ttl'}`;
}

const serviceOf = (document: StudioDocument): 'sql-transformer' | 'semi-structured-transformer' =>
  recordsOf(document, 'input').some(({ location }) => location.kind === 'table' || location.kind === 'query')
    ? 'sql-transformer'
    : 'semi-structured-transformer';
