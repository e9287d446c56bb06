/** Commands of what is dropped on the canvas: new elements stand where they were dropped. */
import { move } from '../../core/commands/canvas/places.ts';
import { addedIn, type Command } from '../../core/commands/command.ts';
import { connect } from '../../core/commands/edges/connect.ts';
import { allOf, call, together } from '../../core/commands/together.ts';
import type { FieldRef, StudioDocument } from '../../core/document.ts';
import { fieldName } from '../../core/elements/path-text.ts';
import { edgesTo } from '../../core/elements/records.ts';
import type { Connect, End } from '../../core/rules/verdict.ts';
import { isRefusal, type Refusal } from '../../core/rules/verdict.ts';
import type { Point } from '../parts/layout/layout.ts';
import type { EditorState } from '../store/editor.ts';
import { WORDS } from './words.ts';

/** From one new block to the next: none covers another. */
const STEPS = { entity: 128, attribute: 56 } as const;

/** The blocks that `after` has and `before` has not, at a point and below it. */
function placed(before: StudioDocument, after: StudioDocument, at: Point): StudioDocument | Refusal {
  const added = addedIn(before, after).filter(
    ({ kind, id }) => kind === 'entity' || (kind === 'attribute' && edgesTo(after, id).length === 0),
  );
  if (added.length === 0) return after;
  const positions = added.map(({ id, kind }, i) => ({ of: id, x: at.x, y: at.y + i * STEPS[kind as keyof typeof STEPS] }));
  return move.perform(after, { positions });
}

/** Connects, and puts what is made at a point. */
export const placingNew = (at: Point): Command<Connect> => ({
  ...connect,
  perform(document, argument) {
    const after = connect.perform(document, argument);
    return isRefusal(after) ? after : placed(document, after, at);
  },
});

/** Elements of fields that are dropped on an empty place. */
export function elementsOf(
  { schema }: EditorState,
  fields: readonly FieldRef[],
  as: 'entity' | 'attribute',
  at: Point,
): Command<undefined> {
  const calls = fields.map((ref) => call(connect, { schema, from: { kind: 'field', ref }, to: { kind: 'canvas' }, options: { as } }));
  const command = together(labelOf(fields), labelOf(fields), calls);
  return {
    ...command,
    perform(document) {
      const after = allOf(document, calls);
      return isRefusal(after) ? after : placed(document, after, at);
    },
  };
}

/** Fields that are dropped on an element or on a field. */
export const attributesOf = ({ schema }: EditorState, fields: readonly FieldRef[], to: End): Command<undefined> =>
  together(
    labelOf(fields),
    labelOf(fields),
    fields.map((ref) => call(connect, { schema, from: { kind: 'field', ref }, to })),
  );

const labelOf = (fields: readonly FieldRef[]): string => WORDS.added(fields.map(({ path }) => fieldName(path)).join(', '));
