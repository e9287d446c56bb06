/** Saving a model against the version that its editor has seen: no work is overwritten unseen. */
import type { QuadmillClient } from '../../../client/client.ts';
import { ProblemError } from '../../../client/http.ts';
import type { Diagnostic, StudioMapping } from '../../../client/types.ts';
import { type Drafts, draftId } from '../../client/drafts.ts';
import { type Trouble, troubleOf } from '../../client/service.ts';
import { sideOf } from '../../core/edit/side.ts';
import type { Editor, EditorState } from './editor.ts';
import { type CurrentText, keptOf, mappingText } from './text.ts';
import { sentenceOfTyped } from './typing/typing.ts';

export type SaveResult =
  | { readonly kind: 'saved' }
  /** Another version was saved meanwhile. */
  | { readonly kind: 'conflict'; readonly mine: string; readonly theirs: Pick<StudioMapping, 'text' | 'side' | 'etag' | 'by' | 'at'> }
  /** The mapping has errors, or its language cannot say what was drawn. */
  | { readonly kind: 'invalid'; readonly sentences: readonly string[] }
  | { readonly kind: 'trouble'; readonly trouble: Trouble };

const NOTHING = 'There is no entity yet, so the mapping would be empty. Draw one first.';

/** What an editor has sent without hearing whether it was saved: one of them may have been. */
const unanswered = new WeakMap<Editor, readonly Pick<StudioMapping, 'text' | 'side'>[]>();

/** @param over the version of another user that is replaced, after its difference was shown */
export async function saveModel(editor: Editor, client: QuadmillClient, over?: string): Promise<SaveResult> {
  const { studio } = client;
  await editor.settle();
  const state = editor.get();
  const { origin, session, typed } = state;
  if (typed !== undefined) return { kind: 'invalid', sentences: [sentenceOfTyped(typed)] };
  let current: CurrentText;
  try {
    current = await mappingText(session.document, keptOf(state));
  } catch (error) {
    return troubled(error);
  }
  const { text, diagnostics } = current;
  if (text?.trim() === '') return { kind: 'invalid', sentences: [NOTHING] };
  if (text === undefined) return { kind: 'invalid', sentences: diagnostics.map(({ message }) => message) };
  const { name, service } = origin;
  const etag = over ?? origin.etag;
  const side = sideFor(state);
  try {
    const saved = await studio.putMapping(
      name,
      { text, side },
      { service, ...(etag === undefined ? { ifNoneMatch: '*' } : { ifMatch: etag }) },
    );
    unanswered.delete(editor);
    editor.markSaved({ ...origin, etag: saved.etag, savedText: text }, session);
    return { kind: 'saved' };
  } catch (error) {
    if (!(error instanceof ProblemError)) {
      const sent = unanswered.get(editor) ?? [];
      if (!sent.some((earlier) => isSame(earlier, { text, side }))) unanswered.set(editor, [...sent, { text, side }]);
      return troubled(error);
    }
    const { status, diagnostics: found } = error.problem;
    if (status === 412) {
      const conflict = await conflictWith(text, studio.getMapping(name, { service }));
      if (conflict.kind !== 'conflict') return conflict;
      const sent = unanswered.get(editor) ?? [];
      unanswered.delete(editor);
      if (!isSame(conflict.theirs, { text, side })) {
        // Theirs is an earlier one of this editor, whose answer was lost: it has changed since.
        const isEarlier = sent.some((earlier) => isSame(conflict.theirs, earlier));
        return isEarlier ? saveModel(editor, client, conflict.theirs.etag) : conflict;
      }
      // The answer to an earlier request of this editor was lost, or both have drawn the same.
      editor.markSaved({ ...origin, etag: conflict.theirs.etag, savedText: text }, session);
      return { kind: 'saved' };
    }
    return found === undefined ? troubled(error) : { kind: 'invalid', sentences: found.map(sentenceOf) };
  }
}

type Side = NonNullable<StudioMapping['side']>;

/** As the service gives it back. */
const sideFor = ({ session, schema, shown }: EditorState): Side =>
  JSON.parse(JSON.stringify(sideOf(session.document, schema, shown))) as Side;

/** Samples may be there in one of them only: they say nothing of what was drawn. */
function isSame(theirs: Pick<StudioMapping, 'text' | 'side'>, mine: Pick<StudioMapping, 'text' | 'side'>): boolean {
  const drawn = (side: Side | null): string => JSON.stringify({ ...side, fields: undefined });
  return theirs.text === mine.text && drawn(theirs.side) === drawn(mine.side);
}

const sentenceOf = ({ line, column, message, hint }: Diagnostic): string =>
  [`${line}:${column} ${message}`, hint].filter(Boolean).join('. ');

async function conflictWith(mine: string, asked: Promise<StudioMapping>): Promise<SaveResult> {
  try {
    const { text, side, etag, by, at } = await asked;
    return { kind: 'conflict', mine, theirs: { text, side, etag, by, at } };
  } catch (error) {
    return troubled(error);
  }
}

function troubled(error: unknown): SaveResult {
  const trouble = troubleOf(error);
  // A save is not given up.
  return { kind: 'trouble', trouble: trouble ?? { kind: 'away', sentence: 'The request was given up.' } };
}

/** Saves a text under another name, with the layout of the model. @throws ProblemError 412 — there is such a model; 400 */
export async function saveUnder(editor: Editor, { studio }: QuadmillClient, name: string, text: string): Promise<void> {
  const state = editor.get();
  await studio.putMapping(name, { text, side: sideFor(state) }, { service: state.origin.service, ifNoneMatch: '*' });
}

/** Gives a text to the browser as a file. */
export const downloadText = (name: string, text: string): void => downloadBlob(name, new Blob([text], { type: 'text/plain' }));

export function downloadBlob(name: string, blob: Blob): void {
  const url = URL.createObjectURL(blob);
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  URL.revokeObjectURL(url);
}

const MOST_COPIES = 100;

/** Saves under a name that is free, beside the version of another user. @returns the name; or why not */
export async function saveCopy(
  editor: Editor,
  { studio }: QuadmillClient,
  drafts: Drafts | undefined,
  text: string,
): Promise<string | Trouble> {
  const state = editor.get();
  const { origin } = state;
  const side = sideFor(state);
  for (let number = 1; number <= MOST_COPIES; number++) {
    const name = copyName(origin.name, number);
    try {
      await studio.putMapping(name, { text, side }, { service: origin.service, ifNoneMatch: '*' });
      await drafts?.remove(draftId(origin));
      return name;
    } catch (error) {
      const trouble = troubleOf(error);
      if (trouble?.kind !== 'conflict') return trouble ?? { kind: 'away', sentence: 'The request was given up.' };
    }
  }
  return { kind: 'conflict', sentence: `There are ${MOST_COPIES} copies of ${origin.name} already.` };
}

/** Keeps what is drawn here as a draft under another name, so that the model can be opened as the service has it. @returns that name */
export async function keepMine(editor: Editor, drafts: Drafts | undefined): Promise<string> {
  await editor.keep();
  const { origin } = editor.get();
  const draft = await drafts?.get(draftId(origin));
  const name = copyName(origin.name, 1);
  if (draft === undefined || drafts === undefined) return name;
  const own = { ...origin, name, etag: undefined, savedText: undefined };
  await drafts.put({ ...draft, id: draftId(own), origin: own });
  await drafts.remove(draftId(origin));
  return name;
}

/** `shop.ttl` → `shop-copy.ttl`, `shop-copy-2.ttl`. */
const copyName = (name: string, number: number): string =>
  name.replace(/(\.[^.]+)?$/, (ending) => `-copy${number === 1 ? '' : `-${number}`}${ending}`);
