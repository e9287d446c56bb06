/** A text that a person has edited → the document that it stands for, in which what was there before is found again. */
import type { Diagnostic } from '../../../src/mapping/model/model.ts';
import type { StudioDocument } from '../document.ts';
import { readingOf } from '../read/language.ts';
import { read } from '../read/read.ts';
import { matched } from './matched.ts';

export interface Edited {
  readonly document: StudioDocument;
  readonly diagnostics: readonly Diagnostic[];
}

/** Never throws because of the text. One with errors gives what could be read of it. */
export async function readEdited(document: StudioDocument, text: string): Promise<Edited> {
  const { language, apart } = readingOf(document);
  const found = await read(text, language, apart);
  return { document: matched(document, found.document), diagnostics: found.diagnostics };
}
