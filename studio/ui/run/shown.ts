import type { RunView } from '../../../client/types.ts';
import type { EditorState } from '../store/editor.ts';
import { WORDS } from './words.ts';

/** The run that the dialog shows. */
export interface Shown {
  readonly view: RunView;
  /** Bytes of all inputs, where they were checked and are known. */
  readonly ofBytes?: number | undefined;
}

/** Why the model cannot be run; undefined: it can. */
export function whyNotRunnable({ origin, role }: EditorState): string | undefined {
  if (role === 'viewer') return WORDS.needsOperator;
  return origin.etag === undefined ? WORDS.neverSaved : undefined;
}
