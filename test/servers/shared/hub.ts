/** The servers that all test files share (`shared.ts`): each started when the first file asks, ended with the run. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { KINDS, Kind } from './kinds.ts';

interface Server {
  stop(): Promise<void>;
}

type AnyKind = Kind<Server, unknown>;

interface Opened {
  readonly row: AnyKind;
  readonly server: Promise<Server>;
  /** How many places were given so far. */
  given: number;
}

export interface Hub {
  /** Answers `POST /<kind>` with a separate place, and `POST /<kind>/stop` with that place by removing it. */
  readonly url: string;
  stop(): Promise<void>;
}

export async function openHub(): Promise<Hub> {
  const servers = new Map<string, Opened>();

  function open(name: string, row: AnyKind): Opened {
    const opened = servers.get(name) ?? { row, server: started(row.start()), given: 0 };
    servers.set(name, opened);
    return opened;
  }

  async function answer(path: string, body: unknown): Promise<unknown> {
    const [name = '', action] = path.slice(1).split('/');
    // Most runs of a single file need none of the libraries.
    const kinds: typeof KINDS = (await import('./kinds.ts')).KINDS;
    const row = kinds[name as keyof typeof KINDS] as AnyKind | undefined;
    if (row === undefined) throw new Error(`there is no server of the kind ${name}`);
    const opened = open(name, row);
    const server = await opened.server;
    if (action !== 'stop') return row.open(server, ++opened.given);
    await row.close(server, body);
    return {};
  }

  const http = createServer((request: IncomingMessage, response: ServerResponse): void => {
    text(request)
      .then((body) => answer(request.url as string, JSON.parse(body)))
      .then(
        (place) => response.end(JSON.stringify(place)),
        (error) => response.writeHead(500).end(String(error?.stack ?? error)),
      );
  });
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  // The run need not wait for it.
  http.unref();
  return {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}`,
    async stop() {
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
      // One that did not start has reported that to the caller.
      const all = await Promise.allSettled([...servers.values()].map(({ server }) => server));
      await Promise.all(all.map((server) => (server.status === 'fulfilled' ? server.value.stop() : undefined)));
    },
  };
}

async function started(starting: Promise<Server | { readonly skip: string }>): Promise<Server> {
  const server = await starting;
  if ('skip' in server) throw new Error(server.skip);
  return server;
}
