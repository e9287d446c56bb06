/** Answers of the service for a view. */
import { useCallback, useEffect, useState } from 'react';
import type { QuadmillClient } from '../../../../client/client.ts';
import { type Trouble, troubleOf } from '../../../client/service.ts';
import { useVisit } from '../../store/visit.ts';

export interface Asked<T> {
  /** undefined: none yet. It stays while the same is asked again. */
  readonly answer: T | undefined;
  readonly trouble: Trouble | undefined;
  readonly again: () => void;
}

/**
 * Asks when the view appears, and when the key changes.
 *
 * @param key says what is asked; another one asks again
 */
export function useAnswer<T>(key: string, ask: (service: QuadmillClient, signal: AbortSignal) => Promise<T>): Asked<T> {
  const { service } = useVisit();
  const [found, setFound] = useState<{ readonly key: string; readonly answer?: T; readonly trouble?: Trouble | undefined }>({ key });
  const [attempt, setAttempt] = useState(0);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the key says what is asked, another attempt asks again
  useEffect(() => {
    const controller = new AbortController();
    ask(service, controller.signal).then(
      (answer) => !controller.signal.aborted && setFound({ key, answer }),
      (error: unknown) => {
        const trouble = troubleOf(error);
        if (!controller.signal.aborted) setFound({ key, trouble });
      },
    );
    return () => controller.abort();
  }, [service, key, attempt]);
  const again = useCallback(() => setAttempt((number) => number + 1), []);
  const isOwn = found.key === key;
  return {
    answer: isOwn ? found.answer : undefined,
    trouble: isOwn ? found.trouble : undefined,
    again,
  };
}
