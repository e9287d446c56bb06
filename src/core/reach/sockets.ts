/**
 * Bounds for a driver that opens its sockets itself: it connects to the addresses of one host, which were checked, or not at all. So neither a second
 * look-up of the name, nor a redirect, nor a proxy leads elsewhere.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { type NetConnectOpts, Socket } from 'node:net';
import { Fault } from '../fault.ts';
import { addressesWithin, type Reach } from './reach.ts';

interface Bounds {
  readonly addresses: ReadonlySet<string>;
  readonly port: number;
  /** Of the first connection that was refused. */
  refused: string | undefined;
}

const bounds = new AsyncLocalStorage<Bounds>();
let isGuarded = false;

/**
 * @param work everything that connects in it, also later and by way of other modules, is bounded
 * @throws Fault request/forbidden — the host, or an address that the server told, is not within `reach`; errors of `dns.lookup` and of `work`
 */
export async function connectingWithin<T>(
  reach: Reach | undefined,
  { host, port }: { readonly host: string; readonly port: number },
  work: () => Promise<T>,
): Promise<T> {
  const addresses = await addressesWithin(reach, host, port);
  if (addresses === undefined) return work();
  if (!isGuarded) guardSockets();
  isGuarded = true;
  const own: Bounds = { addresses: new Set(addresses), port, refused: undefined };
  try {
    return await bounds.run(own, work);
  } catch (error) {
    if (own.refused === undefined) throw error;
    throw new Fault(
      'request/forbidden',
      `The server ${host}:${port} leads on to ${own.refused}, which is not followed: it is no address of the server that was checked`,
      {
        hint: 'Name the address to which the server redirects; redirects are followed only if ALLOWED_HOSTS is empty and ALLOW_PRIVATE_ADDRESSES is true',
        cause: error,
      },
    );
  }
}

/** Every way to connect a socket ends in this method. Outside of `connectingWithin` it does what it did. */
function guardSockets(): void {
  const { connect } = Socket.prototype;
  Socket.prototype.connect = function guarded(this: Socket, ...given: unknown[]): Socket {
    const own = bounds.getStore();
    const { host = 'localhost', port, path } = optionsOf(given);
    if (own === undefined || (path === undefined && own.addresses.has(host) && Number(port) === own.port))
      return (connect as (...given: unknown[]) => Socket).apply(this, given);
    own.refused ??= path ?? `${host}:${port}`;
    return this.destroy(new Error(`connections to ${own.refused} are refused`));
  } as typeof connect;
}

/** `net.connect` hands its arguments on as one array, whose first item are the options. */
function optionsOf([first, second]: readonly unknown[]): { readonly host?: string; readonly port?: unknown; readonly path?: string } {
  const given = Array.isArray(first) ? first[0] : first;
  if (typeof given === 'object' && given !== null) return given as NetConnectOpts as { readonly host?: string };
  if (typeof given === 'string' && Number.isNaN(Number(given))) return { path: given };
  return { port: given, ...(typeof second === 'string' ? { host: second } : {}) };
}
