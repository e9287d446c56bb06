/** Circles of imports: between files, and between the folders that they stand in. */

export type Import = readonly [from: string, to: string];

/** Each circle as a closed path, `a → b → a`; empty exactly when there is none. Of circles that share an import some may be left out. */
export function findCircles(imports: readonly Import[]): readonly string[] {
  const next = new Map<string, Set<string>>();
  for (const [from, to] of imports) next.set(from, (next.get(from) ?? new Set()).add(to));
  const found: string[] = [];
  const done = new Set<string>();
  const path: string[] = [];
  const visit = (node: string): void => {
    const at = path.indexOf(node);
    if (at >= 0) found.push([...path.slice(at), node].join(' → '));
    if (at >= 0 || done.has(node)) return;
    path.push(node);
    for (const one of next.get(node) ?? []) visit(one);
    path.pop();
    done.add(node);
  };
  for (const node of next.keys()) visit(node);
  return found;
}

const folderOf = (path: string): string => path.slice(0, Math.max(0, path.lastIndexOf('/')));

/** Each folder that a path stands in, from the outermost. */
const foldersOf = (path: string): readonly string[] =>
  path
    .split('/')
    .slice(0, -1)
    .map((_, i, steps) => steps.slice(0, i + 1).join('/'));

/** Imports between folders that stand beside each other, with all that is in them. */
export function siblingImports(imports: readonly Import[]): readonly Import[] {
  return imports.flatMap(([from, to]) => {
    const [a, b] = [foldersOf(from), foldersOf(to)];
    const apart = a.findIndex((folder, i) => folder !== b[i]);
    const [one, other] = [a[apart], b[apart]];
    return one === undefined || other === undefined ? [] : [[one, other] as const];
  });
}

/**
 * Imports of a subfolder by a file that subfolders of the same folder import. What a folder offers to its subfolders is a contract, and a file
 * that puts subfolders together is none.
 */
export function contractsWithParts(imports: readonly Import[]): readonly string[] {
  const inside = (path: string, folder: string): boolean => folderOf(path).startsWith(`${folder}/`);
  const contracts = new Set(imports.filter(([from, to]) => inside(from, folderOf(to))).map(([, to]) => to));
  return imports.filter(([from, to]) => contracts.has(from) && inside(to, folderOf(from))).map(([from, to]) => `${from} → ${to}`);
}
