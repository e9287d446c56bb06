/** Drawn changes as edits of a text of Turtle; what it has no place for is refused, with an offer to write it out where that helps. */
import type { StudioDocument } from '../../document.ts';
import { sameModel } from '../../elements/records.ts';
import type { TextEdit } from '../../history/edits.ts';
import type { Refusal } from '../../rules/verdict.ts';
import { Unpatched, WRITE_OUT } from '../unpatched.ts';
import { patchEdits } from './edits.ts';
import { formEdits } from './write-out.ts';

/** The edits that bring the text of `before` up to date with what `after` means. None: the text says it already. */
export function patch(before: StudioDocument, after: StudioDocument): readonly TextEdit[] | Refusal {
  if (sameModel(before, after)) return [];
  try {
    return patchEdits(before, after);
  } catch (error) {
    if (!(error instanceof Unpatched)) throw error;
    return error.isOfForm && formEdits(before).length > 0 ? { ...error.refusal, instead: WRITE_OUT } : error.refusal;
  }
}
