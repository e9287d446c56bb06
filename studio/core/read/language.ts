/** Recognises the language of a text. */
import type { Dialect } from '../../../src/mapping/model/model.ts';
import type { Language, StudioDocument } from '../document.ts';
import { type Apart, apartIn } from './apart.ts';

/** Whether a text looks like YARRRML: it has a section of that at the beginning of a line, and no statement of Turtle begins there. */
export const looksLikeYarrrml = (text: string): boolean =>
  /^(?:prefixes|mappings?|m|sources|views|base|external|authors|targets)\s*:(?:\s|$)/m.test(text) &&
  !/^\s*(?:@prefix|@base|PREFIX\s)/im.test(text);

/** The name under which the reader of mappings knows the text. */
export const documentName = (isYarrrml: boolean): string => (isYarrrml ? 'mapping.yml' : 'mapping.ttl');

export const languageOf = (isYarrrml: boolean, dialect: Dialect | undefined): Language => (isYarrrml ? 'yarrrml' : (dialect ?? 'rml'));

/** How the edited text of a document is read. */
export interface Reading {
  /** YARRRML stays that; the text shows which dialect of Turtle it is. */
  readonly language: 'yarrrml' | undefined;
  readonly apart: Apart;
}

export const readingOf = ({ language, records }: StudioDocument): Reading => ({
  language: language === 'yarrrml' ? language : undefined,
  apart: apartIn(records.values()),
});
