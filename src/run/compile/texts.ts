/** The texts of a term for one record: none, one, or several. */
import type { Text } from '../../terms/evaluate.ts';

/** A record with more statements than this yields them in pieces of about this size. */
export const PIECE_STATEMENTS = 4096;

/** The texts without duplicates, so that products of them have none. */
export function distinct(text: Text): Text {
  if (text === null || typeof text === 'string') return text;
  const texts = new Set(text);
  return texts.size === text.length ? text : texts.size === 1 ? (text[0] as string) : [...texts];
}

export const listOf = (text: string | readonly string[]): readonly string[] => (typeof text === 'string' ? [text] : text);
export const countOf = (text: Text): number => (text === null ? 0 : typeof text === 'string' ? 1 : text.length);
