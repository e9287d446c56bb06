/**
 * The editor of one model: the document with its history, what is selected, and what samples show. All views of a model share one editor;
 * whatever they do to the document is a command.
 */

import { type Draft, type Drafts, draftId, type ModelOrigin } from '../../client/drafts.ts';
import { type ArgumentOf, COMMANDS, type CommandName } from '../../core/commands/all.ts';
import type { Command, Role, Selection } from '../../core/commands/command.ts';
import { drawUpwards } from '../../core/commands/edges/upwards.ts';
import { type Known, withFirstUse } from '../../core/commands/elements/first-use.ts';
import type { Id, StudioDocument } from '../../core/document.ts';
import { NOTHING_SHOWN, type Shown } from '../../core/edit/side-file.ts';
import { edgesTo, recordOf } from '../../core/elements/records.ts';
import type { Schema } from '../../core/elements/schema.ts';
import { begin, perform, redo, type Session, type Step, undo } from '../../core/history/history.ts';
import { type CommandCall, type End, isRefusal, type Refusal, refuse } from '../../core/rules/verdict.ts';
import { announce } from './announcements.ts';
import { loadedPrefixes } from './page/ontologies.ts';
import { makeStore, type Store } from './store.ts';
import { isOfText, keptOf, writtenOut } from './text.ts';
import { followTyping, sentenceOfTyped, type Typed } from './typing/typing.ts';
import { writeFor } from './writing.ts';

/** Which regions stand in the middle. */
export type Mode = 'canvas' | 'split' | 'text';

export interface EditorState {
  readonly origin: ModelOrigin;
  readonly role: Role;
  readonly session: Session;
  readonly selection: Selection;
  /** Of samples: no part of the document. */
  readonly schema: Schema;
  /** Of samples of XML, by input: prefix → namespace, for names that the input does not declare. */
  readonly namespaces: Known['namespaces'];
  /** Of the preview. */
  readonly previewed: Previewing;
  /** How the canvas shows the model: kept in the side file. */
  readonly shown: Shown;
  readonly mode: Mode;
  /** Where an edge begins whose other end is being chosen from a list. */
  readonly connecting: End | undefined;
  /** The entity whose name is asked for. */
  readonly renaming: Id | undefined;
  /** Why the last command was not carried out; undefined: it was, or the sentence was closed. */
  readonly refusal: Refusal | undefined;
  /** What the text of the mapping was changed to, and is no step yet; undefined: nothing. */
  readonly typed: Typed | undefined;
  /** What the text is to show, with the caret at it; undefined: nothing more. */
  readonly revealed: Revealed | undefined;
  /** The last step of what was saved last, or opened. `unknown`: a draft of another visit. */
  readonly saved: Step | undefined | 'unknown';
  /** When the draft was kept last; undefined: nothing is kept. `failed`: the browser keeps nothing. */
  readonly draft: { readonly at: number } | 'failed' | undefined;
}

export interface Previewing {
  /** The most records of each iterator that are mapped. */
  readonly records: number;
  /** Names of inputs of which the last preview has only what came in time. */
  readonly late: readonly string[];
  /** Another number asks again. */
  readonly turn: number;
}

export const PREVIEW_RECORDS = 100;
/** Where inputs are slow: the fewest that the service takes. */
export const FEW_RECORDS = 10;

/** An element, or a position: both count from 1. */
export type Revealed = { readonly of: Id } | { readonly line: number; readonly column: number };

export interface Editor extends Store<EditorState> {
  /** Carries a command out. @returns the refusal, which is also said and shown */
  dispatch<N extends CommandName>(name: N, argument: ArgumentOf<N>): Refusal | undefined;
  /** A command that no name stands for, such as several at once. */
  perform<A>(command: Command<A>, argument: A): Refusal | undefined;
  /** What a refusal offers instead. `open-text` draws an expert's edge upwards, and shows it in the text. */
  instead(call: CommandCall): void;
  undo(): void;
  redo(): void;
  select(selection: Partial<Selection>): void;
  setSchema(schema: Schema, namespaces: Known['namespaces']): void;
  setShown(changes: Partial<Shown>): void;
  setPreviewed(changes: Partial<Previewing>): void;
  setMode(mode: Mode): void;
  setRole(role: Role): void;
  /** The text of the mapping as it is typed; undefined: it is that of the document again. What parses becomes a step after a pause. */
  type(text: string | undefined): void;
  /** What is typed is read at once, and is a step or has an error then. */
  settle(): Promise<void>;
  /** Shows something in the text, and opens the text for it; undefined: it is shown. */
  reveal(at: Revealed | undefined): void;
  closeRefusal(): void;
  /** Opens the list of everything that can be connected to this, with verdicts; undefined closes it. */
  connectFrom(end: End | undefined): void;
  /** Asks for another name of an entity; undefined closes the question. */
  rename(id: Id | undefined): void;
  /** The service has what this session came to; its draft is removed, unless there were commands since. */
  markSaved(origin: ModelOrigin, session: Session): void;
  /** Keeps the draft at once, and waits for it. */
  keep(): Promise<void>;
  /** Ends the work of timers; the draft is kept before. */
  close(): Promise<void>;
}

/** Whether there is anything that the service does not have. */
export const hasChanges = ({ origin, session, saved, typed }: EditorState): boolean =>
  origin.etag === undefined || session.done.at(-1) !== saved || typed !== undefined;

const KEEP_AFTER_MS = 300;
const RANKS: Readonly<Record<Role, number>> = { viewer: 0, operator: 1, admin: 2 };
/** What changes nothing that the text says. */
const BESIDE_TEXT: ReadonlySet<string> = new Set(['edit-text', 'move', 'align', 'lay-out', 'fold']);
export const NOTHING_SELECTED: Selection = { elements: [], fields: [] };

export interface Opening {
  readonly origin: ModelOrigin;
  readonly document: StudioDocument;
  readonly role: Role;
  /** undefined: the browser keeps no drafts. */
  readonly drafts: Drafts | undefined;
  /** Of a draft that is continued. */
  readonly history?: { readonly done: readonly Step[]; readonly undone: readonly Step[] };
  readonly typed?: string | undefined;
  readonly shown?: Shown | undefined;
  /** What the side file says of the fields, until samples say more. */
  readonly schema?: Schema;
}

export function openEditor({ origin, document, role, drafts, history, typed, shown = NOTHING_SHOWN, schema = new Map() }: Opening): Editor {
  const session: Session = { ...begin(document), ...history };
  const store = makeStore<EditorState>({
    origin,
    role,
    session,
    selection: NOTHING_SELECTED,
    schema,
    namespaces: new Map(),
    previewed: { records: PREVIEW_RECORDS, late: [], turn: 0 },
    shown,
    mode: 'canvas',
    connecting: undefined,
    renaming: undefined,
    refusal: undefined,
    typed: undefined,
    revealed: undefined,
    saved: history === undefined || (history.done.length === 0 && history.undone.length === 0) ? undefined : 'unknown',
    draft: undefined,
  });
  const patch = (changes: Partial<EditorState>): void => store.set({ ...store.get(), ...changes });
  let timer: ReturnType<typeof setTimeout> | undefined;

  const keep = async (): Promise<void> => {
    clearTimeout(timer);
    timer = undefined;
    const state = store.get();
    if (drafts === undefined) return;
    const draft = draftOf(state);
    try {
      if (hasChanges(state)) await drafts.put(draft);
      else await drafts.remove(draft.id);
      patch({ draft: hasChanges(state) ? { at: draft.at } : undefined });
    } catch {
      // A full disk or a private window: it is shown, and the work goes on.
      patch({ draft: 'failed' });
    }
  };
  const keepSoon = (): void => {
    clearTimeout(timer);
    timer = setTimeout(() => void keep(), KEEP_AFTER_MS);
  };

  /** What was asked for last. */
  let again: () => void = () => undefined;
  const refused = (refusal: Refusal): Refusal => {
    patch({ refusal });
    announce(refusal.sentence, 'assertive');
    return refusal;
  };
  const moveTo = (next: Session): void => {
    const { selection, session: before, origin: own, typed: written } = store.get();
    // It cannot be undone any more, so the text stays kept.
    const isForgotten = before.done[0] !== undefined && isOfText(before.done[0]) && next.done.length > 0 && next.done[0] !== before.done[0];
    patch({
      session: next,
      refusal: undefined,
      selection: withoutGone(next.document, selection),
      typed: next.document.text === before.document.text ? written : undefined,
      ...(isForgotten && { origin: { ...own, kept: 'text' } }),
    });
    keepSoon();
  };
  const carryOut = <A>(command: Command<A>, argument: A): Refusal | undefined => {
    again = () => void carryOut(command, argument);
    const { session: before, role: own, typed: written } = store.get();
    if (RANKS[own] < RANKS[command.role]) return refused(refuse('I1', `Changing a model needs the role ${command.role}.`, []));
    if (written !== undefined && !BESIDE_TEXT.has(command.name)) return refused(refuse('I9', sentenceOfTyped(written), []));
    // What is typed says itself which prefixes it has.
    const performed =
      command.name === 'edit-text'
        ? command
        : withFirstUse(command, () => ({ prefixes: loadedPrefixes(), namespaces: store.get().namespaces }));
    const done = perform(before, performed, argument, writeFor(keptOf(store.get()), before.document.language));
    if (isRefusal(done)) return refused(done);
    if (done.session.document === before.document) {
      patch({ refusal: undefined, ...(command.name === 'edit-text' && { typed: undefined }) });
      return undefined;
    }
    moveTo(done.session);
    const made = madeBy(command.name, before.document, done.session.document);
    if (made.length > 0) patch({ selection: { ...store.get().selection, elements: made } });
    announce(done.said);
    return undefined;
  };
  /** Writes the text in another form, as one step, and does then what this form hindered. */
  const writeOut = async (): Promise<void> => {
    const wanted = again;
    const { document: before } = store.get().session;
    const { text, diagnostics } = await writtenOut(before);
    if (store.get().session.document !== before) return;
    if (text === undefined)
      return void refused(
        refuse(
          'I9',
          `It cannot be written out: ${diagnostics[0]?.message ?? 'the text would say something else. Change it in the text'}.`,
          [],
        ),
      );
    editor.type(text);
    await editor.settle();
    if (store.get().typed === undefined) wanted();
  };
  const step = (next: Session, said: string | undefined): void => {
    if (next === store.get().session) return;
    moveTo(next);
    if (said !== undefined) announce(said);
  };

  /** Typed text that was undone, and the session that it belongs to. */
  let dropped: { readonly text: string; readonly session: Session } | undefined;
  const typing = followTyping({
    get: store.get,
    set: (next) => patch({ typed: next }),
    take: (next) => void carryOut(COMMANDS['edit-text'], { document: next }),
  });
  const editor: Editor = {
    get: store.get,
    subscribe: store.subscribe,
    // The table and the name agree, which the type of the table cannot say.
    dispatch: (name, argument) => carryOut(COMMANDS[name] as unknown as Command<typeof argument>, argument),
    perform: carryOut,
    instead(call) {
      switch (call.command) {
        case 'select':
          return editor.select({ elements: call.argument.ids, fields: [] });
        case 'open-text':
          if (call.argument.of !== undefined) editor.select({ elements: [call.argument.of], fields: [] });
          if (call.argument.of !== undefined && call.argument.to !== undefined)
            carryOut(drawUpwards, { of: call.argument.of, to: call.argument.to });
          return editor.setMode('split');
        case 'write-out':
          return void writeOut().catch((error: Error) => refused(refuse('I9', `It cannot be written out: ${error.message}`, [])));
        case 'connect':
          return void carryOut(COMMANDS.connect, call.argument);
        case 'add-entity':
          return void carryOut(COMMANDS['add-entity'] as unknown as Command<typeof call.argument>, call.argument);
      }
    },
    undo() {
      const { session: now, typed: written } = store.get();
      if (written !== undefined) {
        dropped = { text: written.text, session: now };
        editor.type(undefined);
        editor.closeRefusal();
        return announce('Undone: what was typed in the text');
      }
      step(undo(now), now.done.at(-1) && `Undone: ${now.done.at(-1)?.label}`);
    },
    redo() {
      const { session: now, typed: written } = store.get();
      if (written !== undefined) return void refused(refuse('I9', sentenceOfTyped(written), []));
      if (dropped?.session === now) return editor.type(dropped.text);
      step(redo(now), now.undone.at(-1) && `Redone: ${now.undone.at(-1)?.label}`);
    },
    select: (selection) => patch({ selection: { ...store.get().selection, ...selection } }),
    setSchema: (next, namespaces) => patch({ schema: next, namespaces }),
    setPreviewed: (changes) => patch({ previewed: { ...store.get().previewed, ...changes } }),
    setShown: (changes) => patch({ shown: { ...store.get().shown, ...changes } }),
    setMode: (mode) => patch({ mode }),
    setRole: (own) => patch({ role: own }),
    type(text) {
      dropped = text === undefined ? dropped : undefined;
      typing.type(text);
      keepSoon();
    },
    settle: typing.settle,
    reveal(at) {
      patch({ revealed: at, ...(at !== undefined && store.get().mode === 'canvas' && { mode: 'split' }) });
    },
    closeRefusal: () => patch({ refusal: undefined }),
    connectFrom: (connecting) => patch({ connecting }),
    rename: (renaming) =>
      patch({ renaming: renaming !== undefined && recordOf(store.get().session.document, 'entity', renaming) ? renaming : undefined }),
    markSaved(next, session) {
      patch({ origin: next, saved: session.done.at(-1) });
      keepSoon();
    },
    keep,
    async close() {
      typing.close();
      await keep();
    },
  };
  if (typed !== undefined) typing.type(typed);
  return editor;
}

/** What was just drawn is selected, so that it can be described at once. Attributes are selected by the edges that lead to them. */
function madeBy(command: string, before: StudioDocument, after: StudioDocument): readonly Id[] {
  if (UNSELECTED.has(command)) return [];
  const added = [...after.records.values()].filter(({ id }) => !before.records.has(id));
  const edges = added.filter(({ kind }) => kind === 'edge');
  const blocks = added.filter(({ kind }) => kind === 'entity' || kind === 'input');
  const loose = added.filter(({ kind, id }) => kind === 'attribute' && edgesTo(after, id).length === 0);
  return (edges.length > 0 ? edges : blocks.length > 0 ? blocks : loose).map(({ id }) => id);
}

/** They bring much at once, or nothing that a person describes next. */
const UNSELECTED: ReadonlySet<string> = new Set(['edit-text', 'accept-suggestion', 'add-input']);

const draftOf = ({ origin, session: { document, done, undone }, typed, shown }: EditorState): Draft => ({
  id: draftId(origin),
  origin,
  document,
  done,
  undone,
  shown,
  ...(typed !== undefined && { typed: typed.text }),
  changes: done.length,
  at: Date.now(),
});

/** What is selected and still there. */
function withoutGone({ records }: StudioDocument, selection: Selection): Selection {
  const here = (id: Id): boolean => records.has(id);
  const { elements, fields } = selection;
  if (elements.every(here) && fields.every(({ input }) => here(input))) return selection;
  return { elements: elements.filter(here), fields: fields.filter(({ input }) => here(input)) };
}
