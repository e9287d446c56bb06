/** The HTTP server: listens, and shuts down without cutting answers off. */
import { createServer, type Server } from 'node:http';
import { createServer as createTlsServer, type Server as TlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type Koa from 'koa';
import type { Snapshot } from '../../src/config/options/options.ts';
import type { KeyPair } from '../../src/config/pem.ts';
import { Fault } from '../../src/core/fault.ts';
import type { Logger } from '../../src/core/telemetry/observe.ts';
import { refuseRequest } from './refused-request.ts';
import { contextOf, readServerPair, reloadPair } from './tls.ts';

export interface HttpServer {
  /** `http://127.0.0.1:8080`. */
  readonly url: string;
  readonly port: number;
  /** Accepts no new connections; resolves when the last answer was sent. */
  close(): Promise<void>;
  /** Closes all open connections. */
  closeAllConnections(): void;
}

export interface Listening {
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  /** How long a client may take to send its request; for its headers at most 20 seconds. */
  readonly requestTimeoutMs: number;
  /** Of request line and headers. */
  readonly maxHeaderBytes: number;
  readonly maxConnections: number;
  /** undefined: plain HTTP. */
  readonly tls?: { readonly files: Pick<Snapshot, 'TLS_CERT' | 'TLS_KEY'>; readonly logger: Logger };
}

const MAX_HEADERS_MS = 20_000;
/** How often connections that are too slow are looked for, at most. */
const SLOW_CHECK_MS = 2_000;

/**
 * @throws Fault config/invalid — the files of TLS; service/unavailable — the port is in use, the address is not one of this machine, or
 *   listening needs more rights
 */
export async function listen(app: Koa, { host, port, tls, ...listening }: Listening): Promise<HttpServer> {
  const handler = app.callback();
  const { requestTimeoutMs, maxHeaderBytes, maxConnections } = listening;
  const limits = {
    requestTimeout: requestTimeoutMs,
    headersTimeout: Math.min(requestTimeoutMs, MAX_HEADERS_MS),
    connectionsCheckingInterval: Math.min(requestTimeoutMs, SLOW_CHECK_MS),
    maxHeaderSize: maxHeaderBytes,
  };
  const pair = tls === undefined ? undefined : readServerPair(tls.files);
  const server =
    pair === undefined || tls === undefined
      ? createServer(limits, handler)
      : secured(createTlsServer({ ...limits, ...contextOf(pair), handshakeTimeout: limits.headersTimeout }, handler), pair, tls);
  server.maxConnections = maxConnections;
  server.on('clientError', refuseRequest);
  // An expectation that is not known is ignored, as RFC 9110 allows: Node would answer with nothing but 417.
  server.on('checkExpectation', handler);
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => reject(listenFault(error, host, port)));
    server.listen(port, host, resolve);
  });
  const address = server.address() as AddressInfo;
  return {
    url: `${pair === undefined ? 'http' : 'https'}://${address.family === 'IPv6' ? `[${address.address}]` : address.address}:${address.port}`,
    port: address.port,
    close: () => closeServer(server),
    closeAllConnections: () => server.closeAllConnections(),
  };
}

function secured(server: TlsServer, pair: KeyPair, { files, logger }: NonNullable<Listening['tls']>): TlsServer {
  reloadPair(server, files, pair, logger);
  return server;
}

const IDLE_POLL_MS = 50;

/** A connection becomes idle only after its answer, so idle ones are closed repeatedly. */
function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    const polling = setInterval(() => server.closeIdleConnections(), IDLE_POLL_MS);
    server.close(() => {
      clearInterval(polling);
      resolve();
    });
    server.closeIdleConnections();
  });
}

const REASONS: Readonly<Record<string, readonly [what: string, hint: string]>> = {
  EADDRINUSE: ['the port is in use by another program', 'Stop it, or choose another port with --port or PORT; 0 takes a free one'],
  EACCES: ['this user may not listen on that port', 'Choose a port from 1024 up with --port or PORT'],
  EADDRNOTAVAIL: ['it is not an address of this machine', 'Choose one with --host or HOST, such as 127.0.0.1'],
  ENOTFOUND: ['there is no such host', 'Choose an address of this machine with --host or HOST, such as 127.0.0.1'],
};

function listenFault(error: NodeJS.ErrnoException, host: string, port: number): Fault {
  const [what, hint] = REASONS[error.code ?? ''] ?? [error.message, undefined];
  return new Fault('service/unavailable', `Cannot listen on ${host}, port ${port}: ${what}`, { hint, cause: error });
}
