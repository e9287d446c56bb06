/** Carrying one command out, and what has changed by it. */
import type { Command } from '../../../../studio/core/commands/command.ts';
import { findingsIn } from '../../../../studio/core/commands/invariants.ts';
import type { Element, StudioDocument } from '../../../../studio/core/document.ts';
import { isRefusal } from '../../../../studio/core/rules/verdict.ts';

export interface Outcome {
  /** The sentence of the refusal. */
  readonly refused?: string;
  readonly document: StudioDocument;
  readonly added: readonly Element[];
  readonly removed: readonly string[];
  readonly changed: readonly Element[];
  readonly said: string;
}

/** @throws for a document that breaks an invariant */
export function perform<A>(document: StudioDocument, command: Command<A>, argument: A): Outcome {
  const after = command.perform(document, argument);
  if (isRefusal(after)) return { refused: after.sentence, document, added: [], removed: [], changed: [], said: '' };
  const errors = findingsIn(after).filter(({ severity }) => severity === 'error');
  if (errors.length > 0) throw new Error(`after ${command.name}: ${JSON.stringify(errors)}`);
  const all = [...after.records.values()];
  return {
    document: after,
    added: all.filter(({ id }) => !document.records.has(id)),
    removed: [...document.records.keys()].filter((id) => !after.records.has(id)),
    changed: all.filter((record) => document.records.has(record.id) && document.records.get(record.id) !== record),
    said: command.said(document, after),
  };
}
