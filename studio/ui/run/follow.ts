/** Runs as the page sees them: started, looked at until they end, cancelled. */
import { useEffect, useState } from 'react';
import type { QuadmillClient } from '../../../client/client.ts';
import { pause } from '../../../client/http.ts';
import type { RunView, StudioUser } from '../../../client/types.ts';
import { type Trouble, troubleOf } from '../../client/service.ts';

export type ServiceName = StudioUser['services'][number];

export interface RunPlace {
  readonly service: ServiceName;
  readonly id: string;
}

export interface Followed {
  /** As it was seen last; undefined: it was not seen yet. */
  readonly view: RunView | undefined;
  /** Why it is not seen now. A service that is away is asked on. */
  readonly trouble: Trouble | undefined;
}

const FIRST_PAUSE_MS = 200;
const LONGEST_PAUSE_MS = 2_000;

/** The methods that all services have. */
export function runsOf(
  client: QuadmillClient,
  service: ServiceName,
): Pick<QuadmillClient['graphWriter'], 'getRun' | 'listRuns' | 'cancel' | 'output'> {
  switch (service) {
    case 'semi-structured-transformer':
      return client.semiStructuredTransformer;
    case 'sql-transformer':
      return client.sqlTransformer;
    case 'graph-writer':
      return client.graphWriter;
  }
}

/** Looks at a run until it has ended, or the view is closed. @param started the view of its start, if it is known */
export function useRun(client: QuadmillClient, { service, id }: RunPlace, started?: RunView): Followed {
  const [followed, setFollowed] = useState<Followed>({ view: started, trouble: undefined });
  useEffect(() => {
    const controller = new AbortController();
    const { signal } = controller;
    const look = async (): Promise<void> => {
      for (let pauseMs = FIRST_PAUSE_MS; !signal.aborted; pauseMs = Math.min(pauseMs * 1.5, LONGEST_PAUSE_MS)) {
        try {
          const view = await runsOf(client, service).getRun(id, { signal });
          if (!signal.aborted) setFollowed({ view, trouble: undefined });
          if (view.outcome !== undefined) return;
        } catch (error) {
          const trouble = troubleOf(error);
          if (trouble === undefined || signal.aborted) return;
          setFollowed(({ view }) => ({ view, trouble }));
          if (trouble.kind !== 'away') return;
        }
        // Its only error is that of the signal, which the loop looks at.
        await pause(pauseMs, signal).catch(() => undefined);
      }
    };
    void look();
    return () => controller.abort();
  }, [client, service, id]);
  return followed;
}
