/** Streams an answer at the speed of the client. */
import type { ServerResponse } from 'node:http';
import { Fault } from '../src/core/fault.ts';

/** How a streamed answer ended: sent completely, closed by the client, or failed while it was produced. */
export type StreamEnd = { readonly kind: 'sent' } | { readonly kind: 'closed' } | { readonly kind: 'failed'; readonly fault: Fault };

/** A client that reads nothing for this long counts as gone, so that resources such as a database connection are released. */
const STALL_MS = 60_000;

/**
 * Writes `chunks` to the response with backpressure, and ends it; stops reading them when the client closes the connection.
 *
 * If producing the answer fails, the connection is cut, so that the client does not take a part for the whole. Never throws.
 */
export async function sendStream(
  response: ServerResponse,
  chunks: AsyncIterable<Uint8Array>,
  trailers: () => Readonly<Record<string, string>> = () => ({}),
  stallMs = STALL_MS,
): Promise<StreamEnd> {
  try {
    for await (const chunk of chunks) {
      if (isGone(response)) return { kind: 'closed' };
      if (response.write(chunk) || (await waitForEvent(response, 'drain', stallMs))) continue;
      response.destroy();
      return { kind: 'closed' };
    }
    if (isGone(response)) return { kind: 'closed' };
    response.addTrailers({ ...trailers() });
    response.end();
    if (await waitForEvent(response, 'finish', stallMs)) return { kind: 'sent' };
    response.destroy();
    return { kind: 'closed' };
  } catch (error) {
    if (isGone(response)) return { kind: 'closed' };
    response.destroy();
    return { kind: 'failed', fault: Fault.of(error) };
  }
}

const isGone = (response: ServerResponse): boolean => response.destroyed || response.socket?.destroyed === true;

/** Whether the event comes in time and before the client closes the connection. */
function waitForEvent(response: ServerResponse, event: 'drain' | 'finish', stallMs: number): Promise<boolean> {
  if (event === 'finish' && response.writableFinished) return Promise.resolve(true);
  if (isGone(response)) return Promise.resolve(false);
  return new Promise((resolve) => {
    const settle = (reached: boolean): void => {
      clearTimeout(timer);
      response.off(event, onEvent);
      response.off('close', onClose);
      resolve(reached);
    };
    const onEvent = (): void => settle(true);
    const onClose = (): void => settle(response.writableFinished);
    const timer = setTimeout(() => settle(false), stallMs);
    response.on(event, onEvent);
    response.on('close', onClose);
  });
}
