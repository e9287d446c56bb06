/** How many requests a caller may send, and how many wrong tokens. */
import { BlockList, isIP, isIPv4 } from 'node:net';
import { Fault } from '../../src/core/fault.ts';

/** Callers that are remembered. A forgotten caller starts with a full bucket, so more addresses than this at once weaken the limit of each. */
const MOST_CALLERS = 10_000;

interface Bucket {
  /** What is left. */
  tokens: number;
  /** Milliseconds. */
  at: number;
}

/** Token buckets: each key may take `perMinute` at once, and gets as many back within a minute. Memory: bounded. */
export class Buckets {
  readonly #buckets = new Map<string, Bucket>();
  readonly #now: () => number;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Takes one. Returns the seconds until one is there, 0 if it was taken. @param perMinute 0: no limit */
  take(key: string, perMinute: number): number {
    const seconds = this.wait(key, perMinute);
    const bucket = this.#buckets.get(key);
    if (seconds === 0 && bucket !== undefined) bucket.tokens -= 1;
    return seconds;
  }

  /** The seconds until one is there, at least 1; 0: now. */
  wait(key: string, perMinute: number): number {
    if (perMinute === 0) return 0;
    const now = this.#now();
    const known = this.#buckets.get(key);
    const before = known ?? { tokens: perMinute, at: now };
    const tokens = Math.min(perMinute, before.tokens + ((now - before.at) * perMinute) / 60_000);
    // The last one of the map is the last one that was asked for.
    this.#buckets.delete(key);
    this.#buckets.set(key, { tokens, at: now });
    if (this.#buckets.size > MOST_CALLERS) this.#buckets.delete(this.#buckets.keys().next().value as string);
    return tokens >= 1 ? 0 : Math.max(1, Math.ceil(((1 - tokens) * 60) / perMinute));
  }
}

/** The address behind proxies that are trusted. */
export type AddressOf = (socketAddress: string | undefined, forwardedFor: string | undefined) => string;

/**
 * @param proxies addresses, or networks as `10.0.0.0/8`, whose `X-Forwarded-For` is believed
 * @throws Fault config/invalid — an entry is neither
 */
export function addressReader(proxies: readonly string[]): AddressOf {
  const trusted = new BlockList();
  for (const entry of proxies) addNetwork(trusted, entry);
  const isTrusted = (address: string): boolean => isIP(address) !== 0 && trusted.check(address, isIPv4(address) ? 'ipv4' : 'ipv6');
  return (socketAddress, forwardedFor) => {
    let address = plain(socketAddress ?? '');
    // From right to left: what stands left of an untrusted address was written by the client that has it.
    const hops = (forwardedFor ?? '').split(',').map((hop) => plain(hop.trim()));
    while (isTrusted(address) && hops.length > 0) {
      const hop = hops.pop() as string;
      if (isIP(hop) === 0) break;
      address = hop;
    }
    return networkOf(address);
  };
}

function addNetwork(list: BlockList, entry: string): void {
  const [address = '', prefix] = entry.split('/');
  const family = isIPv4(address) ? 'ipv4' : 'ipv6';
  const bits = family === 'ipv4' ? 32 : 128;
  const length = prefix === undefined ? bits : Number(prefix);
  if (isIP(address) === 0 || !Number.isInteger(length) || length < 0 || length > bits || prefix === '') {
    throw new Fault('config/invalid', `The entry ${JSON.stringify(entry)} of TRUSTED_PROXIES is no address`, {
      hint: 'Write addresses, or networks such as 10.0.0.0/8',
    });
  }
  list.addSubnet(address, length, family);
}

/** An IPv4 address that is written as IPv6 is IPv4; a zone is left out. */
const plain = (address: string): string => address.replace(/^::ffff:(?=\d+\.)/i, '').replace(/%.*$/, '');

/** Of IPv6 the first 64 bits: who has one address of a network has all of them. */
function networkOf(address: string): string {
  if (isIP(address) !== 6) return address;
  const [head = '', tail] = address.split('::');
  const left = head.split(':').filter(Boolean);
  const right = tail === undefined ? [] : tail.split(':').filter(Boolean);
  const groups = tail === undefined ? left : [...left, ...Array<string>(Math.max(0, 8 - left.length - right.length)).fill('0'), ...right];
  return `${groups
    .slice(0, 4)
    .map((group) => group.toLowerCase().replace(/^0+(?=.)/, ''))
    .join(':')}::/64`;
}
