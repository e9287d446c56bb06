/**
 * Whether two names mean one file.
 *
 * @param a a path, or a URL; relative ones are of the directory
 * @param directory absolute path
 */
export function isSameFile(a: string, b: string, directory: string): boolean {
  const base = `file://${directory.replace(/\/?$/, '/')}`;
  const hrefOf = (name: string): string | undefined => (URL.canParse(name, base) ? new URL(name, base).href : undefined);
  const href = hrefOf(a);
  return href !== undefined && href === hrefOf(b);
}
