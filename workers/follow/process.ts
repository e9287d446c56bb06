/** The process that follows, as its worker sees it. It does not stop the event loop of the worker, and is ended at any moment. */
import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { compiled } from '../../src/core/compiled.ts';
import { Fault } from '../../src/core/fault.ts';
import { packSecrets } from '../../src/core/secret.ts';
import type { FollowerQuestion, FollowTask, FromFollower, ToFollower } from './messages.ts';

export interface FollowerHooks {
  /** @throws Fault — the follower ends with it */
  answer(question: FollowerQuestion): Promise<void>;
  tell(message: Extract<FromFollower, { readonly kind: 'progress' | 'retry' | 'warning' }>): void;
}

/** How a follower has ended: in order, or with a fault. */
export type FollowerEnd = 'stopped' | 'changed' | Fault;

const SCRIPT = fileURLToPath(compiled('workers/follow/child.js'));
const LAST_WORDS = 500;

export class FollowerProcess {
  readonly #child: ChildProcess;
  /** Resolves when the process is gone. */
  readonly ended: Promise<FollowerEnd>;

  /** @param memoryMb for the heap of JavaScript */
  constructor(task: FollowTask, memoryMb: number, hooks: FollowerHooks) {
    const child = fork(SCRIPT, [], {
      execArgv: ['--no-warnings', `--max-old-space-size=${memoryMb}`],
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    });
    this.#child = child;
    let end: FollowerEnd | undefined;
    let words = '';
    child.stderr?.on('data', (chunk: Buffer) => {
      words = (words + chunk.toString()).slice(-LAST_WORDS);
    });
    child.on('message', (message: FromFollower) => {
      switch (message.kind) {
        case 'ask':
          hooks.answer(message.question).then(
            () => this.#send({ kind: 'answer', id: message.id }),
            (error: unknown) => this.#send({ kind: 'answer', id: message.id, fault: Fault.of(error).toJSON() }),
          );
          return;
        case 'ended':
          end = message.reason;
          return;
        case 'failed':
          end = Fault.from(message.fault);
          return;
        default:
          hooks.tell(message);
      }
    });
    this.ended = new Promise((resolve) => {
      child.on('error', (error) => resolve(new Fault('run/lost', `The follower cannot be started: ${error.message}`, { cause: error })));
      child.on('close', (code, signal) => resolve(end ?? lostFault(code, signal, words, memoryMb)));
    });
    this.#send({ kind: 'follow', task: packSecrets(task) });
  }

  /** The lease is renewed: without that for so long, the process ends itself. */
  renewed(withinMs: number): void {
    this.#send({ kind: 'renewed', withinMs });
  }

  /** Ends it after the epoch. */
  stop(): void {
    this.#send({ kind: 'stop' });
  }

  /** Ends it at once. */
  kill(): void {
    this.#child.kill('SIGKILL');
  }

  #send(message: ToFollower): void {
    // One that is gone has reported that, or its end does.
    if (this.#child.connected) this.#child.send(message, () => undefined);
  }
}

function lostFault(code: number | null, signal: string | null, words: string, memoryMb: number): Fault {
  if (/heap out of memory/.test(words))
    return new Fault('limit/exceeded', `The follower needed more than the ${memoryMb} MB of memory that a thread may use`, {
      limit: 'THREAD_MEMORY_MB',
      hint: 'Raise THREAD_MEMORY_MB, or lower MEMORY_BUDGET_MB',
    });
  const how = signal === null ? `code ${code}` : signal;
  return new Fault('run/lost', `The process of the follower ended with ${how}: ${words.trim().split('\n').at(-1) || 'it said nothing'}`);
}
