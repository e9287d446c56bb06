/** Several commands as one: one step of the history, and all or none. */
import type { StudioDocument } from '../document.ts';
import { isRefusal, type Refusal } from '../rules/verdict.ts';
import { always, type Command } from './command.ts';

/** A command with its argument. */
export type Call = (document: StudioDocument) => StudioDocument | Refusal;

export const call =
  <A>(command: Command<A>, argument: A): Call =>
  (document) =>
    command.perform(document, argument);

/** What the calls come to, each after the one before it; or the first refusal. */
export function allOf(document: StudioDocument, calls: readonly Call[]): StudioDocument | Refusal {
  let next = document;
  for (const one of calls) {
    const changed = one(next);
    if (isRefusal(changed)) return changed;
    next = changed;
  }
  return next;
}

/**
 * A command for what one gesture means, such as fields that are dragged together. It takes no argument.
 *
 * @param label what the history calls it
 * @param said the message when it is done
 */
export const together = (label: string, said: string, calls: readonly Call[]): Command<undefined> => ({
  name: 'together',
  label: () => label,
  role: 'operator',
  enabled: always,
  perform: (document) => allOf(document, calls),
  said: () => said,
  recorded: true,
});
