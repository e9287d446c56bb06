/** Skolemisation: blank nodes as IRIs, so that a file may be cut anywhere and written twice (RDF 1.1 Concepts §3.5). */
import { excerpt, Fault } from '../core/fault.ts';
import { encodeUriPart, fromBytes, toBytes } from '../core/text.ts';
import { iriProblem } from './check.ts';
import { isName } from './labels.ts';

/**
 * Label without `_:` → `<base><seed>/<label>` without brackets; both are one-byte text. A label that is a name (`labels.ts`) → `<base><label>`,
 * whatever the seed.
 *
 * The same base, seed and label always give the same IRI; different labels or seeds give different IRIs: characters other than letters,
 * digits and `-._~` are percent-encoded in both.
 *
 * @throws Fault config/invalid — the base is not the beginning of an absolute IRI
 */
export function skolemiser(base: string, seed: string): (label: string) => string {
  const before = `${toBytes(base)}${encodeUriPart(toBytes(seed))}/`;
  const problem = iriProblem(before);
  if (problem !== undefined) {
    throw new Fault('config/invalid', `${problem.message}: what the IRIs of blank nodes begin with`, {
      place: { value: excerpt(fromBytes(before)) },
      hint: 'Expected an absolute IRI such as https://example.org/.well-known/genid/',
    });
  }
  const start = toBytes(base);
  return (label) => (isName(label) ? start + label : before + encodeUriPart(label));
}
