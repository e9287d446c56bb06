/** The prefixes that the documents of a mapping declare. */
import { dataPrefixes } from '../turtle/prefixes.ts';
import { type Document, isYarrrml } from './document.ts';

/** Prefix → namespace, without those of mapping vocabularies. The first document that declares a prefix wins. */
export async function prefixesOf(documents: readonly Document[]): Promise<Readonly<Record<string, string>>> {
  const { prefixesIn } = documents.some(isYarrrml) ? await import('../yarrrml/read.ts') : { prefixesIn: () => ({}) };
  const declared = await Promise.all(documents.map((one) => (isYarrrml(one) ? prefixesIn(one.text) : dataPrefixes(one.text))));
  return Object.assign({}, ...declared.toReversed());
}
