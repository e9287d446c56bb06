/** Starts and ends the engine's thread, and sends it one message at a time. */
import { Worker } from 'node:worker_threads';
import { compiled } from '../../../core/compiled.ts';
import type { FromEngine, ToEngine } from '../messages.ts';

export interface Engine {
  /** One message at a time. After `limitSeconds` (0: never) the thread is ended. Never rejects. */
  ask(message: ToEngine, limitSeconds: number): Promise<FromEngine>;
  /** What runs fails as one that takes too long, with `why`. */
  end(why?: string): Promise<void>;
}

export function startEngine(): Engine {
  const thread = new Worker(compiled('src/targets/embedded/engine/engine.js'));
  let answer: ((message: FromEngine) => void) | undefined;
  let ended: FromEngine | undefined;
  const settle = (message: FromEngine): void => {
    const settled = answer;
    answer = undefined;
    settled?.(message);
  };
  const fail = (reason: 'memory' | 'failed' | 'time', message: string): void => {
    ended ??= { kind: 'failed', reason, message, broken: true };
    settle(ended);
  };
  thread.on('message', settle);
  thread.on('error', (error: NodeJS.ErrnoException) =>
    fail(error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? 'memory' : 'failed', `the thread of the store ended: ${error.message}`),
  );
  thread.on('exit', (code) => fail('failed', `the thread of the store ended with code ${code}`));
  return {
    ask(question, limitSeconds) {
      return new Promise((resolve) => {
        if (ended !== undefined) return resolve(ended);
        const expire = (): void => {
          fail('time', `it takes longer than ${limitSeconds} s`);
          void thread.terminate();
        };
        const timer = limitSeconds === 0 ? undefined : setTimeout(expire, limitSeconds * 1_000);
        answer = (message) => {
          clearTimeout(timer);
          resolve(message);
        };
        thread.postMessage(question);
      });
    },
    async end(why) {
      if (why !== undefined) fail('time', why);
      await thread.terminate();
    },
  };
}
