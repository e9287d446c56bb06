/** What stands between a writer and a real store in a test: it lets requests through, or answers as a store in trouble does. */
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';

export type Trouble =
  | {
      readonly status: number;
      readonly headers?: Readonly<Record<string, string>>;
      readonly body?: string;
      /** Before the request is read, which then never is. */
      readonly early?: true;
    }
  /** Reads the request and says nothing. */
  | 'silent'
  /** Lets the store do it, and ends the connection in place of its answer. */
  | 'unanswered'
  /** Ends the connection at once. */
  | 'reset';

export interface Proxy {
  readonly origin: string;
  /** For the next requests, one each; the others pass. */
  readonly troubles: Trouble[];
  /** Method, path and `Authorization` of each request. */
  readonly seen: { readonly method: string; readonly path: string; readonly authorization: string | undefined }[];
  stop(): Promise<void>;
}

/** Passes on to `origin`; with a key and certificate in PEM it speaks TLS itself. */
export async function startProxy(origin: string, tls?: { readonly key: string; readonly cert: string }): Promise<Proxy> {
  const troubles: Trouble[] = [];
  const seen: Proxy['seen'] = [];
  const handle = (incoming: IncomingMessage, outgoing: ServerResponse): void => {
    seen.push({ method: incoming.method as string, path: incoming.url as string, authorization: incoming.headers.authorization });
    const trouble = troubles.shift();
    if (trouble === 'reset') incoming.socket.destroy();
    else if (trouble === 'silent') incoming.resume();
    else if (trouble === undefined || trouble === 'unanswered') pass(origin, incoming, outgoing, trouble === 'unanswered');
    else if (trouble.early === true) {
      outgoing.writeHead(trouble.status, { ...trouble.headers, connection: 'close' }).end(trouble.body);
      setTimeout(() => incoming.socket.destroy(), 200);
    } else {
      incoming.resume().once('end', () => outgoing.writeHead(trouble.status, trouble.headers).end(trouble.body));
    }
  };
  const server: Server = tls === undefined ? createServer(handle) : createTlsServer(tls, handle);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    origin: `${tls === undefined ? 'http' : 'https'}://${tls === undefined ? '127.0.0.1' : 'localhost'}:${port}`,
    troubles,
    seen,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function pass(origin: string, incoming: IncomingMessage, outgoing: ServerResponse, unanswered: boolean): void {
  const { host: _, ...headers } = incoming.headers;
  const passed = request(`${origin}${incoming.url}`, { method: incoming.method ?? 'GET', headers }, (answer) => {
    if (unanswered) answer.resume().once('end', () => incoming.socket.destroy());
    else answer.pipe(outgoing.writeHead(answer.statusCode as number, answer.headers));
  });
  passed.on('error', () => incoming.socket.destroy());
  incoming.pipe(passed);
}
