/** Whom to run a server as that does not run as root. */
import { spawnSync } from 'node:child_process';

export interface User {
  readonly uid: number;
  readonly gid: number;
}

/**
 * The first user of `names` that the system has; undefined: ourselves, since we are not root. A text says why there is none.
 */
export function unprivileged(server: string, names: readonly string[]): User | undefined | string {
  if (process.getuid?.() !== 0) return undefined;
  for (const name of names) {
    const user = idsOf(name);
    if (user !== undefined) return user;
  }
  return `${server} does not run as root, and there is no user ${names.join(' or ')}`;
}

function idsOf(name: string): User | undefined {
  const [uid, gid] = ['-u', '-g'].map((flag) => spawnSync('id', [flag, name], { encoding: 'utf8' }));
  if (uid?.status !== 0 || gid?.status !== 0) return undefined;
  return { uid: Number(uid.stdout), gid: Number(gid.stdout) };
}
