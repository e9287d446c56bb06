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
 *
 * **A quoted triple** is injective in what its subject, predicate or object is injective in. Its text `<< s p o >>` determines their texts:
 * an IRI ends at its first `>`, a label at the first space, a literal with its first quote that is not escaped and a language or datatype,
 * a quoted triple with its own `>>`. A term that may be one of several triples is injective in nothing, because two of them may write the
 * same triple with values of different references.
 */
import type { WrittenTerm } from './written.ts';
import { SEPARATOR } from './written.ts';

const NONE: ReadonlySet<string> = new Set();

/** The references whose texts (not datatypes) a term determines. */
export function injectiveReferences(written: WrittenTerm): ReadonlySet<string> {
  if ('triples' in written) {
    const [triple] = written.triples;
    if (triple === undefined || written.triples.length > 1) return NONE;
    const { subject, predicate, object } = triple;
    return new Set([subject, predicate, object].flatMap((part) => [...injectiveReferences(part)]));
  }
  const { forms, encoded } = written;
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
