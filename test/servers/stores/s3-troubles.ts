/** What stands between a reader and a real object storage in a test: it lets requests through, or makes trouble with their answers. */
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export type Trouble =
  | { readonly status: number; readonly body: string; readonly headers?: Readonly<Record<string, string>> }
  /** Ends the connection after so many bytes of the body. */
  | { readonly cutAfter: number }
  /** Sends so many bytes of the body, and no more. */
  | { readonly stopAfter: number }
  /** Ends the connection after so many bytes of what was sent, before the storage has them. */
  | { readonly resetAfter: number }
  /** The storage does what it is asked for, and its answer is lost. */
  | 'unanswered'
  /** One byte at a time, for the first ones. */
  | 'slow';

export interface Troubles {
  readonly endpoint: string;
  /** Called for each request; undefined: it passes. What it awaits happens before the storage has the request. */
  trouble: (asked: Asked) => Trouble | undefined | Promise<Trouble | undefined>;
  readonly seen: Asked[];
  stop(): Promise<void>;
}

export interface Asked {
  readonly method: string;
  /** With the query. */
  readonly path: string;
  readonly range: string | undefined;
  readonly ifMatch: string | undefined;
  /** Headers that ask for encryption at rest. */
  readonly encryption: Readonly<Record<string, unknown>>;
}

/** Passes on to `endpoint`. The header `host` stays, since it is part of the signature. */
export async function startTroubles(endpoint: string): Promise<Troubles> {
  const seen: Asked[] = [];
  const handle = async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
    const { range, 'if-match': ifMatch } = incoming.headers;
    const asked = { method: incoming.method as string, path: incoming.url as string, range, ifMatch, encryption: encryptionOf(incoming) };
    seen.push(asked);
    const trouble = await troubles.trouble(asked);
    if (trouble !== undefined && typeof trouble === 'object' && 'status' in trouble) {
      incoming.resume();
      outgoing.writeHead(trouble.status, { 'content-type': 'application/xml', ...trouble.headers }).end(trouble.body);
      return;
    }
    if (typeof trouble === 'object' && 'resetAfter' in trouble) {
      let received = 0;
      incoming.on('data', (chunk: Buffer) => {
        received += chunk.length;
        if (received >= trouble.resetAfter) incoming.destroy();
      });
      return;
    }
    const passed = request(`${endpoint}${incoming.url}`, { method: asked.method, headers: incoming.headers }, (answer) => {
      outgoing.writeHead(answer.statusCode as number, answer.headers);
      if (trouble === 'unanswered') answer.resume().on('end', () => outgoing.destroy());
      else if (trouble === undefined) answer.pipe(outgoing);
      else send(answer, outgoing, trouble).catch(() => outgoing.destroy());
    });
    passed.on('error', () => outgoing.destroy());
    incoming.pipe(passed);
  };
  const encryptionOf = ({ headers }: IncomingMessage) =>
    Object.fromEntries(Object.entries(headers).filter(([name]) => name.startsWith('x-amz-server-side-encryption')));
  const server = createServer((incoming, outgoing) => void handle(incoming, outgoing).catch(() => outgoing.destroy()));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const troubles: Troubles = {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    trouble: () => undefined,
    seen,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return troubles;
}

const SLOW_BYTES = 64;

async function send(
  answer: IncomingMessage,
  outgoing: ServerResponse,
  trouble: Exclude<Trouble, { readonly status: number } | { readonly resetAfter: number } | 'unanswered'>,
): Promise<void> {
  const written = (bytes: Uint8Array): Promise<void> => new Promise((resolve) => outgoing.write(bytes, () => resolve()));
  const body = Buffer.concat(await answer.toArray());
  if (trouble === 'slow') {
    for (let at = 0; at < Math.min(SLOW_BYTES, body.length); at++) await written(body.subarray(at, at + 1));
    outgoing.end(body.subarray(SLOW_BYTES));
  } else if ('cutAfter' in trouble) {
    await written(body.subarray(0, trouble.cutAfter));
    outgoing.destroy();
  } else await written(body.subarray(0, trouble.stopAfter));
}

/** The answer of a storage that asks for fewer requests. */
export const SLOW_DOWN: Trouble = {
  status: 503,
  body: '<?xml version="1.0"?><Error><Code>SlowDown</Code><Message>Please reduce your request rate.</Message></Error>',
};

/** An answer of S3 that looks like success: the status is sent before the work is done. */
export const INTERNAL_ERROR: Trouble = {
  status: 200,
  body: '<?xml version="1.0"?><Error><Code>InternalError</Code><Message>We encountered an internal error. Please try again.</Message></Error>',
};
