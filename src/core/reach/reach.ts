/**
 * What may be reached by names that a request, a message or a mapping gives: hosts, ports and addresses, and directories.
 *
 * A *reach* is plain data and part of a run: the process that takes a request decides, and every worker obeys. Without one everything may be
 * reached: that is for what the options name, and for the command, whose caller is its user. See docs/decisions/0043-reach.md.
 */
import dns, { type LookupAddress } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { excerpt, Fault } from '../fault.ts';
import { isPrivateAddress } from './addresses.ts';

export interface Reach {
  /** Whether hosts that are not listed may have addresses of this machine and of private networks. */
  readonly privateAddresses: boolean;
  /** `host`, `*.example.org`, or either with `:port`, in lower case. Empty: every host. */
  readonly hosts: readonly string[];
  /** `host:port` of the servers on which the options have mappings: reached whatever the other fields say. */
  readonly mappingHosts: readonly string[];
  /** Absolute. null: every directory. */
  readonly directories: readonly string[] | null;
  /** Absolute: files and directories that are never readable, wherever they are. */
  readonly withheld: readonly string[];
}

/** `host`, `host:port`, `[::1]:port`, each part in lower case; a host may begin with `*.`. */
export const HOST_ENTRY = /^(?:(?:\*\.)?[a-z0-9._-]+|\[[0-9a-f:.]+\])(?::\d{1,5})?$/i;

const isListed = (host: string, port: number, { hosts, mappingHosts }: Reach): boolean =>
  [...hosts, ...mappingHosts].some((entry) => {
    const [, name = '', only] = /^(\[.*\]|[^:]*)(?::(\d+))?$/.exec(entry) ?? [];
    if (only !== undefined && Number(only) !== port) return false;
    const wanted = plainHost(name);
    return wanted.startsWith('*.') ? host.endsWith(wanted.slice(1)) && host.length > wanted.length - 1 : host === wanted;
  });

/** Whether every host may be reached. */
export const isOpen = (reach: Reach | undefined): boolean => reach === undefined || (reach.privateAddresses && reach.hosts.length === 0);

/** Of a URL with `http:` or `https:`. */
export const portOf = ({ port, protocol }: Pick<URL, 'port' | 'protocol'>): number => Number(port || (protocol === 'https:' ? 443 : 80));

const plainHost = (host: string): string =>
  host
    .toLowerCase()
    .replace(/^\[(.*)\]$/, '$1')
    .replace(/(?<=[^.])\.$/, '');

/**
 * Checks what a host and its port say by themselves, and gives the lookup for its name.
 *
 * @param host a name or an address
 * @returns undefined: any address of the name will do
 * @throws Fault request/forbidden
 */
export function lookupWithin(reach: Reach | undefined, host: string, port: number): LookupFunction | undefined {
  if (reach === undefined) return undefined;
  const name = plainHost(host);
  if (isListed(name, port, reach)) return undefined;
  if (reach.hosts.length > 0)
    throw new Fault('request/forbidden', `${excerpt(name)}, port ${port}, may not be reached: ALLOWED_HOSTS does not list it`, {
      hint: 'An operator of the service can add the host to ALLOWED_HOSTS',
    });
  if (reach.privateAddresses) return undefined;
  if (isIP(name) !== 0 && isPrivateAddress(name)) throw privateFault(name, undefined);
  return checkedLookup;
}

/** Resolves a name as `dns.lookup` does, and refuses it if one of its addresses is private: the connection goes to what was checked. */
const checkedLookup: LookupFunction = (host, options, done) => {
  dns.lookup(host, { ...options, all: true }, (error, found) => {
    if (error !== null) {
      done(error, '', 0);
      return;
    }
    const bad = found.find(({ address }) => isPrivateAddress(address));
    const [first] = found;
    if (bad !== undefined) done(privateFault(host, bad.address), '', 0);
    else if (options.all === true) done(null, found);
    else if (first === undefined) done(Object.assign(new Error(`${host} has no address`), { code: 'ENOTFOUND' }), '', 0);
    else done(null, first.address, first.family);
  });
};

/**
 * Checks a host, its port and the addresses of its name before anything connects.
 *
 * @throws Fault request/forbidden; errors of `dns.lookup`
 */
export async function assertHost(reach: Reach | undefined, host: string, port: number): Promise<void> {
  const lookup = lookupWithin(reach, host, port);
  if (lookup !== undefined) await addressesBy(lookup, host);
}

/**
 * The addresses of a host, checked; for a driver that looks names up itself.
 *
 * @returns undefined: nothing is restricted
 * @throws Fault request/forbidden; errors of `dns.lookup`
 */
export async function addressesWithin(reach: Reach | undefined, host: string, port: number): Promise<readonly string[] | undefined> {
  if (isOpen(reach)) return undefined;
  return addressesBy(lookupWithin(reach, host, port) ?? plainLookup, host);
}

const plainLookup: LookupFunction = (host, options, done) => dns.lookup(host, { ...options, all: true }, done);

const addressesBy = (lookup: LookupFunction, host: string): Promise<readonly string[]> =>
  new Promise((resolve, reject) => {
    lookup(plainHost(host), { all: true }, (error, found) => {
      if (error !== null) reject(error);
      else resolve((found as readonly LookupAddress[]).map(({ address }) => address));
    });
  });

const privateFault = (host: string, address: string | undefined): Fault =>
  new Fault(
    'request/forbidden',
    address === undefined
      ? `${host} may not be reached: it is an address of this machine or of a private network`
      : `${excerpt(host)} may not be reached: its address ${address} is one of this machine or of a private network`,
    { hint: 'An operator of the service can add the host to ALLOWED_HOSTS, or set ALLOW_PRIVATE_ADDRESSES=true' },
  );
