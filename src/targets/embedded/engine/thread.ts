/** Starts and ends the engine's thread, and carries one question at a time to it. */
import { Worker } from 'node:worker_threads';
import { compiled } from '../../../core/compiled.ts';
import type { FromEngine, ToEngine } from '../messages.ts';

export interface Engine {
  /** One question at a time. After `limitSeconds` (0: never) its thread is ended. Never rejects. */
  ask(message: ToEngine, limitSeconds: number): Promise<FromEngine>;
  end(): Promise<void>;
}

export function startEngine(): Engine {
  const thread = new Worker(compiled('src/targets/embedded/engine/engine.js'));
  let answer: ((message: FromEngine) => void) | undefined;
  let gone: FromEngine | undefined;
  const settle = (message: FromEngine): void => {
    const settled = answer;
    answer = undefined;
    settled?.(message);
  };
  const leave = (reason: 'memory' | 'failed' | 'time', message: string): void => {
    gone ??= { kind: 'failed', reason, message, broken: true };
    settle(gone);
  };
  thread.on('message', settle);
  thread.on('error', (error: NodeJS.ErrnoException) =>
    leave(error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? 'memory' : 'failed', `the thread of the store ended: ${error.message}`),
  );
  thread.on('exit', (code) => leave('failed', `the thread of the store ended with code ${code}`));
  return {
    ask(message, limitSeconds) {
      return new Promise((resolve) => {
        if (gone !== undefined) return resolve(gone);
        const late = (): void => {
          leave('time', `it takes longer than ${limitSeconds} s`);
          void thread.terminate();
        };
        const timer = limitSeconds === 0 ? undefined : setTimeout(late, limitSeconds * 1_000);
        answer = (said) => {
          clearTimeout(timer);
          resolve(said);
        };
        thread.postMessage(message);
      });
    },
    async end() {
      await thread.terminate();
    },
  };
}
