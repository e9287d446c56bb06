/** How values are written in terms, as the specification says it: for slow evaluators. Text is ordinary text. */

const percent = (character: string): string =>
  [...Buffer.from(character)].map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`).join('');
export const iriPart = (text: string): string => text.replace(/[^A-Za-z0-9\-._~\u00a0-\ud7ff]/g, percent);
export const uriPart = (text: string): string => text.replace(/[^A-Za-z0-9\-._~]/gu, percent);
export const beyondAscii = (text: string): string => text.replace(/[^\u0000-\u007f]/gu, percent);
export const same = (text: string): string => text;

/** With the base if it is relative. */
export const absolute = (text: string, base: string): string => (/^[A-Za-z][A-Za-z0-9+.-]*:/.test(text) ? text : base + text);
export const guarded = (iri: string): string =>
  iri.replace(/[<>"\\\n]/g, (c) => `\\u00${c.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`);

/** A label that tells texts apart; the engine puts a letter in front. */
export const label = (text: string): string =>
  [...Buffer.from(text)]
    .map((b) => (/[A-Za-z0-9]/.test(String.fromCharCode(b)) ? String.fromCharCode(b) : `_${b.toString(16).padStart(2, '0')}`))
    .join('');

export const escaped = (text: string): string => text.replace(/["\\\n]/g, (c) => (c === '\n' ? '\\n' : `\\${c}`));
