/** The rules for an edge between two ends, in their order: the first refusal is the answer. */
import type { Edge, EdgeForm, StudioDocument } from '../document.ts';
import { formOf } from '../elements/form.ts';
import { sameInput } from './attribute.ts';
import { isOneBranch } from './branches.ts';
import { joinsOneLevel, runsDown } from './direction.ts';
import { asEntity, isThing, type Side, sideOf } from './ends.ts';
import { inOneObject } from './hierarchy.ts';
import { joinNote, joinsAll, needsJoin } from './inputs.ts';
import { sameGrouping } from './mixing.ts';
import { mayStart } from './outgoing.ts';
import { isNew } from './repeated.ts';
import { type CommandCall, isRefusal, type Refusal } from './verdict.ts';

export interface Link {
  readonly form: EdgeForm;
  readonly note?: string;
}

/** What refusals offer. */
export interface Offers {
  /** Draws an upward edge the other way. */
  readonly otherWay?: () => CommandCall | undefined;
  /** Makes an entity in the other input and joins it. */
  readonly joined?: () => CommandCall | undefined;
}

/** @param isJoin joins entities by keys though they read one input */
export function linkOf(document: StudioDocument, from: Side, to: Side, isJoin: boolean, offers: Offers = {}): Link | Refusal {
  const mixed = sameGrouping(from, to);
  if (mixed !== undefined) return mixed;
  if (needsJoin(from, to)) {
    return joinsAll(from, to) ?? sameInput(from, to, offers.joined) ?? { form: 'join', note: joinNote(from, to) };
  }
  const astray = inOneObject(from, to);
  if (astray !== undefined) return astray;
  const keyed = isJoin && isThing(to) && to.levels.length > 0;
  const refusal = (keyed ? joinsOneLevel(from, to) : runsDown(from, to, offers.otherWay)) ?? isOneBranch(document, from, to);
  if (refusal !== undefined) return refusal;
  if (keyed) return { form: 'join', note: `Say which fields of ${from.name} and ${to.name} match.` };
  const form = formOf({ base: from.base, value: from.value, format: from.input?.format }, to);
  const isSelf = from.id !== undefined && from.id === to.id;
  return isSelf ? { form, note: `every ${lowerFirst(from.name)} points at itself` } : { form };
}

const lowerFirst = (name: string): string => name.replace(/^./u, (first) => first.toLowerCase());

/** What the rules say of an edge that is there (invariant I3). */
export const checkEdge = (document: StudioDocument, edge: Edge): Link | Refusal =>
  checked(document, edge, (from, to) => isNew(document, from, to, edge.predicates, edge.id));

/** Why an edge is drawn with a warning: what was read from a text, or an expert has drawn, may break R2 and R3. undefined: it does not. */
export function warningOf(document: StudioDocument, edge: Edge): string | undefined {
  const link = checked(document, edge, () => undefined);
  return isRefusal(link) && (link.rule === 'R2' || link.rule === 'R3') ? link.sentence : undefined;
}

function checked(document: StudioDocument, edge: Edge, repeated: (from: Side, to: Side) => Refusal | undefined): Link | Refusal {
  const [from, to] = [edge.from, edge.to].map((id) => sideOf(document, new Map(), { kind: 'element', id }));
  if (from === undefined || to === undefined) throw new Error('an element always has a side');
  if (isRefusal(from)) return from;
  if (isRefusal(to)) return to;
  const subject = from.kind === 'attribute' ? asEntity(from) : from;
  return mayStart(document, edge.from, true) ?? repeated(subject, to) ?? linkOf(document, subject, to, edge.form === 'join');
}
