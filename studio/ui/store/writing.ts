/** What writes drawn changes into the text of a mapping. */

import type { ModelOrigin } from '../../client/drafts.ts';
import type { Language } from '../../core/document.ts';
import type { Write } from '../../core/history/history.ts';
import { refuse } from '../../core/rules/verdict.ts';

let turtle: Write | undefined;
let yarrrml: Write | undefined;

/** Loads what a kept text of a language needs, before it is changed. */
export async function loadWriting(language: Language): Promise<void> {
  if (language !== 'yarrrml') turtle ??= (await import('../../core/text/turtle/patch.ts')).patch;
  else if (yarrrml === undefined) {
    const { loadPatch, patchYarrrml } = await import('../../core/text/yarrrml/patch.ts');
    await loadPatch();
    yarrrml = patchYarrrml;
  }
}

/** The text of a drawn model is printed when it is shown or saved, so no command writes it. */
const NO_EDITS: Write = () => [];

const NOT_LOADED: Write = () => refuse('I9', 'The part of the page that writes the text is not loaded yet. Try again.', []);

export function writeFor(kept: ModelOrigin['kept'], language: Language): Write {
  if (kept === 'drawn') return NO_EDITS;
  return (language === 'yarrrml' ? yarrrml : turtle) ?? NOT_LOADED;
}
