/** Worker processes of a suite (`worker.ts`) on the queue of its server. */
import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { built } from '../project-root.ts';

export interface WorkerProcesses {
  /** In the order of their start, also those that have ended. */
  readonly all: readonly ChildProcess[];
  alive(): readonly ChildProcess[];
  /** Resolves when the worker takes jobs. */
  start(): Promise<ChildProcess>;
  /** Ends those that are alive. */
  kill(): Promise<void>;
}

/** @param place URL, prefix and data directory of the queue, asked for at each start */
export function workerProcesses(place: () => readonly [url: string, prefix: string, directory: string]): WorkerProcesses {
  const all: ChildProcess[] = [];
  const alive = () => all.filter(({ exitCode, signalCode }) => exitCode === null && signalCode === null);
  return {
    all,
    alive,
    async start() {
      const script = fileURLToPath(built('test/support/queues/worker.js'));
      const child = spawn(process.execPath, [script, ...place()], { stdio: ['ignore', 'pipe', 'inherit'] });
      all.push(child);
      await new Promise<void>((resolve, reject) => {
        child.stdout?.once('data', () => resolve());
        child.once('exit', (code) => reject(new Error(`the worker process ended with ${code}`)));
      });
      return child;
    },
    async kill() {
      for (const child of alive()) {
        const ended = new Promise((resolve) => child.once('exit', resolve));
        child.kill('SIGKILL');
        await ended;
      }
    },
  };
}
