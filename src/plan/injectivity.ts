/**
 * Which values of a record can be read back off a term that it makes: two records with the same term have the same text there.
 *
 * **Claim.** Cut the pieces of a term at their separators: constant bytes that no value can give. A reference is recoverable if all
 * holes between two cuts are its own.
 *
 * **Proof.** The constant bytes are the same for all records, base included, since the term has one form only. Values give no separator,
 * so the n-th separator of a text is the n-th of the constants: equal texts are cut alike. What lies between two cuts is constant bytes
 * of a known length and the same written value a known number of times (a reference has one value in a term, however often it stands
 * there), which gives that value's length, its place, and so the written value. Writing is injective: percent-encoding encodes `%` itself;
 * the escapes of literals, of unsafe IRIs and of blank nodes' labels each begin with a character that is escaped itself, and go byte by
 * byte. A value without one text to go back to (canonical forms, URIs made of values as they are) is a hole without a reference.
 *
 * Values that are not encoded give any byte: there are no separators, and a term of several references recovers none of them. Nor does a
 * term with two forms: `http` and `//e/x` written as `{a}:{b}` may be the base and something else.
 */
import type { WrittenTerm } from './written.ts';
import { SEPARATOR } from './written.ts';

const NONE: ReadonlySet<string> = new Set();

/** The references whose texts (not datatypes) a term says. */
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
