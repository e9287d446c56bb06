/** Every command: what menus, keys and the palette show. */
import { duplicate, paste } from './canvas/copies.ts';
import { align, fold, layOut, move } from './canvas/places.ts';
import { remove } from './canvas/remove.ts';
import type { Command } from './command.ts';
import { connect } from './edges/connect.ts';
import { reconnect, reverse, setPredicates } from './edges/edges.ts';
import { addJoinCondition, removeJoinCondition } from './edges/joins.ts';
import { editText } from './edit-text.ts';
import { addAttribute, setDatatype, setExpression, setLanguage, setTermType } from './elements/attributes.ts';
import { addClass, addEntity, removeClass, rename, setIdentifier } from './elements/entities.ts';
import { applyFunction, removeFunction } from './elements/functions.ts';
import { addGraph, addPrefix, removePrefix, renamePrefix, setExpert, setGraph } from './elements/graphs.ts';
import { addInput, relocateInput, removeInput, setDialect, setEmpty, setGrouping } from './elements/inputs.ts';
import { mergeParts, splitPart } from './elements/parts.ts';
import { acceptSuggestion, rejectSuggestion } from './suggestions.ts';

export const COMMANDS = {
  'add-input': addInput,
  'remove-input': removeInput,
  'relocate-input': relocateInput,
  'set-grouping': setGrouping,
  'set-dialect': setDialect,
  'set-empty': setEmpty,
  'add-entity': addEntity,
  rename,
  'set-identifier': setIdentifier,
  'set-term-type': setTermType,
  'add-class': addClass,
  'remove-class': removeClass,
  'split-part': splitPart,
  'merge-parts': mergeParts,
  'add-attribute': addAttribute,
  'set-expression': setExpression,
  'set-datatype': setDatatype,
  'set-language': setLanguage,
  'apply-function': applyFunction,
  'remove-function': removeFunction,
  connect,
  reconnect,
  reverse,
  'set-predicates': setPredicates,
  'add-join-condition': addJoinCondition,
  'remove-join-condition': removeJoinCondition,
  'add-graph': addGraph,
  'set-graph': setGraph,
  'add-prefix': addPrefix,
  'rename-prefix': renamePrefix,
  'remove-prefix': removePrefix,
  'set-expert': setExpert,
  'accept-suggestion': acceptSuggestion,
  'reject-suggestion': rejectSuggestion,
  remove,
  duplicate,
  paste,
  move,
  align,
  'lay-out': layOut,
  fold,
  'edit-text': editText,
} as const satisfies Readonly<Record<string, Command<never>>>;

export type CommandName = keyof typeof COMMANDS;

/** The argument of a command. */
export type ArgumentOf<N extends CommandName> = (typeof COMMANDS)[N] extends Command<infer A> ? A : never;
