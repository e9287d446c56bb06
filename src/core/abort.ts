/**
 * Abort signals that follow other signals or a time limit, and promises with a time limit.
 *
 * `AbortSignal.any` and `AbortSignal.timeout` are not used (`test/project/layers.test.ts` checks): Node 20 may collect a time-out to which
 * only a combined signal refers, and then it never fires.
 */
import { setMaxListeners } from 'node:events';

/**
 * An AbortController that is also aborted by the first of `signals`, with its reason, and after `waitMs`, with a `TimeoutError`.
 *
 * It keeps references to the signals, and they to it, until it is aborted or released. The caller must do one of the two.
 */
export class LinkedAbort {
  readonly #controller = new AbortController();
  readonly #signals: readonly AbortSignal[];
  readonly #timer: NodeJS.Timeout | undefined;
  readonly #follow = (event: Event): void => this.abort((event.target as AbortSignal).reason);
  #timedOut = false;

  constructor(signals: readonly (AbortSignal | undefined)[], waitMs?: number) {
    this.#signals = signals.filter((signal) => signal !== undefined);
    const ended = this.#signals.find((signal) => signal.aborted);
    if (ended !== undefined) {
      this.#controller.abort(ended.reason);
      return;
    }
    // Several controllers may follow one signal; each removes its own listener.
    if (this.#signals.length > 0) setMaxListeners(0, ...this.#signals);
    for (const signal of this.#signals) signal.addEventListener('abort', this.#follow, { once: true });
    if (waitMs === undefined) return;
    this.#timer = setTimeout(() => {
      this.#timedOut = true;
      this.abort(new DOMException(`The operation took longer than ${waitMs / 1000} s`, 'TimeoutError'));
    }, waitMs);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Whether the time limit aborted it. */
  get timedOut(): boolean {
    return this.#timedOut;
  }

  /** Only the first reason counts, as with any AbortController. */
  abort(reason?: unknown): void {
    this.release();
    this.#controller.abort(reason);
  }

  /** Stops following the signals and the time limit. */
  release(): void {
    clearTimeout(this.#timer);
    for (const signal of this.#signals) signal.removeEventListener('abort', this.#follow);
  }
}

/** Runs `act` with a signal that is aborted after `waitMs` or by the first of `signals`. `act` must react to it. */
export async function withLimit<T>(
  waitMs: number,
  act: (signal: AbortSignal) => Promise<T>,
  ...signals: readonly AbortSignal[]
): Promise<T> {
  const limit = new LinkedAbort(signals, waitMs);
  try {
    return await act(limit.signal);
  } finally {
    limit.release();
  }
}

/** The result of `work`, or that of `onTimeout` if `work` takes longer than `waitMs`. `work` goes on; what becomes of it then is ignored. */
export async function within<T, L>(waitMs: number, work: Promise<T>, onTimeout: () => L): Promise<T | L> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, waitMs);
  });
  try {
    return await Promise.race([work, limit.then(onTimeout)]);
  } finally {
    clearTimeout(timer);
  }
}

/** Waits for `work`, but at most `waitMs`. Resolves to whether it settled; a rejection counts as settled. */
export const atMost = (waitMs: number, work: Promise<unknown>): Promise<boolean> => {
  const settled = (): boolean => true;
  return within(waitMs, work.then(settled, settled), () => false);
};
