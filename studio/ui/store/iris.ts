/** IRIs as a person writes and reads them: with the prefixes of the model, or a name alone. */
import { USUAL_PREFIXES } from '../../../src/mapping/vocabulary/namespaces.ts';
import type { StudioDocument } from '../../core/document.ts';
import { iriBase, isAbsoluteIri } from '../../core/elements/iris.ts';
import { recordsOf } from '../../core/elements/records.ts';

/** By name: those of the model, then the usual ones. */
export const prefixesOf = (document: StudioDocument): ReadonlyMap<string, string> =>
  new Map([...Object.entries(USUAL_PREFIXES), ...recordsOf(document, 'prefix').map(({ name, iri }) => [name, iri] as const)]);

/** Of IRIs without `//`. */
const SCHEMES: ReadonlySet<string> = new Set(['urn', 'tag', 'mailto', 'tel', 'doi', 'info', 'did', 'ni', 'geo', 'data']);

/**
 * `schema:name` → its IRI, `<https://…>` and `https://…` → themselves, `unit price` → a name below the base of the model.
 *
 * @returns undefined: it is empty, or no IRI can be made of it
 */
export function writtenIri(document: StudioDocument, written: string): string | undefined {
  const text = written.trim().replace(/^<(.*)>$/, '$1');
  const [, prefix, local] = /^([\w.-]*):(?!\/\/)(.*)$/s.exec(text) ?? [];
  const namespace = prefix === undefined ? undefined : prefixesOf(document).get(prefix);
  const iri = namespace === undefined ? text : `${namespace}${local}`;
  if (text === '') return undefined;
  // An undeclared prefix is a slip, unless it is a scheme that names begin with.
  if (prefix !== undefined && namespace === undefined && !SCHEMES.has(prefix.toLowerCase())) return undefined;
  if (isAbsoluteIri(iri)) return iri;
  const named = `${iriBase(document.base)}${encodeURIComponent(text.replace(/\s+/g, '_'))}`;
  return /[:/#]/.test(text) || !isAbsoluteIri(named) ? undefined : named;
}

/** `https://schema.org/name` → `schema:name`, where a prefix fits; the longest one wins. Below the base of the model: the name alone. */
export const shortIri = (document: StudioDocument, iri: string): string => shortIrisOf(document)(iri);

/** As `shortIri`; where no prefix fits, the end of it, which distinguishes it from others: `…/onto#name`. */
export const briefIri = (document: StudioDocument, iri: string): string => endOfIri(shortIri(document, iri), 1);

/** The last segments of an IRI with `//`; other texts stay. */
export const endOfIri = (iri: string, segments: 1 | 2): string =>
  iri.replace(segments === 1 ? /^[a-z][a-z\d+.-]*:\/\/.*?(?=\/[^/]*$)/i : /^[a-z][a-z\d+.-]*:\/\/.*?(?=(?:\/[^/]*){1,2}$)/i, '…');

/** `shortIri` for many IRIs. */
export function shortIrisOf(document: StudioDocument): (iri: string) => string {
  const prefixes = [...prefixesOf(document)].sort(([, a], [, b]) => b.length - a.length);
  const base = iriBase(document.base);
  return (iri) => {
    const best = prefixes.find(([, namespace]) => iri.startsWith(namespace) && /^[\w-]*$/.test(iri.slice(namespace.length)));
    if (best !== undefined) return `${best[0]}:${iri.slice(best[1].length)}`;
    return iri.startsWith(base) && /^[\w-]+$/.test(iri.slice(base.length)) ? iri.slice(base.length) : iri;
  };
}
