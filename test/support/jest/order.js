/**
 * The order of test files: what is most likely to break first, and what takes longest not last.
 *
 * 1. Files that failed the last time, quick ones first.
 * 2. Files near a change, quick ones first: the changed test files, and those in the folder that mirrors a changed source file. A change
 *    that is near to more than a third of all files says nothing and is left out.
 * 3. Files of less than two seconds, which need no server: together they take half a minute and see most mistakes.
 * 4. The others, the longest first, so that all workers end at about the same time.
 */
const QUICK_SECONDS = 2;

/** Files as `{ path, seconds, hasFailed }`, paths relative to the root with slashes; `changed` is a list of such paths. */
export function arrange(files, changed) {
  const folders = new Set(changed.filter((path) => !path.endsWith('.test.ts')).map(mirrorOf));
  const names = new Set(changed);
  const isNear = ({ path }) => names.has(path) || folders.has(folderOf(path));
  const meansLittle = files.filter(isNear).length > files.length / 3;
  const rank = (file) => {
    if (file.hasFailed) return 0;
    if (!meansLittle && isNear(file)) return 1;
    return file.seconds < QUICK_SECONDS ? 2 : 3;
  };
  const ranked = files.map((file) => ({ file, rank: rank(file) }));
  ranked.sort((a, b) => a.rank - b.rank || (a.rank === 3 ? b.file.seconds - a.file.seconds : a.file.seconds - b.file.seconds));
  return ranked.map(({ file }) => file);
}

const folderOf = (path) => path.slice(0, Math.max(0, path.lastIndexOf('/')));
/** `test/` mirrors the rooms. */
const mirrorOf = (path) => (path.startsWith('test/') ? folderOf(path) : `test/${folderOf(path)}`);
