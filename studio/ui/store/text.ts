/** The text of the mapping that a document stands for. */
import type { Diagnostic } from '../../../src/mapping/model/model.ts';
import type { ModelOrigin } from '../../client/drafts.ts';
import { setEmpty } from '../../core/commands/elements/inputs.ts';
import type { Language, StudioDocument } from '../../core/document.ts';
import { baseOf } from '../../core/elements/base.ts';
import { begin, perform, type Session } from '../../core/history/history.ts';
import { documentName } from '../../core/read/language.ts';
import { isRefusal } from '../../core/rules/verdict.ts';
import { loadWriting, writeFor } from './writing.ts';

export interface CurrentText {
  /** undefined: the language cannot say something that the document means; the diagnostics say what. */
  readonly text: string | undefined;
  readonly diagnostics: readonly Diagnostic[];
}

/** A text that was edited by hand is kept as it is from then on: its comments and its order are the person's own. */
export const keptOf = ({
  origin,
  session,
}: {
  readonly origin: ModelOrigin;
  readonly session: Pick<Session, 'done'>;
}): ModelOrigin['kept'] => (session.done.some(isOfText) ? 'text' : origin.kept);

export const isOfText = ({ diff }: Session['done'][number]): boolean => diff.text !== undefined;

const printed = new WeakMap<StudioDocument, Promise<CurrentText>>();

/**
 * @param kept `drawn`: the text is printed, once for each document, and the printer is loaded with the first one. `text`: it is the text that
 * was read, with what was drawn since
 */
export function mappingText(document: StudioDocument, kept: 'drawn' | 'text'): Promise<CurrentText> {
  if (kept === 'text') return Promise.resolve({ text: document.text.text, diagnostics: [] });
  const known = printed.get(document);
  if (known !== undefined) return known;
  const text = import('../../core/print/print.ts').then(({ print }) => print(document, document.language));
  printed.set(document, text);
  // The printer could not be loaded: the next one who asks tries again.
  text.catch(() => printed.delete(document));
  return text;
}

/**
 * The mapping in another language, as a separate text: comments and what the canvas does not draw go along.
 *
 * @returns as `mappingText` @throws Error — what it needs cannot be loaded
 */
export async function textIn(language: Language, document: StudioDocument, kept: 'drawn' | 'text'): Promise<CurrentText> {
  if (language === document.language) return mappingText(document, kept);
  const { emptyLost, emptyLostBy, MADE } = await import('../../core/print/print.ts');
  const lost = emptyLost(document, language);
  await loadWriting(document.language);
  // What the language cannot say is switched off, and told.
  const said = lost.reduce((before, { id }) => {
    const after = perform(begin(before), setEmpty, { id, isNone: false }, writeFor(kept, document.language));
    return isRefusal(after) ? before : after.session.document;
  }, document);
  const current = await mappingText(said, kept);
  if (current.text === undefined || current.text.trim() === '') return current;
  const { text, diagnostics } = await convertedTo(language, said, current.text);
  const told = lost.map(
    (input): Diagnostic => ({
      severity: 'warning',
      code: 'changed-meaning',
      origin: MADE,
      message: emptyLostBy(input, language),
      hint: undefined,
    }),
  );
  return { text, diagnostics: [...told, ...diagnostics] };
}

/**
 * The text of a document in a form in which each drawn element can be changed alone: YARRRML without its short forms, Turtle with what is
 * shared apart. Comments stay. @returns as `mappingText` @throws as `textIn`
 */
export async function writtenOut(document: StudioDocument): Promise<CurrentText> {
  if (document.language === 'yarrrml') return convertedTo(document.language, document, document.text.text);
  const { writeOut } = await import('../../core/text/turtle/write-out.ts');
  return { text: await writeOut(document), diagnostics: [] };
}

async function convertedTo(language: Language, document: StudioDocument, text: string): Promise<CurrentText> {
  const { convertMapping } = await import('../../../src/mapping/convert/convert.ts');
  const name = documentName(document.language === 'yarrrml');
  // Names of triples maps that the text leaves relative begin in YARRRML where its own do.
  const baseIri = baseOf(language === 'yarrrml' ? language : document.language, document.base);
  return convertMapping([{ name, text }], language, { baseIri });
}
