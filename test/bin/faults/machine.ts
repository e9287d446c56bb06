/** What this machine allows: running as an unprivileged user, and a small disk. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { User } from './trial.ts';

const isRoot = process.getuid?.() === 0;

/** The user to run the program as, so that permissions apply; undefined: the current one. */
export const plainUser: User | undefined = isRoot ? idsOf('nobody') : undefined;

/** Why permissions cannot be tested; undefined: they can. */
export const permissionsMissing: string | undefined = !isRoot
  ? undefined
  : plainUser === undefined
    ? 'root may do everything, and there is no user `nobody`'
    : spawnSync(process.execPath, [resolve('bin/quadmill.js'), '--version'], plainUser).status === 0
      ? undefined
      : 'root may do everything, and the user `nobody` may not run the program where it lies';

/** Why a small disk is not possible; undefined: it is. */
export const smallDiskMissing: string | undefined = probeMount();

/** Mounts a disk of `kilobytes` at `directory` until `end`. */
export function mountSmallDisk(directory: string, kilobytes: number): { end(): void } | undefined {
  const { status } = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${kilobytes}k,mode=755`, 'quadmill-test', directory]);
  return status === 0 ? { end: () => void spawnSync('umount', [directory]) } : undefined;
}

function probeMount(): string | undefined {
  if (!isRoot) return 'only root may mount a small disk';
  const directory = mkdtempSync(join(tmpdir(), 'quadmill-mount-'));
  const disk = mountSmallDisk(directory, 64);
  disk?.end();
  rmSync(directory, { recursive: true });
  return disk === undefined ? 'this machine does not let us mount a small disk' : undefined;
}

function idsOf(name: string): User | undefined {
  const [uid, gid] = ['-u', '-g'].map((flag) => spawnSync('id', [flag, name], { encoding: 'utf8' }));
  return uid?.status === 0 && gid?.status === 0 ? { uid: Number(uid.stdout), gid: Number(gid.stdout) } : undefined;
}
