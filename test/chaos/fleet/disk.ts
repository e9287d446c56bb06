/**
 * A small disk for the fleet's data, which can be filled: a tmpfs in a mount namespace that this process enters by restarting itself. It
 * disappears with the process.
 */
import { spawn, spawnSync } from 'node:child_process';
import { closeSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';

const INSIDE = 'CHAOS_NAMESPACE';

export interface Disk {
  /** Leaves no byte free. */
  fill(): void;
  free(): void;
}

/** The flags of unshare that this user may use; a text is the reason why there are none. */
function namespaceFlags(): readonly string[] | string {
  const all = process.getuid?.() === 0 ? ['-m'] : ['-Urm'];
  const tried = spawnSync('unshare', [...all, 'mount', '-t', 'tmpfs', '-o', 'size=1m', 'chaos', '/mnt'], { encoding: 'utf8' });
  if (tried.status === 0) return all;
  return `no tmpfs can be mounted in a separate namespace: ${tried.error?.message ?? tried.stderr.trim()}`;
}

/** Restarts this program in a mount namespace and resolves to its exit code; undefined: already inside, or not possible. */
export async function enterNamespace(): Promise<number | undefined> {
  if (process.env[INSIDE] !== undefined) return undefined;
  const flags = namespaceFlags();
  process.env[INSIDE] = typeof flags === 'string' ? flags : 'entered';
  if (typeof flags === 'string') return undefined;
  const child = spawn('unshare', [...flags, process.execPath, ...process.argv.slice(1)], { stdio: 'inherit' });
  for (const name of ['SIGTERM', 'SIGINT'] as const) process.on(name, () => child.kill(name));
  return new Promise((resolve) => child.once('close', (code) => resolve(code ?? 1)));
}

/** Mounts a disk of that size at an existing directory; a text is the reason why it cannot. */
export function mountDisk(directory: string, sizeMb: number): Disk | string {
  const inside = process.env[INSIDE];
  if (inside !== 'entered') return inside ?? 'not in a separate mount namespace';
  const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${sizeMb}m,mode=0755`, 'chaos', directory], { encoding: 'utf8' });
  if (mounted.status !== 0) return `no tmpfs can be mounted: ${mounted.stderr.trim()}`;
  const ballast = join(directory, 'ballast');
  return {
    fill() {
      const file = openSync(ballast, 'w');
      try {
        for (const block of [Buffer.alloc(2 ** 20), Buffer.alloc(2 ** 12)]) {
          try {
            for (;;) writeSync(file, block);
          } catch (error) {
            if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
          }
        }
      } finally {
        closeSync(file);
      }
    },
    free: () => rmSync(ballast, { force: true }),
  };
}
