/** Text that is typed: it is the editor's own until the typing pauses. What parses then is one step of the history, of canvas and text. */
import type { Diagnostic } from '../../../../src/mapping/model/model.ts';
import type { StudioDocument } from '../../../core/document.ts';
import { matched } from '../../../core/edit/matched.ts';
import type { Session } from '../../../core/history/history.ts';
import { readingOf } from '../../../core/read/language.ts';
import { loadWriting } from '../writing.ts';
import { readBeside } from './reading.ts';

export interface Typed {
  readonly text: string;
  /** The first one; undefined: it has yet to be read. */
  readonly error: Diagnostic | undefined;
}

export interface Typing {
  type(text: string | undefined): void;
  settle(): Promise<void>;
  close(): void;
}

interface Host {
  get(): { readonly typed: Typed | undefined; readonly session: Session };
  set(typed: Typed | undefined): void;
  /** The document of a text without errors. */
  take(document: StudioDocument): void;
}

/** How long nothing is typed before a text is read. */
export const PAUSE_MS = 500;

export const isErroneous = (typed: Typed | undefined): typed is Typed & { readonly error: Diagnostic } => typed?.error !== undefined;

/** Why nothing can be drawn or saved while this is typed. */
export const sentenceOfTyped = ({ error }: Typed): string =>
  error === undefined
    ? 'The text was changed and is being read. Try again in a moment.'
    : `The text has an error at ${error.origin.line}:${error.origin.column}. Correct it, or undo what was typed.`;

export function followTyping({ get, set, take }: Host): Typing {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const settle = async (): Promise<void> => {
    clearTimeout(timer);
    const { typed, session } = get();
    if (typed === undefined || typed.error !== undefined) return;
    const { text } = typed;
    const reading = readBeside(text, readingOf(session.document));
    // What is drawn from then on is written into this text.
    const found = await Promise.all([reading, loadWriting(session.document.language)]).then(
      ([one]) => one,
      (fault: Error) => fault,
    );
    const now = get();
    // Another text was typed meanwhile.
    if (now.typed?.text !== text) return;
    const error = found instanceof Error ? failed(found) : text.trim() === '' ? undefined : found.diagnostics.find(isError);
    if (error !== undefined || found instanceof Error) set({ text, error });
    else take(matched(now.session.document, found.document));
  };
  return {
    type(text) {
      clearTimeout(timer);
      set(text === undefined ? undefined : { text, error: undefined });
      if (text !== undefined) timer = setTimeout(() => void settle(), PAUSE_MS);
    },
    settle,
    close: () => clearTimeout(timer),
  };
}

const isError = ({ severity }: Diagnostic): boolean => severity === 'error';

const failed = ({ message }: Error): Diagnostic => ({
  severity: 'error',
  code: 'syntax',
  origin: { document: '', line: 1, column: 1 },
  message,
  hint: undefined,
});
