/** Texts that are not quite Turtle, and are read as what is meant, with a warning. */
import type { Origin } from '../model/model.ts';

/** `@prefix ex : <…>`: published mappings have blanks in front of the colon. */
const BLANKS = /(@?prefix[ \t]+[^\s:<>"'#.]+)([ \t]+):(?=[ \t]*<)/gi;

/**
 * The text of a document with the blanks behind the colon, so that every place stays where it is; undefined if there are none. For a
 * document that is not Turtle: a text in quotes may also hold such words.
 */
export function acceptBlanks(
  text: string,
  document: string,
): { readonly text: string; readonly slips: readonly { origin: Origin; message: string; hint: string }[] } | undefined {
  const slips = [...text.matchAll(BLANKS)].map(({ index, 1: name = '' }) => {
    const lines = text.slice(0, index + name.length).split(/\r\n|\r|\n/);
    const origin = { document, line: lines.length, column: (lines.at(-1) ?? '').length + 1 };
    const written = name.replace(/\s+/, ' ');
    return { origin, message: `a blank in front of the colon of \`${written} :\``, hint: `write ${written}: <…>` };
  });
  return slips.length === 0 ? undefined : { text: text.replace(BLANKS, '$1:$2'), slips };
}
