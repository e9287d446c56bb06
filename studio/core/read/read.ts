/**
 * Text → document: what the reader of mappings makes of it, drawn where the canvas can draw it. Everything else stays text, with a reason.
 *
 * A text with errors gives its diagnostics and a document of what could be read. The text of the document is always the one that was given.
 */
import type { Diagnostic } from '../../../src/mapping/model/model.ts';
import { prefixesOf } from '../../../src/mapping/parse/prefixes.ts';
import { readMapping } from '../../../src/mapping/parse/read.ts';
import type { Language, StudioDocument } from '../document.ts';
import { baseOf } from '../elements/base.ts';
import { turtlePlaces } from '../text/places.ts';
import type { Apart } from './apart.ts';
import { documentName, languageOf, looksLikeYarrrml } from './language.ts';
import { Recognition } from './recognise.ts';

export interface ReadText {
  readonly document: StudioDocument;
  readonly diagnostics: readonly Diagnostic[];
}

/**
 * @param language undefined: found in the text
 * @param apart triples maps that do not become one entity
 */
export async function read(text: string, language: Language | undefined, apart: Apart = []): Promise<ReadText> {
  const isYarrrml = language === undefined ? looksLikeYarrrml(text) : language === 'yarrrml';
  const documents = [{ name: documentName(isYarrrml), text }];
  const base = isYarrrml ? undefined : declaredBase(text);
  const baseIri = baseOf(isYarrrml ? 'yarrrml' : 'rml', base);
  const { mapping, diagnostics } = await readMapping(documents, { baseIri });
  const prefixes = diagnostics.some(({ code }) => code === 'syntax') ? {} : await prefixesOf(documents);
  const places = isYarrrml ? (await import('../text/yarrrml/places.ts')).yamlPlaces(text) : turtlePlaces(text);
  const found = languageOf(isYarrrml, mapping.triplesMaps[0]?.dialect);
  const recognition = new Recognition(mapping, {
    base: baseIri,
    relative: base === undefined && !isYarrrml ? baseIri : undefined,
    places,
    apart,
  });
  const { records, anchors } = recognition.recognise(prefixes);
  const document = { records, language: language ?? found, expert: false, text: { text, anchors }, ...(base !== undefined && { base }) };
  return { document, diagnostics };
}

/** The base that a text of Turtle declares; undefined: none, or several. */
function declaredBase(text: string): string | undefined {
  const declared = [...text.matchAll(/^\s*@?base\s*<([^>\s]*)>/gim)].map((found) => found[1] as string);
  return declared.length === 1 && URL.canParse(declared[0] as string) ? declared[0] : undefined;
}
