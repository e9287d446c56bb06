/** The mapping of a model in another language, as a file of its own: comments and what the canvas does not draw go along. */

import type { Language } from '../../core/document.ts';
import { baseOf } from '../../core/elements/base.ts';
import { documentName } from '../../core/read/language.ts';
import type { EditorState } from './editor.ts';
import { type CurrentText, keptOf, textOf } from './text.ts';

/** `text` is undefined where the language cannot say it; the diagnostics say what. @throws Error — what it needs cannot be loaded */
export async function converted(state: EditorState, to: Language): Promise<CurrentText> {
  const { document } = state.session;
  const current = await textOf(document, keptOf(state));
  if (current.text === undefined || current.text.trim() === '' || to === document.language) return current;
  const { convertMapping } = await import('../../../src/mapping/convert/convert.ts');
  const name = documentName(document.language === 'yarrrml');
  return convertMapping([{ name, text: current.text }], to, { baseIri: baseOf(document.language, document.base) });
}
