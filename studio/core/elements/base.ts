/** What relative names of triples maps begin with. */
import { DEFAULT_BASE } from '../../../src/mapping/yarrrml/document.ts';
import type { Language } from '../document.ts';

/** Where names begin in a text that declares no base: no name of data begins like that. */
export const NO_BASE = 'http://relative.invalid/';

export const baseOf = (language: Language, base: string | undefined): string => base ?? (language === 'yarrrml' ? DEFAULT_BASE : NO_BASE);

/** `Order` or `#Order` of a triples map's IRI below the base; others stay absolute. */
export function partOf(id: string, base: string): string {
  const start = base.replace(/#.*$/s, '');
  const rest = id.startsWith(start) ? id.slice(start.length) : '';
  return /^#[\w-]+$/.test(rest) || (start.endsWith('/') && /^[\w-]+$/.test(rest)) ? rest : id;
}

/** The IRI, or `_:` and label, of the triples map of a part. */
export const partId = (part: string, base: string): string =>
  /^_:|^[a-z][a-z0-9+.-]*:/i.test(part) ? part : `${base.replace(/#.*$/s, '')}${part}`;
