/** What writes drawn changes into the text of a mapping. */

import type { ModelOrigin } from '../../client/drafts.ts';
import type { Write } from '../../core/history/history.ts';
import { refuse } from '../../core/rules/verdict.ts';

let patch: Write | undefined;

/** Loads what a kept text needs, before it is changed. */
export async function loadWriting(): Promise<void> {
  patch ??= (await import('../../core/text/patch.ts')).patch;
}

/** The text of a drawn model is printed when it is shown or saved, so no command writes it. */
const NO_EDITS: Write = () => [];

const NOT_LOADED: Write = () => refuse('I9', 'The part of the page that writes the text is not loaded yet. Try again.', []);

export const writeFor = (kept: ModelOrigin['kept']): Write => (kept === 'drawn' ? NO_EDITS : (patch ?? NOT_LOADED));
