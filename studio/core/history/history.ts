/**
 * Undo and redo. One history for canvas and text: a step is what a command has changed, found by comparing documents, so that no command
 * defines an inverse.
 */
import type { Command } from '../commands/command.ts';
import type { StudioDocument } from '../document.ts';
import { isRefusal, type Refusal } from '../rules/verdict.ts';
import { type Diff, diffOf, isEmpty, stepBack, stepOn } from './diff.ts';
import { difference, edited, type TextEdit } from './edits.ts';

/** Steps that can be undone; the oldest are forgotten. */
const MOST_STEPS = 500;

export interface Step {
  readonly label: string;
  readonly diff: Diff;
}

/** A document with its history. */
export interface Session {
  readonly document: StudioDocument;
  /** The last step is undone first. */
  readonly done: readonly Step[];
  /** The last step is redone first. */
  readonly undone: readonly Step[];
  /** The command of the last step, if the next one may go on with it. */
  readonly last: Last | undefined;
}

interface Last {
  readonly command: string;
  readonly argument: unknown;
  /** The document before the first of the commands that were merged. */
  readonly before: StudioDocument;
}

/** What a change of records means for the text: the edits that bring it up to date; or why the text cannot say it. */
export type Write = (before: StudioDocument, after: StudioDocument) => readonly TextEdit[] | Refusal;

export const begin = (document: StudioDocument): Session => ({ document, done: [], undone: [], last: undefined });

/** What a command comes to: the session after it, and what is said of it. */
export interface Done {
  readonly session: Session;
  readonly said: string;
}

/**
 * Carries a command out. A command that changes nothing leaves no step, and one that goes on with the last one changes its step.
 *
 * @param write brings the text up to date where the command has not done so itself
 */
export function perform<A>(session: Session, command: Command<A>, argument: A, write: Write): Done | Refusal {
  const { document: before } = session;
  const changed = command.perform(before, argument);
  if (isRefusal(changed)) return changed;
  const isWritten = changed.text !== before.text;
  const edits = isWritten ? difference(before.text.text, changed.text.text) : changed === before ? [] : write(before, changed);
  if ('ok' in edits) return edits;
  const after = isWritten || edits.length === 0 ? changed : { ...changed, text: edited(changed.text, edits) };
  const said = command.said(before, after);
  if (!command.recorded) return { session: { ...session, document: after, last: undefined }, said };
  return { session: recorded(session, command, argument, after, edits), said };
}

function recorded<A>(session: Session, command: Command<A>, argument: A, after: StudioDocument, edits: readonly TextEdit[]): Session {
  const { document, done, last } = session;
  const diff = diffOf(document, after, edits);
  if (isEmpty(diff)) return session;
  const goesOn = last?.command === command.name && command.merges?.(last.argument as A, argument) === true;
  const before = goesOn ? last.before : document;
  const whole = goesOn ? diffOf(before, after, difference(before.text.text, after.text.text)) : diff;
  const others = goesOn ? done.slice(0, -1) : done;
  const step: Step = { label: command.label(before, argument), diff: whole };
  return {
    document: after,
    done: [...others, step].slice(-MOST_STEPS),
    undone: [],
    last: { command: command.name, argument, before },
  };
}

/** The session before its last step; the same session, if there is none. */
export function undo(session: Session): Session {
  const step = session.done.at(-1);
  if (step === undefined) return session;
  const document = stepBack(session.document, step.diff);
  return { document, done: session.done.slice(0, -1), undone: [...session.undone, step], last: undefined };
}

/** The session after the step that was undone last; the same session, if there is none. */
export function redo(session: Session): Session {
  const step = session.undone.at(-1);
  if (step === undefined) return session;
  const document = stepOn(session.document, step.diff);
  return { document, done: [...session.done, step], undone: session.undone.slice(0, -1), last: undefined };
}
