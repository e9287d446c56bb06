/** Names of a path → tests of the names of one document. */
import { toBytes } from '../../../core/text.ts';
import type { NamePattern } from '../../../paths/xml/path.ts';
import type { Name, NameTable } from '../names.ts';

/** True for the names that match a pattern in one document. */
export type NameTest = (name: Name) => boolean;

/**
 * Binds a pattern to namespaces. `resolve` returns the IRI of a prefix (for elements also of the empty one); undefined: compare with the
 * prefix as the document writes it.
 */
export function nameTest(pattern: NamePattern, names: NameTable, resolve: (prefix: string) => string | undefined): NameTest {
  const { prefix, local } = pattern;
  if (prefix === undefined) {
    const wanted = local === undefined ? undefined : toBytes(local);
    return (found) => wanted === undefined || found.local === wanted;
  }
  const uri = pattern.ofAttribute === true ? '' : resolve(prefix);
  if (uri === undefined) {
    const wanted = toBytes(prefix);
    const name = local === undefined ? undefined : toBytes(local);
    return (found) => found.prefix === wanted && (name === undefined || found.local === name);
  }
  if (local === undefined) {
    const wanted = toBytes(uri);
    return (found) => found.uri === wanted;
  }
  const id = names.id(toBytes(uri), toBytes(local));
  return (found) => found.id === id;
}
