/**
 * In which references a term map is injective: two records with the same term have the same text there.
 *
 * **Claim.** Cut the pieces of a term at their separators, which are constant bytes that no value can produce. The term is injective in a
 * reference if all holes between two consecutive cuts belong to that reference.
 *
 * **Proof.** The constant bytes, including the base, are the same for all records, since the term has only one form. Values produce no
 * separator, so the n-th separator of a text is the n-th separator of the constants: equal texts are cut alike. Between two cuts there are
 * constant bytes of a known length and the same written value a known number of times (a reference has one value in a term, however often
 * it occurs). This gives the length and position of the written value, and thus the written value. Writing is injective: percent-encoding
 * encodes `%` itself; the escapes of literals, of unsafe IRIs and of blank node labels each begin with a character that is itself escaped,
 * and work byte by byte. A value that does not correspond to one text (canonical forms, unencoded URIs) is a hole without a reference.
 *
 * Values that are not encoded can produce any byte: there are no separators, and a term with several references is injective in none of
 * them. The same holds for a term with two forms: `http` and `//e/x` written as `{a}:{b}` may be the base followed by something else.
 */
import type { WrittenTerm } from './written.ts';
import { SEPARATOR } from './written.ts';

const NONE: ReadonlySet<string> = new Set();

/** The references whose texts (not datatypes) a term determines. */
export function injectiveReferences({ forms, encoded }: WrittenTerm): ReadonlySet<string> {
  const [form] = forms;
  if (form === undefined || forms.length > 1) return NONE;
  const found = new Set<string>();
  let between = new Set<string | undefined>();
  const cut = (): void => {
    const [only] = between;
    if (between.size === 1 && only !== undefined) found.add(only);
    between = new Set();
  };
  for (const piece of form) {
    if (typeof piece !== 'string') between.add(piece.reference);
    else if (encoded && SEPARATOR.test(piece)) cut();
  }
  cut();
  return found;
}
