/** R3: an edge runs within one level, or downwards. */

import type { Path } from '../document.ts';
import { fieldName, nameBehind } from '../elements/path-text.ts';
import { sameLevel, sameOrBelow, sharedSteps } from '../levels.ts';
import type { Side } from './ends.ts';
import { type CommandCall, type Refusal, refuse } from './verdict.ts';

/** Refuses an edge to a level above. @param instead draws it the other way, or opens the text where an expert may write it */
export function runsDown(from: Side, to: Side, instead?: () => CommandCall | undefined): Refusal | undefined {
  const above = to.levels.find((level) => !sameOrBelow(from.base, level) && sameOrBelow(level, from.base));
  return above && nestedBelow(from, from.base, to, above, instead);
}

/** Refuses a join within one input whose ends stand at different levels. */
export function joinsOneLevel(from: Side, to: Side): Refusal | undefined {
  const other = to.levels.find((level) => !sameLevel(from.base, level));
  if (other === undefined) return undefined;
  if (sameOrBelow(from.base, other)) return nestedBelow(to, other, from, from.base);
  return sameOrBelow(other, from.base) ? nestedBelow(from, from.base, to, other) : undefined;
}

function nestedBelow(inner: Side, level: Path, outer: Side, above: Path, instead?: () => CommandCall | undefined): Refusal {
  const list = nameBehind(level, sharedSteps(above, level)) ?? fieldName(level);
  const expert = inner.input?.format === 'xml' ? ' An expert may edit the XPath in the mapping text.' : '';
  const sentence = `${inner.name} is nested in ${list}, below ${outer.name}. An edge runs within one level or downwards.${expert}`;
  return refuse('R3', sentence, [inner.name, list, outer.name], instead?.());
}
