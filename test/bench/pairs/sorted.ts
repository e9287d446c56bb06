/** Whether two outputs hold the same lines, as often, in any order: their sorted bytes are compared. */
import { spawn } from 'node:child_process';

const SORT = 'export LC_ALL=C; set -e; sort -S 256M -o "$1.sorted" -- "$1"; sort -S 256M -o "$2.sorted" -- "$2"';
/** Lines of the second file are indented. */
const DIFFERENCE = 'cmp -s "$1.sorted" "$2.sorted" || comm -3 "$1.sorted" "$2.sorted" | head -n 1';

/**
 * @returns undefined when they are equal; else the first line that only one of them has
 * @throws Error — a file cannot be read, or there is no room for sorted ones
 */
export async function differingLine(ours: string, theirs: string): Promise<string | undefined> {
  try {
    await shell(SORT, ours, theirs);
    const line = (await shell(DIFFERENCE, ours, theirs)).split('\n', 1)[0] as string;
    if (line === '') return undefined;
    return line.startsWith('\t') ? `only theirs: ${line.slice(1)}` : `only ours: ${line}`;
  } finally {
    await shell('rm -f -- "$1.sorted" "$2.sorted"', ours, theirs);
  }
}

/** @throws Error — with what was said on standard error */
function shell(script: string, ...args: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn('sh', ['-c', script, 'sh', ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
    let out = '';
    let err = '';
    child.stdout.on('data', (chunk) => {
      out += chunk;
    });
    child.stderr.on('data', (chunk) => {
      err += chunk;
    });
    child.on('error', reject).on('close', (code) => (code === 0 ? resolve(out) : reject(new Error(`outputs cannot be compared: ${err}`))));
  });
}
