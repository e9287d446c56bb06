/** Escapes of N-Quads: reads every form of the grammar, writes the canonical form. All text is one-byte. */
import { fromBytes, toBytes } from '../core/text.ts';
import type { TermProblem } from './check.ts';

/** What follows a backslash in the canonical form. */
const NAMED: Readonly<Record<string, string>> = {
  '"': '\\"',
  '\\': '\\\\',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\b': '\\b',
  '\f': '\\f',
};

/** ECHAR: the character for the letter after a backslash. */
const MEANT: Readonly<Record<string, string>> = { t: '\t', b: '\b', n: '\n', r: '\r', f: '\f', '"': '"', "'": "'", '\\': '\\' };

const IN_LITERAL = /\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|([^]))|[\x00-\x1f\x7f]/g;
const IN_IRI = /\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|([^]|$))/g;

/** The text between the quotes of a literal, with canonical escapes only. */
export function canonicalLiteral(text: string): string | TermProblem {
  let problem: TermProblem | undefined;
  const canonical = text.replace(IN_LITERAL, (found: string, u?: string, U?: string, letter?: string, at = 0) => {
    if (letter !== undefined) {
      const meant = MEANT[letter];
      if (meant === undefined) problem ??= unknownEscape(text, at);
      return escaped(meant ?? '');
    }
    const hex = u ?? U;
    if (hex === undefined) return escaped(found);
    const character = fromHex(hex);
    if (character === undefined) problem ??= noCharacter(found, at);
    return escaped(character ?? '');
  });
  return problem ?? canonical;
}

/** An IRI without brackets, with all escapes replaced by the characters that they mean, even if the result is not an IRI. */
export function decodedIri(text: string): string | TermProblem {
  let problem: TermProblem | undefined;
  const decoded = text.replace(IN_IRI, (found: string, u?: string, U?: string, letter?: string, at = 0) => {
    if (letter !== undefined) problem ??= unknownEscape(text, at);
    const character = fromHex(u ?? U ?? '0');
    if (character === undefined) problem ??= noCharacter(found, at);
    return toBytes(character ?? '');
  });
  return problem ?? decoded;
}

function escaped(character: string): string {
  const named = NAMED[character];
  if (named !== undefined) return named;
  const code = character.charCodeAt(0);
  return code < 0x20 || code === 0x7f ? `\\u${code.toString(16).toUpperCase().padStart(4, '0')}` : toBytes(character);
}

/** Undefined: the number is not a character (surrogates included). */
function fromHex(hex: string): string | undefined {
  const point = Number.parseInt(hex, 16);
  return point > 0x10ffff || (point >= 0xd800 && point <= 0xdfff) ? undefined : String.fromCodePoint(point);
}

const noCharacter = (escape: string, at: number): TermProblem => ({
  message: `${JSON.stringify(escape).replaceAll('\\\\', '\\')} stands for no character`,
  at,
  hint: 'Write a character beyond U+FFFF as \\U and eight digits: surrogates are none',
});

const unknownEscape = (text: string, at: number): TermProblem => ({
  message: `${JSON.stringify(fromBytes(text.slice(at, at + 6))).replaceAll('\\\\', '\\')} begins with no escape that N-Quads has`,
  at,
  hint: 'Double a backslash that belongs to the text',
});
