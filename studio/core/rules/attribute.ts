/** X2: an attribute comes from the input of its entity. */
import { levelWords } from '../elements/names.ts';
import { isThing, type Side } from './ends.ts';
import { needsJoin } from './inputs.ts';
import { type CommandCall, type Refusal, refuse } from './verdict.ts';

/** @param instead makes an entity of what the attribute belongs to, and joins it */
export function sameInput(entity: Side, attribute: Side, instead?: () => CommandCall | undefined): Refusal | undefined {
  if (isThing(attribute) || !needsJoin(entity, attribute)) return undefined;
  const [its, mine] = [attribute.input, entity.input];
  if (its === undefined || mine === undefined) return undefined;
  const thing = levelWords(its, attribute.base).join(' ');
  const sentence = `${attribute.name} is in ${its.name}, ${entity.name} in ${mine.name}. Make an entity of the ${thing} and join it.`;
  return refuse('X2', sentence, [attribute.name, its.name, entity.name, mine.name], instead?.());
}
