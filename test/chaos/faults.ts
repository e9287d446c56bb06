/**
 * The table of faults: how often each occurs, why it may be impossible, and what it does. `inject` undoes the fault before it resolves.
 * Faults of another server are further rows, with that server as a field of `World`.
 */
import { spawn, spawnSync } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Random } from '../support/random.ts';
import type { FleetProcess } from './fleet/process.ts';
import { LOCK_SECONDS, STOP_LIMIT_MS, untilReady, type World } from './fleet/world.ts';

export interface FaultKind {
  readonly weight: number;
  readonly summary: string;
  /** Why it is not possible here; undefined: it is. */
  missing?(world: World): string | undefined;
  /** False: the process or server is in use by other faults. */
  inject(world: World, random: Random): Promise<boolean>;
}

const canTrace = spawnSync('strace', ['-V']).status === 0;

export const FAULTS = {
  'kill-worker': {
    weight: 6,
    summary: 'kill -9 of a worker, started again at once',
    inject: ({ workers }, random) => killOne(workers, 0, random),
  },
  'lose-worker': {
    weight: 3,
    summary: 'kill -9 of a worker, started again seconds later',
    inject: ({ workers }, random) => killOne(workers, random.between(1_000, 6_000), random),
  },
  'kill-api': {
    weight: 3,
    summary: 'kill -9 of the API, started again soon',
    inject: ({ api }, random) => killOne([api], random.between(0, 2_000), random),
  },
  'pause-worker': {
    weight: 4,
    summary: 'a worker sleeps (SIGSTOP), often for longer than its locks live',
    inject: (world, random) => pauseOne(world.workers, random.between(1_000, 6_000 * LOCK_SECONDS), random),
  },
  'pause-api': {
    weight: 2,
    summary: 'the API sleeps (SIGSTOP)',
    inject: (world, random) => pauseOne([world.api], random.between(1_000, 5_000), random),
  },
  'kill-redis': {
    weight: 2,
    summary: 'kill -9 of Redis, started again on its files',
    inject: (world, random) =>
      withServer(world.redis, async () => {
        await world.redis.restart(random.between(100, 2_500));
        const back = Date.now();
        if (world.api.isUp && (await untilReady(world.url, 20_000)) && world.api.isUp) world.returns.push(Date.now() - back);
      }),
  },
  'pause-redis': {
    weight: 1,
    summary: 'Redis sleeps (SIGSTOP)',
    inject: ({ redis }, random) => withServer(redis, () => redis.pause(random.between(500, 4_000))),
  },
  'kill-kafka': {
    weight: 2,
    summary: 'kill -9 of the broker, started again seconds later',
    missing: ({ kafka }) => (typeof kafka === 'string' ? kafka : undefined),
    async inject({ kafka }, random) {
      if (typeof kafka === 'string') return false;
      return withServer(kafka, async () => {
        await kafka.server.crash();
        await sleep(random.between(500, 4_000));
        await kafka.server.restart();
      });
    },
  },
  'pause-kafka': {
    weight: 1,
    summary: 'the broker sleeps (SIGSTOP)',
    missing: ({ kafka }) => (typeof kafka === 'string' ? kafka : undefined),
    async inject({ kafka }, random) {
      if (typeof kafka === 'string') return false;
      return withServer(kafka, async () => {
        kafka.server.pause();
        await sleep(random.between(500, 4_000));
        kafka.server.resume();
      });
    },
  },
  'kill-database': {
    weight: 1,
    summary: 'kill -9 of the database, started again soon',
    missing: ({ database }) => (typeof database === 'string' ? database : undefined),
    async inject({ database }, random) {
      if (typeof database === 'string') return false;
      return withServer(database, async () => {
        const waitMs = random.between(100, 2_000);
        try {
          await database.server.crash();
          await sleep(waitMs);
        } finally {
          await database.server.restart();
        }
      });
    },
  },
  deploy: {
    weight: 1,
    summary: 'SIGTERM of every process in turn, the next one when its successor is ready',
    async inject({ api, workers }, random) {
      let stopped = 0;
      for (const member of random.shuffle([api, ...workers])) {
        const done = await withMember([member], random, async () => {
          await member.stop(STOP_LIMIT_MS);
          await member.start();
        });
        if (done) stopped++;
      }
      return stopped > 0;
    },
  },
  'full-disk': {
    weight: 1,
    summary: 'not a byte is left on the disk of output and spill',
    missing: ({ disk }) => (typeof disk === 'string' ? disk : undefined),
    async inject({ disk }, random) {
      if (typeof disk === 'string') return false;
      disk.fill();
      await sleep(random.between(500, 3_000));
      disk.free();
      return true;
    },
  },
  'slow-disk': {
    weight: 1,
    summary: 'everything that a worker writes or renames takes 50 ms',
    missing: () => (canTrace ? undefined : 'there is no strace, which delays system calls'),
    inject: ({ workers }, random) =>
      withMember(workers, random, async (member) => {
        const calls = 'fsync,fdatasync,rename,renameat,renameat2,openat,pwrite64,unlink';
        const args = ['-f', '-qq', '-o', '/dev/null', '-e', `trace=${calls}`, '-e', `inject=${calls}:delay_enter=50000`];
        const tracer = spawn('strace', [...args, '-p', String(member.pid)], { stdio: 'ignore' });
        const ended = new Promise((resolve) => tracer.once('close', resolve));
        await sleep(random.between(1_000, 3_000));
        tracer.kill('SIGINT');
        const force = setTimeout(() => tracer.kill('SIGKILL'), 2_000);
        await ended;
        clearTimeout(force);
      }),
  },
  'cut-inputs': {
    weight: 1,
    summary: 'connections to the server of inputs break, those under way as well as new ones',
    async inject({ inputs }, random) {
      inputs.cut(true);
      await sleep(random.between(200, 1_500));
      inputs.cut(false);
      return true;
    },
  },
} as const satisfies Readonly<Record<string, FaultKind>>;

export type FaultName = keyof typeof FAULTS;

/** Runs `act` on one process that is ready and not in use by another fault. */
async function withMember(
  members: readonly FleetProcess[],
  random: Random,
  act: (member: FleetProcess) => Promise<void>,
): Promise<boolean> {
  const free = members.filter(({ isUp }) => isUp);
  if (free.length === 0) return false;
  const member = random.pick(free);
  member.busy = true;
  try {
    await act(member);
  } finally {
    member.busy = false;
  }
  return true;
}

/** False: in use by another fault. */
async function withServer(server: { busy: boolean }, act: () => Promise<void>): Promise<boolean> {
  if (server.busy) return false;
  server.busy = true;
  try {
    await act();
  } finally {
    server.busy = false;
  }
  return true;
}

/** May also kill a process that is still starting, as real crashes do. */
async function killOne(members: readonly FleetProcess[], waitMs: number, random: Random): Promise<boolean> {
  const free = members.filter(({ busy }) => !busy);
  if (free.length === 0) return false;
  const member = random.pick(free);
  member.busy = true;
  await member.kill();
  await sleep(waitMs);
  member.busy = false;
  await member.start();
  return true;
}

const pauseOne = (members: readonly FleetProcess[], waitMs: number, random: Random): Promise<boolean> =>
  withMember(members, random, async (member) => {
    member.signal('SIGSTOP');
    await sleep(waitMs);
    member.signal('SIGCONT');
  });
